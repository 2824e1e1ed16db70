"""The report of a personal training: one HTML file without scripts or links to other machines."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from training.personal.gate import Outcome, PlayedCase, ShownOffer, group_counts
from training.suite.commits import CommitFile
from training.suite.whole_commits import Played

_EXAMPLES = 12  # offers of each kind that are shown
_LIMIT_LINE = 160  # characters of a shown line
_GROUPS = 8

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } td, th { padding: .25em .6em; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.bar { height: .75em; border-radius: 2px; margin: .15em 0 } .old { background: #b8c0cc } .new { background: #2f6fde }
.wrong.old { background: #e3c3bd } .wrong.new { background: #c8452e }
pre { margin: .1em 0; padding: .25em .5em; background: #f5f6f8; font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere }
pre.gone { background: #fdecea } pre.come { background: #e9f6ec }
.verdict { padding: .8em 1em; border-left: 4px solid #2f6fde; background: #f3f7ff } .refused { border-color: #c8452e; background: #fdf4f2 }
small { color: #666 }
"""


@dataclass(frozen=True)
class ReportData:
    """All that the report shows."""

    about: Mapping[str, Any]
    telling: Sequence[tuple[str, float]]
    cases: Sequence[CommitFile]
    before: Sequence[PlayedCase]
    after: Sequence[PlayedCase]
    outcome: Outcome


def write_report(data: ReportData) -> str:
    """The report as HTML."""
    title = "What Likewise learned from your history"
    pieces = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>",
        f"<h1>{title}</h1>",
        _verdict(data),
        "<p><small>In the plots the pale bar is before, the strong one after.</small></p>",
        _plot("All held-out edits", data, lambda case: "all edits"),
        _plot("By kind of change", data, lambda case: "repetitive" if case.is_repetitive else "ordinary"),
        _plot("By language", data, lambda case: case.language or "other"),
        _learned(data),
        _examples("Offers that appeared", _difference(data.after, data.before)),
        _examples("Offers that disappeared", _difference(data.before, data.after)),
        _origin(data),
    ]
    return "\n".join(pieces) + "\n</html>\n"


def _verdict(data: ReportData) -> str:
    verb = "Installed" if data.outcome.is_better else "Not installed"
    look = "verdict" if data.outcome.is_better else "verdict refused"
    wrong = data.outcome.wrong
    return (
        f"<p class='{look}'><b>{verb}</b>: {escape(data.outcome.explain())}.<br>"
        f"Wrong offers per ten edits: {wrong.difference:+.2f} ({wrong.low:+.2f} to {wrong.high:+.2f}).<br>"
        f"<small>{data.outcome.before.files} changed files of {data.outcome.units} commits, saves or sessions,"
        f" {data.outcome.before.edits} edits, eagerness {escape(data.about['eagerness'])}. In brackets: 90 % intervals.</small></p>"
    )


def _plot(title: str, data: ReportData, by: Callable[[CommitFile], str]) -> str:
    old, new = (group_counts(data.cases, played, by) for played in (data.before, data.after))
    names = list(old)[:_GROUPS]
    widest_wrong = max([1.0, *(_wrong(group[name]) for group in (old, new) for name in names)])
    rows = []
    for name in names:
        bars = [
            _bars(_share(old[name]), _share(new[name]), 100.0, "", " %"),
            _bars(_wrong(old[name]), _wrong(new[name]), widest_wrong, "wrong ", ""),
        ]
        rows.append(
            f"<tr><td>{escape(name)}<br><small>{old[name].edits} edits</small></td>{bars[0]}{bars[1]}</tr>"
        )
    head = "<tr><th></th><th colspan=2>edits done with Tab</th><th colspan=2>wrong offers per ten edits</th></tr>"
    return f"<h2>{title}</h2><table>{head}{''.join(rows)}</table>"


def _bars(old: float, new: float, widest: float, look: str, unit: str) -> str:
    bars = "".join(
        f"<div class='bar {look}{age}' style='width:{100 * value / widest:.1f}%'></div>"
        for age, value in (("old", old), ("new", new))
    )
    digits = 1 if unit else 2
    return f"<td style='width:28%'>{bars}</td><td class=number>{old:.{digits}f} → {new:.{digits}f}{unit}</td>"


def _share(played: Played) -> float:
    return 100 * played.by_tab / max(1, played.edits)


def _wrong(played: Played) -> float:
    return 10 * played.wrong / max(1, played.edits)


def _learned(data: ReportData) -> str:
    largest = max((share for _, share in data.telling), default=1.0)
    rows = "".join(
        f"<tr><td style='width:40%'>{escape(name.replace('_', ' '))}</td>"
        f"<td><div class='bar new' style='width:{100 * share / largest:.1f}%'></div></td>"
        f"<td class=number>{100 * share:.0f} %</td></tr>"
        for name, share in data.telling
    )
    return (
        "<h2>What the judge learned from</h2>"
        "<p>The properties of a possible change by which your history differs most from what the judge knew, with"
        " their shares. (<i>gone</i> and <i>come</i>: the text that a change removes and inserts; <i>sites</i>: text"
        " ranges where it fits again; <i>patterns</i>: different changes that you made before.)</p>"
        f"<table>{rows}</table>"
    )


def _difference(of: Sequence[PlayedCase], other: Sequence[PlayedCase]) -> list[ShownOffer]:
    """The offers of some plays that were not made in the others."""
    found = []
    for one, two in zip(of, other, strict=True):
        known = {(offer.before, offer.after) for offer in two.offers}
        found += [offer for offer in one.offers if (offer.before, offer.after) not in known]
    return found


def _examples(title: str, offers: Sequence[ShownOffer]) -> str:
    right = [offer for offer in offers if offer.is_right]
    wrong = [offer for offer in offers if not offer.is_right]
    shown = [*right[:_EXAMPLES], *wrong[:_EXAMPLES]]
    rows = "".join(_example(offer) for offer in shown)
    return (
        f"<h2>{title}: {len(right)} right, {len(wrong)} wrong</h2>"
        f"<table>{rows or '<tr><td>None.</td></tr>'}</table>"
    )


def _example(offer: ShownOffer) -> str:
    mark = "right" if offer.is_right else "wrong"
    return (
        f"<tr><td>{mark}</td><td style='width:90%'><pre class=gone>{_cut(offer.before)}</pre>"
        f"<pre class=come>{_cut(offer.after)}</pre></td></tr>"
    )


def _cut(text: str) -> str:
    lines = [line if len(line) <= _LIMIT_LINE else line[:_LIMIT_LINE] + " …" for line in text.split("\n")]
    return escape("\n".join(lines[:6]))


def _origin(data: ReportData) -> str:
    about = data.about
    items: Iterable[str] = (
        *(f"Learned from: {source}" for source in about["sources"]),
        f"What learned: {' and '.join(about['learned'])}",
        f"Began with: {about['began_with']['name']} ({about['began_with']['sha256'][:12]})",
        f"Made: {about['made']}",
        "Nothing left this machine. This file holds lines of your code: keep it as you keep your code.",
    )
    return (
        "<h2>Where it comes from</h2><ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
    )
