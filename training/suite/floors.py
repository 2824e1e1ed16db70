"""The floor of the suite that needs no network: make the newest edit once more."""

from collections.abc import Iterator

from model.editing.change import Change
from model.editing.edits import opcodes
from model.editing.tokenizer import lex
from training.suite.cases import Case
from training.trajectories.trajectory import apply_changes


def replay(case: Case) -> Change | None:
    """Make the newest edit once more at the next text range that it fits."""
    texts = apply_changes(case.text, case.edits)
    if len(texts) < 2:
        return None
    return next(iter(find_replays(texts[-2], texts[-1], case.edits[-1])), None)


def find_replays(before: str, current: str, newest: Change) -> Iterator[Change]:
    """The changes that make the newest edit once more: below the cursor first, then from the top."""
    step = _find_newest_step(before, current, newest)
    if step is None:
        return
    old, new, left, right = step
    tokens = lex(current)
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    pattern = old if old else [*left, *right]
    cursor = newest.new_end
    found: list[Change] = []
    for number in range(len(tokens) - len(pattern) + 1):
        if tokens[number : number + len(pattern)] != pattern:
            continue
        if old:
            found.append(Change(offsets[number], offsets[number + len(old)], "".join(new)))
        else:
            at = offsets[number + len(left)]
            found.append(Change(at, at, "".join(new)))
    yield from [change for change in found if change.start >= cursor]
    yield from [change for change in found if change.start < cursor]


def _find_newest_step(
    before: str, current: str, newest: Change
) -> tuple[list[str], list[str], list[str], list[str]] | None:
    """The last replaced run of tokens on the changed lines: what went, what came, and its neighbours."""
    begin = before.rfind("\n", 0, newest.start) + 1
    end = before.find("\n", newest.end)
    end = len(before) if end < 0 else end
    old = lex(before[begin:end])
    new = lex(current[begin : end + len(current) - len(before)])
    steps = [code for code in opcodes(old, new) if code[0] != "equal"]
    if not steps:
        return None
    _, a, b, c, d = steps[-1]
    return old[a:b], new[c:d], new[max(0, c - 2) : c], new[d : d + 1]
