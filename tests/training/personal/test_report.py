"""The report of a personal training."""

from model.editing.change import Change
from training.personal.gate import PlayedCase, ShownOffer, compare
from training.personal.report import ReportData, write_report
from training.suite.commits import CommitFile
from training.suite.whole_commits import Played


def test_the_report_shows_what_appeared_and_escapes_the_user_s_code() -> None:
    case = CommitFile("mine", "one", "a.ts", "x", "y", (Change(0, 1, "y"),) * 5)
    kept = ShownOffer("a", "b", is_right=True)
    new = ShownOffer("if (a < b) {", "if (a <= b) { // <script>", is_right=False)
    before = [PlayedCase(Played(files=1, edits=5, by_tab=1), (kept,))]
    after = [PlayedCase(Played(files=1, edits=5, by_tab=2, wrong=1), (kept, new))]
    about = {
        "eagerness": "quiet",
        "sources": ["repository mine: 9 commits"],
        "learned": ["judge", "network"],
        "began_with": {"name": "likewise-3", "sha256": "0" * 64},
        "made": "2026-11-18 12:00",
    }
    report = write_report(
        ReportData(about, [("file_size", 0.5)], [case], before, after, compare([case], before, after))
    )
    assert "Not installed" in report
    assert "Offers that appeared: 0 right, 1 wrong" in report
    assert "if (a &lt;= b) { // &lt;script&gt;" in report
    assert "<script" not in report
    assert "Offers that disappeared: 0 right, 0 wrong" in report
    assert "typescript" in report
    assert "20.0 → 40.0 %" in report
