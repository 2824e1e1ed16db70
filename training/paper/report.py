"""RESULTS.md and the plots, made from the files in training/results."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from training.paper import tables as paper
from training.paper.properties import compute_properties

RESULTS = Path(__file__).parent.parent / "results"
REPORT = Path(__file__).parent.parent / "RESULTS.md"
SCALABILITY = RESULTS / "scalability.json"
REAL = "real"  # the name of the task of mined edits
_BY_STEP_TASKS = ("MetaSurround33", "MetaContextAppend31")  # the paper's figure 4
_NOT_RUN = "not run"

_INTRODUCTION = """# The paper's tables, ours beside theirs

Made by `python -m training.reproduce`; do not edit. Test accuracy in per cent: an edit is right when its position and its
content are, given the true edits before it. As in the paper, the step with the best accuracy on the dev split counts. The
paper's numbers are the best of a grid over learning rate (four) and hidden size (128 to 512); ours are single runs with the
hidden size and the time given. Each cell is **ours** (paper's).
"""


def result_path(model: str, task: str) -> Path:
    return RESULTS / f"{model}-{task}.json"


def load_results() -> dict[tuple[str, str], dict[str, Any]]:
    """All finished rows, by model and task."""
    paths = {(model, task): result_path(model, task) for model in paper.COLUMNS for task in paper.TASKS}
    return {row: json.loads(path.read_text()) for row, path in paths.items() if path.is_file()}


def write() -> None:
    """Write RESULTS.md, and the plots where there is something to plot."""
    results = load_results()
    parts = [
        _INTRODUCTION,
        _accuracies(results),
        _budgets(results),
        _by_step(results),
        _real(),
        _scalability(),
        _properties(),
    ]
    REPORT.write_text("\n".join(parts))


def _accuracies(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    rows = [
        [
            task,
            *(
                _cell(results.get((model, task)), paper.ACCURACIES.get((model, task)))
                for model in paper.COLUMNS
            ),
        ]
        for task in paper.TASKS
    ]
    return f"## Accuracy\n\n{_table(['task', *paper.COLUMNS], rows)}"


def _cell(result: dict[str, Any] | None, paper_accuracy: float | None) -> str:
    ours = _NOT_RUN if result is None else f"**{result['test_accuracy']:.1f}**"
    theirs = "not in the paper" if paper_accuracy is None else f"{paper_accuracy:.1f}"
    return f"{ours} ({theirs})"


def _budgets(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    head = ["model", "task", "test", "paper", "positions", "contents", "hidden", "steps", "batch", "threads"]
    rows = []
    for (model, task), values in results.items():
        test, fit = values["test"], values["fit"]
        paper_accuracy = values["paper_accuracy"]
        rows.append(
            [
                model,
                task,
                f"{values['test_accuracy']:.2f}",
                "-" if paper_accuracy is None else f"{paper_accuracy:.1f}",
                f"{100 * test['position_accuracy']:.2f}",
                f"{100 * test['content_accuracy']:.2f}",
                str(fit["hidden"]),
                str(values["steps"]),
                str(fit["batch"]),
                str(values["threads"]),
                f"{values['minutes']:.1f}",
                f"{values['processor_minutes']:.1f}",
            ]
        )
    note = (
        "Minutes of the processor tell what a run cost, those of the clock what it took beside other work.\n"
    )
    return f"## What each row took\n\n{note}\n{_table([*head, 'minutes', 'processor minutes'], rows)}"


def _by_step(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    parts = [
        "## Accuracy by step\n\nIt dips where one replacement is complete and the next match has to be found.\n"
    ]
    for task in _BY_STEP_TASKS:
        found = {model: results[model, task] for model in paper.COLUMNS if (model, task) in results}
        if found:
            _plot_by_step(task, found, RESULTS / f"by_step_{task}.png")
            parts.append(f"![{task}](results/by_step_{task}.png)\n")
        else:
            parts.append(f"{task}: {_NOT_RUN}.\n")
    return "\n".join(parts)


def _plot_by_step(task: str, results: dict[str, dict[str, Any]], path: Path) -> None:
    figure, axes = _figure()
    for model, values in results.items():
        steps = [row for row in values["dev"]["by_step"] if row["predictions"] >= 50]  # fewer say nothing
        axes.plot([row["step"] for row in steps], [row["accuracy"] for row in steps], marker=".", label=model)
    axes.set(title=task, xlabel="step", ylabel="dev accuracy", ylim=(-0.02, 1.02))
    _save(figure, axes, path)


def _real() -> str:
    """The paper's networks on edits of real code."""
    head = "## Real edits\n\nPer cent of subtokens of repositories that were not trained on. "
    paths = {model: result_path(model, REAL) for model in paper.REAL}
    results = {model: json.loads(path.read_text()) for model, path in paths.items() if path.is_file()}
    if not results:
        return f"{head}\n\n{_NOT_RUN}.\n"
    splits = next(iter(results.values()))["splits"]
    data = ", ".join(f"{split} {size['edits']:,} edits" for split, size in splits.items())
    note = (
        f"MinedInstance from histories ({data}); the paper's data are others, so it is the order and the gaps that compare. Each\n"
        "network had the same minutes of one processor.\n"
    )
    columns = ["model", "ours", "paper", "positions", "contents", "lexical tokens", "hidden", "parameters"]
    rows = [_real_row(values) for values in results.values()]
    _plot_by_confidence(results, RESULTS / "real_by_confidence.png")
    table = _table([*columns, "edits seen", "processor minutes"], rows)
    return f"{head}{note}\n{table}\n![confidence](results/real_by_confidence.png)\n"


def _plot_by_confidence(results: dict[str, dict[str, Any]], path: Path) -> None:
    figure, axes = _figure()
    for model, values in results.items():
        points = values["test"]["by_confidence"]
        axes.plot([p["percentile"] for p in points], [p["accuracy"] for p in points], marker="o", label=model)
    axes.set(
        title="predictions at or above a percentile of confidence",
        xlabel="percentile",
        ylabel="lexical tokens that are right",
        ylim=(0, 1.02),
    )
    _save(figure, axes, path)


def _real_row(values: dict[str, Any]) -> list[str]:
    test = values["test"]
    return [
        values["model"],
        f"**{100 * test['edit_accuracy']:.1f}**",
        f"{paper.REAL[values['model']]:.1f}",
        *(f"{100 * test[f'{name}_accuracy']:.1f}" for name in ("position", "content", "token")),
        str(values["hidden"]),
        f"{values['parameters']:,}",
        f"{values['edits_seen']:,}",
        f"{values['processor_minutes']:.1f}",
    ]


def _scalability() -> str:
    head = "## Time against length\n\nSeconds of the processor to train on 128 sequences, n-gram task, in one run.\n"
    if not SCALABILITY.is_file():
        return f"{head}\n{_NOT_RUN}.\n"
    values = json.loads(SCALABILITY.read_text())
    models = list(next(iter(values["seconds"].values())))
    rows = []
    for task, seconds in values["seconds"].items():
        attention = seconds["IA-ag"]
        cells = [f"{seconds[model]:.2f} ({seconds[model] / attention:.1f} x IA)" for model in models]
        rows.append([task.removeprefix("NGram"), *cells])
    figure, axes = _figure()
    lengths = [int(task.removeprefix("NGram")) for task in values["seconds"]]
    for model in models:
        ratios = [seconds[model] / seconds["IA-ag"] for seconds in values["seconds"].values()]
        axes.plot(lengths, ratios, marker="o", label=model)
    axes.set(title="time of training, relative to IA", xlabel="insertions", ylabel="times IA", yscale="log")
    _save(figure, axes, RESULTS / "scalability.png")
    note = f"Hidden size {values['hidden']}, batch size {values['batch']}, {values['threads']} thread(s).\n"
    return f"{head}\n{_table(['insertions', *models], rows)}\n{note}\n![time](results/scalability.png)\n"


def _properties() -> str:
    rows = [
        [
            f"{row['name']}",
            f"`{row['pattern']}`",
            f"`{row['replacement']}`" if row["replacement"] else "(nothing)",
            *(f"{row[column]:g} ({row['paper_' + column]:g})" for column in ("epr", "acd", "pomp")),
        ]
        for row in _computed_properties()
    ]
    head = ["task", "pattern", "replacement", "EPR (paper)", "ACD (paper)", "POMP (paper)"]
    return f"## Properties of the data\n\n{_table(head, rows)}"


def _computed_properties() -> list[dict[str, Any]]:
    """Computed once: they do not depend on what was trained."""
    path = RESULTS / "properties.json"
    if not path.is_file():
        path.write_text(json.dumps(compute_properties(), indent=1) + "\n")
    rows: list[dict[str, Any]] = json.loads(path.read_text())
    return rows


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _figure() -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    return figure, axes


def _save(figure: Any, axes: Any, path: Path) -> None:
    from matplotlib import pyplot

    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
