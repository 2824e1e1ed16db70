"""Properties of the synthetic tasks that do not depend on a network: EPR, ACD and the POMP baseline (table 2)."""

import re

from training.paper.instances import SPLIT_SIZES, draw_strings
from training.paper.tables import PROPERTIES
from training.paper.tasks import ALPHABET, TABLE_TASKS, Task


def find_matched_texts(task: Task, split: str, seed: int = 0) -> list[list[str]]:
    """The texts that the pattern matches, for each instance of a split."""
    result = []
    for draw in draw_strings(task, split, SPLIT_SIZES[split], seed):
        pattern, _ = task.with_characters(draw.x, draw.y)
        result.append([match.group() for match in re.finditer(pattern, draw.text)])
    return result


def compute_pomp(task: Task, seed: int = 0) -> float:
    """Accuracy (per cent) of the Position-Oracle Match-Pattern baseline.

    An oracle marks the text that the pattern matches. If that text was matched anywhere in the training data, all edits
    of the replacement are right; if not, the content of each is a uniform guess among the characters and DELETE.
    """
    seen = {text for texts in find_matched_texts(task, "train", seed) for text in texts}
    first = 1 if task.is_meta else 0  # the first replacement of a meta task is given, not predicted
    asked = [text for texts in find_matched_texts(task, "test", seed) for text in texts[first:]]
    known = sum(text in seen for text in asked) / len(asked)
    return 100 * (known + (1 - known) / (len(ALPHABET) + 1))


def compute_properties(seed: int = 0) -> list[dict[str, str | float]]:
    """The computed columns of the paper's table of tasks, beside the paper's own."""
    return [
        {
            "name": task.name,
            "pattern": task.pattern,
            "replacement": task.replacement,
            "epr": task.edits_per_replacement(),
            "acd": task.average_context_displacement(),
            "pomp": round(compute_pomp(task, seed), 1),
            "paper_epr": PROPERTIES[task.name].edits_per_replacement,
            "paper_acd": PROPERTIES[task.name].average_context_displacement,
            "paper_pomp": PROPERTIES[task.name].pomp,
        }
        for task in TABLE_TASKS
    ]
