"""Figures of asked moments: shares that are shown and right by kind and by language, curves, calibration."""

from collections.abc import Callable, Mapping, Sequence

from training.suite.asked_moments import Answer, AskedMoment

_BINS = 10
_LEAST_OF_LANGUAGE = 30  # moments, or the language has no row
_NAMES = {"replay": "replay the last edit", "plain": "the judge without the network"}
Group = Callable[[AskedMoment], bool]
GROUPS: dict[str, Group] = {
    "repeat: the author repeats a change next": lambda row: row["kind"] == "commit" and row["is_reachable"],
    "ordinary: the next change is new": lambda row: row["kind"] == "commit" and not row["is_reachable"],
    "finished: nothing comes next": lambda row: row["kind"] == "done",
    "moments between edits as they occur": lambda row: row["kind"] in ("commit", "done"),
    "typing: between keys and after a typed hunk": lambda row: row["kind"] in ("typing", "after"),
    "typing, and the next change is a repeat": lambda row: (
        row["kind"] in ("typing", "after") and row["is_reachable"]
    ),
    "in the middle of a repeated change": lambda row: row["kind"] == "typing" and row["is_reachable"],
}


def describe_moments(rows: Sequence[AskedMoment], thresholds: Mapping[str, float]) -> str:
    """Every table as Markdown."""
    shown = {name: f"{name} ({threshold:.2f})" for name, threshold in thresholds.items()}
    parts = [_first_choices(rows)]
    for title, is_in in GROUPS.items():
        of_group = [row for row in rows if is_in(row)]
        parts.append(f"{title[0].upper()}{title[1:]} ({len(of_group)} moments)")
        parts.append(_table(of_group, _NAMES | shown))
    parts += ["By language, between edits, at balanced", _by_language(rows, thresholds)]
    errors = ", ".join(
        f"{name} {calibration_error(_answers(rows, 'best', GROUPS[title])):.3f}"
        for name, title in (
            ("between edits", "moments between edits as they occur"),
            ("typing", "typing: between keys and after a typed hunk"),
        )
    )
    parts.append(f"Expected calibration error of the first choice: {errors}.")
    return "\n\n".join(parts)


def _first_choices(rows: Sequence[AskedMoment]) -> str:
    """The first choice without a threshold, and the curve that the threshold walks along."""
    between = GROUPS["moments between edits as they occur"]
    repeat = GROUPS["repeat: the author repeats a change next"]
    lines = [
        "| without a threshold | repeats: any / next right | average precision | repeats found at 80 % right | at 90 % |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, title in (
        ("replay", _NAMES["replay"]),
        ("plain best", _NAMES["plain"]),
        ("best", "the judge"),
    ):
        answers = _answers(rows, name, repeat)
        cells = [
            f"{_share(_right(answers), len(answers))} / {_share(_next(answers), len(answers))}",
            f"{average_precision(_answers(rows, name, between)):.3f}",
        ]
        for precision in (0.8, 0.9):
            cells.append(f"{100 * repeats_found(rows, name, precision):.0f} %")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _table(rows: Sequence[AskedMoment], names: Mapping[str, str]) -> str:
    lines = ["| | shown | right of the shown: any | next |", "| --- | ---: | ---: | ---: |"]
    for name, title in names.items():
        answers = _answers(rows, name)
        shown = sum(answer is not None for answer in answers)
        lines.append(
            f"| {title} | {_share(shown, len(answers))} | {_share(_right(answers), shown)} |"
            f" {_share(_next(answers), shown)} |"
        )
    return "\n".join(lines)


def _by_language(rows: Sequence[AskedMoment], thresholds: Mapping[str, float]) -> str:
    name = "balanced" if "balanced" in thresholds else next(iter(thresholds))
    between = [row for row in rows if GROUPS["moments between edits as they occur"](row)]
    lines = [
        "| language | moments | repeats | repeats shown | shown | right of the shown |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for language in sorted({row["language"] for row in between}):
        of_language = [row for row in between if row["language"] == language]
        if len(of_language) < _LEAST_OF_LANGUAGE:
            continue
        answers = _answers(of_language, name)
        repeats = _answers([row for row in of_language if row["is_reachable"]], name)
        shown = sum(answer is not None for answer in answers)
        lines.append(
            f"| {language} | {len(answers)} | {len(repeats)} |"
            f" {_share(sum(answer is not None for answer in repeats), len(repeats))} |"
            f" {_share(shown, len(answers))} | {_share(_right(answers), shown)} |"
        )
    return "\n".join(lines)


def average_precision(answers: Sequence[Answer]) -> float:
    """The mean precision at each right answer, most confident first, over all moments."""
    ranked = sorted((answer for answer in answers if answer is not None), key=lambda answer: -answer[0])
    right, total = 0, 0.0
    for shown, answer in enumerate(ranked, start=1):
        if answer[1]:
            right += 1
            total += right / shown
    return total / max(1, len(answers))


def repeats_found(rows: Sequence[AskedMoment], name: str, precision: float) -> float:
    """The largest share of the repeats with a right answer at a threshold where this share of all offers is right."""
    between = [row for row in rows if GROUPS["moments between edits as they occur"](row)]
    repeats = sum(bool(row["is_reachable"]) for row in between)
    ranked = sorted(
        ((row["answers"][name], row["is_reachable"]) for row in between if row["answers"][name]),
        key=lambda pair: -pair[0][0],
    )
    right, found, best = 0, 0, 0
    for shown, (answer, is_reachable) in enumerate(ranked, start=1):
        right += answer[1]
        found += int(answer[1] and is_reachable)
        if right >= precision * shown:
            best = found
    return best / max(1, repeats)


def calibration_error(answers: Sequence[Answer]) -> float:
    """The expected difference between the confidence and the share that is right."""
    spoken = [answer for answer in answers if answer is not None]
    bins: dict[int, list[tuple[float, bool, bool]]] = {}
    for answer in spoken:
        bins.setdefault(min(int(answer[0] * _BINS), _BINS - 1), []).append(answer)
    gaps = (abs(sum(each[0] - each[1] for each in of_bin)) for of_bin in bins.values())
    return sum(gaps) / max(1, len(spoken))


def _answers(rows: Sequence[AskedMoment], name: str, is_in: Group | None = None) -> list[Answer]:
    return [row["answers"][name] for row in rows if is_in is None or is_in(row)]


def _right(answers: Sequence[Answer]) -> int:
    return sum(answer is not None and answer[1] for answer in answers)


def _next(answers: Sequence[Answer]) -> int:
    return sum(answer is not None and answer[2] for answer in answers)


def _share(count: int, whole: int) -> str:
    return f"{100 * count / whole:.0f} %" if whole else "-"
