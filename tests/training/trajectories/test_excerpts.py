"""Excerpts: a trajectory ends with lines of the new version, and it fits the limit."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.edits import END
from model.editing.lines import segments
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.data.dataset import Kind
from training.trajectories.excerpts import ExcerptCutter, grow_excerpt
from training.trajectories.hunks import hunks_between
from training.trajectories.mining_setting import PRODUCT, MiningSetting
from training.trajectories.trajectory import instance_from_trajectory

LINES = SAMPLE.split("\n")


@st.composite
def versions(draw: st.DrawFn) -> list[str]:
    """Versions of a file, each with some lines of the one before removed, doubled or changed."""
    result = [LINES]
    for _ in range(draw(st.integers(1, 3))):
        lines: list[str] = []
        for line in result[-1]:
            what = draw(st.sampled_from(["same"] * 12 + ["gone", "twice", "renamed", "new"]))
            if what == "same":
                lines.append(line)
            elif what == "twice":
                lines += [line, line]
            elif what == "renamed":
                lines.append(line.replace("name", "key"))
            elif what == "new":
                lines += ["    log(value)", line]
        result.append(lines)
    return ["\n".join(lines) for lines in result]


@settings(deadline=None, max_examples=60)
@given(versions(), st.integers(40, 400), st.integers(0, 1 << 30))
def test_a_trajectory_ends_as_its_author_left_the_window(texts: list[str], limit: int, seed: int) -> None:
    setting = MiningSetting(limit_state=limit, chain=1.0, large_hunk=30)
    cutter = ExcerptCutter(small_tokenizer(), setting)
    hunks = hunks_between(segments(texts[0]), segments(texts[1])) or []
    for trajectory in cutter.cut(texts, hunks, Random(seed)):
        assert any(trajectory.texts()[-1] in text for text in texts[1:])
        if trajectory.kind == Kind.HISTORY:
            assert trajectory.texts()[-1] in texts[1]
        instance = instance_from_trajectory(trajectory, small_tokenizer(), setting.limit_edits)
        assert instance is None or len(instance.state) <= limit


def test_a_file_that_fits_is_seen_whole_and_then_says_stop() -> None:
    cutter = ExcerptCutter(small_tokenizer(), PRODUCT)
    new = SAMPLE.replace("print", "log")
    hunks = hunks_between(segments(SAMPLE), segments(new)) or []
    seen = [cutter.cut([SAMPLE, new], hunks, Random(seed))[0] for seed in range(20)]
    assert any(trajectory.text == SAMPLE for trajectory in seen)
    instance = instance_from_trajectory(seen[0], small_tokenizer(), 64)
    assert instance is not None
    assert instance.edits[-1].content == END


def test_a_window_keeps_to_its_bounds_and_its_limit() -> None:
    lines = ["xx"] * 100
    for seed in range(50):
        window = grow_excerpt(lines, (50, 52), (45, 90), 40, len, Random(seed))
        assert window is not None
        assert 45 <= window[0] <= 50
        assert 52 <= window[1] <= 90
        assert 2 * (window[1] - window[0]) <= 40
    assert grow_excerpt(lines, (10, 40), (0, 100), 40, len, Random(0)) is None
