import re
from collections import Counter

import numpy as np
import pytest

from model.editing.edits import Instance, apply, states
from training.paper.instances import STRING_LENGTH, _count_matches, draw_instances, make_snapshots
from training.paper.tasks import ALPHABET, NGRAM_INSERTIONS, TABLE_TASKS, TASKS, Task, text_from_state


def test_the_papers_examples_of_snapshots() -> None:
    assert make_snapshots("(.)A", r"\1A\1\1", "BACA") == ["BACA", "BABBCA", "BABBCACC"]
    assert make_snapshots("(.)B", r"\1B\1\1", "DBBA")[-1] == "DBDDBA"


@pytest.mark.parametrize("name", [*TASKS])
def test_instances_are_the_replacements_of_the_task(name: str) -> None:
    task = TASKS[name]
    for instance in draw_instances(name, "dev", count=20):
        text = text_from_state(instance.state)
        assert len(text) == STRING_LENGTH
        final = text_from_state(apply(instance.state, instance.edits))
        finals = [
            make_snapshots(pattern, replacement, text)
            for pattern, replacement in _all_characters(task)
            if len(re.findall(pattern, text)) >= 3
        ]
        assert any(final == candidate[-1] for candidate in finals)
        assert instance.conditioning == (task.edits_per_replacement() if task.is_meta else 0)


def _all_characters(task: Task) -> set[tuple[str, str]]:
    letters = ALPHABET
    return (
        {task.with_characters(x, y) for x in letters for y in letters if x != y}
        if task.is_meta
        else {task.with_characters("A", "B")}
    )


def test_every_snapshot_is_one_of_the_states() -> None:
    for instance in draw_instances("Flip33", "test", count=30):
        texts = [text_from_state(state) for state in states(instance)]
        assert set(make_snapshots("(...)A(...)", TASKS["Flip33"].replacement, texts[0])) <= set(texts)


def test_drawing_many_strings_at_once_accepts_what_drawing_one_by_one_would() -> None:
    random = np.random.default_rng(3)
    strings = random.integers(
        3, size=(400, STRING_LENGTH), dtype=np.uint8
    )  # few characters: many overlapping matches
    x = random.integers(3, size=400, dtype=np.uint8)
    for task in TASKS.values():
        counts = _count_matches(task.template(), strings, x)
        for row, string in enumerate(strings):
            pattern, _ = task.with_characters(ALPHABET[x[row]], "B")
            text = "".join(ALPHABET[character] for character in string)
            assert counts[row] == len(re.findall(pattern, text))


def test_a_seed_gives_the_same_instances_and_splits_differ() -> None:
    assert (
        draw_instances("MetaFlip11", "train", count=30)
        == draw_instances("MetaFlip11", "train", count=60)[:30]
    )
    assert draw_instances("MetaFlip11", "train", count=30) != draw_instances(
        "MetaFlip11", "train", count=30, seed=1
    )
    assert not {i.state for i in draw_instances("Append1", "train")} & {
        i.state for i in draw_instances("Append1", "test")
    }


def test_meta_characters_are_all_used_and_differ() -> None:
    contents = Counter(
        instance.edits[0].content for instance in draw_instances("MetaAppend1", "train", count=500)
    )
    assert len(contents) == len(ALPHABET)


def test_multi_task_mixes_all_tasks_and_conditions_on_a_replacement() -> None:
    mixed = draw_instances("MultiTask", "train", count=600)
    conditionings = Counter(instance.conditioning for instance in mixed)
    assert set(conditionings) == {task.edits_per_replacement() for task in TABLE_TASKS}
    assert mixed[:10] == draw_instances("MultiTask", "train", count=10)


@pytest.mark.parametrize("insertions", NGRAM_INSERTIONS)
def test_the_ngram_task_has_exactly_its_number_of_insertions(insertions: int) -> None:
    for instance in draw_instances(f"NGram{insertions}", "train", count=10):
        assert len(instance.edits) == insertions
        assert len(apply(instance.state, instance.edits)) == len(instance.state) + insertions
        assert _first_inserted_after(instance) == "A"


def _first_inserted_after(instance: Instance) -> str:
    return text_from_state(instance.state)[instance.edits[0].position - 1]
