"""Half-typed words: the text stops after the second letter, and the recorder holds it."""

from random import Random

from model.editing.change import Change
from model.editing.recorder import Recorder
from tests.tokenizing import small_tokenizer
from training.judge.moments import FileChange
from training.suite.half_typed import find_half_typed, guess_nearest, table
from training.trajectories.half_typed import HalfTyped

CHANGE = FileChange(
    "a/b",
    "python",
    "first = 1\nconnection = open(path)\nreturn path\n",
    "other = 1\nconnection = open(path)\nreturn connection.read(path)\n",
)


def test_a_word_is_typed_up_to_its_second_letter() -> None:
    tokenizer = small_tokenizer()
    for seed in range(10):
        for case in find_half_typed(CHANGE, tokenizer, Random(seed)):
            typed = case.text[case.cursor - 2 : case.cursor]
            assert case.word.startswith(typed)
            assert not case.text[case.cursor :].startswith(case.word[2:])
            assert case.recorder.text.text == case.text
            assert case.recorder.prefix == typed
            assert case.recorder.edits  # the hunk before


def test_the_floor_is_the_nearest_word_that_begins_the_same_way() -> None:
    text = "container = 1\nother = 2\nconnection = 3\nco = 4\n"
    at = text.index("co = 4") + 2
    case = HalfTyped(Recorder(small_tokenizer(), text), text, at, "connection", Change(0, 0, ""), text)
    assert guess_nearest(case) == "connection"
    alone = HalfTyped(Recorder(small_tokenizer(), "xy"), "xy", 2, "xyz", Change(0, 0, ""), "xy")
    assert guess_nearest(alone) is None


def test_the_table_has_a_row_for_each_guesser() -> None:
    assert "| floor | 2 | 50.0 % |" in table({"floor": [True, False]})
