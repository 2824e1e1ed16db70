"""A trajectory in tokens says the same as the trajectory in text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from model.editing.edits import END, apply
from tests.training.tokenizers import small_tokenizer
from training.data.dataset import Kind
from training.trajectories.trajectory import Trajectory, instance_from_trajectory

TEXTS = st.text(alphabet="ab_ (),.\n\r\t\"'1é😀", max_size=40)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    text = start = draw(TEXTS)
    changes = []
    for _ in range(draw(st.integers(0, 4))):
        first = draw(st.integers(0, len(text)))
        last = draw(st.integers(first, len(text)))
        changes.append(Change(first, last, draw(TEXTS)))
        text = text[:first] + changes[-1].text + text[last:]
    given_ = draw(st.integers(0, len(changes)))
    return Trajectory(start, tuple(changes), Kind.HISTORY, given_, draw(st.booleans()))


@settings(deadline=None)
@given(trajectories())
def test_the_edits_make_the_text(trajectory: Trajectory) -> None:
    tokenizer = small_tokenizer()
    instance = instance_from_trajectory(trajectory, tokenizer, limit_edits=10_000)
    texts = trajectory.texts()
    if instance is None:
        return
    assert tokenizer.decode(instance.state[1:-1]) == texts[0]
    assert tokenizer.decode(apply(instance.state, instance.edits)[1:-1]) == texts[-1]
    given_ = instance.edits[: instance.conditioning]
    assert tokenizer.decode(apply(instance.state, given_)[1:-1]) == texts[trajectory.conditioning]
    assert (instance.edits[-1].content == END) == trajectory.is_complete


def test_edits_beyond_the_limit_are_cut_and_then_nothing_says_stop() -> None:
    trajectory = Trajectory("a", (Change(1, 1, " b" * 20),), Kind.HISTORY)
    instance = instance_from_trajectory(trajectory, small_tokenizer(), limit_edits=7)
    assert instance is not None
    assert len(instance.edits) == 7
    assert END not in [edit.content for edit in instance.edits]


def test_when_all_is_given_there_is_no_instance() -> None:
    trajectory = Trajectory("a", (Change(1, 1, "b"),), Kind.HISTORY, conditioning=1, is_complete=False)
    assert instance_from_trajectory(trajectory, small_tokenizer(), limit_edits=7) is None
