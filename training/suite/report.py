"""The next-edit suite as a report: tables, plots and JSON.

Called by `python -m training.evaluate BUNDLE --suite next-edit --cases cases.jsonl [--floor BUNDLE] [--report FOLDER]`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.suite.cases import KINDS, Case, read_cases
from training.suite.next_edit import CaseAnswer, ask, ask_replay, report, summary
from training.suite.written_cases import WrittenCase

_PICTURE = "next-edit.png"


def measure_suite(bundle: Bundle, cases: Path, floor: Bundle | None = None) -> dict[str, Any]:
    """The bundle's figures on the cases, and those of the floors: replaying, and another bundle if one is given."""
    found = read_cases(cases)
    answers = _ask_all(bundle, found)
    result: dict[str, Any] = {"bundle": bundle.name, "sha256": bundle.sha256, "cases": len(found)}
    result |= report(answers, [ask_replay(case) for case in found], bundle.calibration.threshold("hunk"))
    result["curve"] = _compute_curve(answers)
    if floor is not None:
        result["network_floor"] = summary(_ask_all(floor, found), 0.0)
        result["network_floor"]["name"] = floor.config.model
    return result


def measure_written_cases(bundle: Bundle, cases: Sequence[WrittenCase]) -> list[dict[str, Any]]:
    """The bundle's answer to each written case at its default threshold."""
    threshold = bundle.calibration.threshold("hunk")
    rows = []
    for written, answer in zip(cases, _ask_all(bundle, [written.case for written in cases]), strict=True):
        is_shown = answer.change is not None and answer.confidence >= threshold
        row: dict[str, Any] = {"name": written.name, "title": written.title, "status": written.status}
        row |= {"is_shown": is_shown, "confidence": answer.confidence, "silence": answer.silence}
        rows.append(row | {"is_right": written.case.is_right(answer.change if is_shown else None)})
    return rows


def _ask_all(bundle: Bundle, cases: Sequence[Case]) -> list[CaseAnswer]:
    predictor = Predictor(bundle, device="cpu")
    return [ask(predictor, case) for case in tqdm(cases, unit=" cases", desc=bundle.name)]


def _compute_curve(answers: Sequence[CaseAnswer]) -> dict[str, list[tuple[float, float]]]:
    """For each kind with a next edit: (recall, precision) as the threshold falls."""
    curves = {}
    for kind in KINDS[:2]:
        of_kind = [answer for answer in answers if answer.case.kind == kind]
        spoken = sorted((a for a in of_kind if a.change is not None), key=lambda a: -a.confidence)
        points, right = [], 0
        for shown, answer in enumerate(spoken, start=1):
            right += answer.is_right
            points.append((right / len(of_kind), right / shown))
        curves[kind] = points
    return curves


def write_report(result: dict[str, Any], folder: Path) -> None:
    """REPORT.md, its picture and the figures behind them."""
    (folder / "results").mkdir(parents=True, exist_ok=True)
    figures = {name: value for name, value in result.items() if name != "curve"}
    (folder / "results" / "next-edit.json").write_text(json.dumps(figures, indent=1) + "\n")
    _draw(result, folder / "results" / _PICTURE)
    (folder / "REPORT.md").write_text(markdown(result))


def markdown(result: dict[str, Any]) -> str:
    lines = [
        "# Is it right when it speaks?",
        "",
        "Written by `python -m training.evaluate BUNDLE --suite next-edit`; not edited by hand.",
        "",
        f"{result['cases']} cases from repositories that were not trained on, put to the bundle `{result['bundle']}`"
        " through the Predictor that ships. A prediction is right when the text it makes is the text after the next hunk, or after"
        " another hunk of the same change that was still to come. In a *done* case nothing came next, and silence is right.",
        "",
        f"![Precision against recall](results/{_PICTURE})",
        "",
        f"At the default threshold of {result['default_threshold']:.2f}, and the floors, which speak whatever their confidence:"
        " *replay* makes the newest edit once more at the next text that it fits.",
        "",
        "| | kind | cases | shown | right | precision | recall | quiet |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} {_row(kind, figures[kind])}"
            for name, figures in _name_figures(result).items()
            for kind in ("all", *KINDS)
        ),
        "",
        f"Precision on repeat cases at the recall of replaying: {_share(result['repeat_precision_at_replay_recall'])}. "
        f"Expected calibration error: {result['calibration_error']:.3f}.",
        "",
        "Against the threshold (all kinds):",
        "",
        "| threshold | shown | precision | recall | quiet when done |",
        "| ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['threshold']:.2f} | {row['all']['shown']} | {_share(row['all']['precision'])} |"
            f" {_share(row['all']['recall'])} | {_share(row['done']['quiet'])} |"
            for row in result["by_threshold"]
        ),
        "",
        "By language, at the default threshold:",
        "",
        "| language | cases | shown | right | precision | recall | quiet |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_row(name, figures) for name, figures in result["by_language"].items() if figures["cases"] >= 10),
        "",
    ]
    return "\n".join(lines)


def _name_figures(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The bundle and the floors, by the names that the report gives them."""
    named = {f"**{result['bundle']}**": result["at_default"], "replay": result["replay"]}
    if "network_floor" in result:
        floor = result["network_floor"]
        named[f"the paper's plain {floor['name']}, trained on histories"] = floor
    return named


def _row(name: str, figures: dict[str, Any]) -> str:
    shares = " | ".join(_share(figures[key]) for key in ("precision", "recall", "quiet"))
    return f"| {name} | {figures['cases']} | {figures['shown']} | {figures['right']} | {shares} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _draw(result: dict[str, Any], path: Path) -> None:
    import matplotlib  # slow to import, and used here alone

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for kind, points in result["curve"].items():
        axes.plot([x for x, _ in points], [y for _, y in points], label=f"Likewise, {kind}")
        floor = result["replay"][kind]
        if floor["precision"] is not None:
            axes.scatter([floor["recall"]], [floor["precision"]], label=f"replay, {kind}", zorder=3)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
