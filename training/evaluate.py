"""Measure a training run or a bundle.

    python -m training.evaluate RUN_OR_BUNDLE --data synthetic:Flip11 [--split test] [--json]
    python -m training.evaluate BUNDLE --suite next-edit --cases cases.jsonl [--floor BUNDLE] [--report FOLDER]

Accuracy of whole edits, of positions, of contents given the true position; the first of them by step; and accuracy at the
level of lexical tokens among the predictions that are the most confident (figure 3d of the paper). A run is measured with
torch, a bundle through the ONNX graphs that are shipped.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from model.config import ModelConfig
from model.editing.edits import DELETE, END, Edit, Instance
from model.inference.bundle import Bundle, BundleError
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from training.data.batches import Batches, BatchSize
from training.data.examples import Examples, load_examples
from training.runs.checkpoint import load_network
from training.runs.measure import Accuracy, add_scores

PERCENTILES = (0, 10, 25, 50, 75, 90, 95, 99)
_BATCH = BatchSize(instances=64, tokens=32_768)
_LIMIT_SUBTOKENS = 32  # of one lexical token, when a decoder does not come to an end


class TokenPrediction(NamedTuple):
    """A greedy prediction to the end of a lexical token."""

    score: float  # log-probability of the whole sequence
    is_right: bool


def evaluate(source: Path, data: str, split: str, count: int | None = None) -> dict[str, Any]:
    """All measures of a run or a bundle on a split."""
    examples = load_examples(data, split, count=count)
    if (source / "manifest.json").is_file():
        bundle = Bundle.load(source)
        _check_vocabulary(bundle.config, examples, source)
        accuracy, tokens = measure_bundle(Predictor(bundle, device="cpu"), examples)
        model = bundle.config.model
    else:
        network, config = load_network(source)
        _check_vocabulary(config, examples, source)
        accuracy, tokens = measure_network(network, config, examples)
        model = config.model
    return {
        "model": model,
        "data": data,
        "split": split,
        "instances": len(examples.instances),
        **accuracy.to_json(),
        "token_accuracy": float(np.mean([token.is_right for token in tokens])) if tokens else 0.0,
        "by_confidence": by_confidence(tokens),
    }


def by_confidence(tokens: Sequence[TokenPrediction]) -> list[dict[str, float]]:
    """Accuracy among the predictions whose confidence is at or above each percentile."""
    ordered = sorted(tokens, key=lambda token: token.score)
    result = []
    for percentile in PERCENTILES:
        kept = ordered[len(ordered) * percentile // 100 :]
        if kept:
            right = sum(token.is_right for token in kept) / len(kept)
            result.append({"percentile": percentile, "accuracy": right, "score": kept[0].score})
    return result


@torch.no_grad()
def measure_network(
    network: nn.Module, config: ModelConfig, examples: Examples
) -> tuple[Accuracy, list[TokenPrediction]]:
    """With torch, many instances at a time.

    A lexical token's subtokens are predicted given the true ones before them. So a sequence that is right has exactly its
    greedy score; one that is wrong has its score up to the first wrong subtoken, which is an upper bound.
    """
    network.eval()
    ends = _ends(examples)
    accuracy, tokens = Accuracy(), list[TokenPrediction]()
    batches = Batches(examples, config, _BATCH)
    for rows in batches.in_order():
        batch = batches.make(rows)
        scores = network(batch)
        add_scores(accuracy, scores, batch)
        best_position = torch.log_softmax(scores.position, dim=-1).max(dim=-1)
        best_content = torch.log_softmax(scores.content, dim=-1).max(dim=-1)
        right = (best_position.indices == batch.positions) & (best_content.indices == batch.contents)
        both = (best_position.values + best_content.values).numpy()
        for number, row in enumerate(rows):
            tokens.extend(_joined(examples.instances[int(row)], right[number].numpy(), both[number], ends))
    return accuracy, tokens


def measure_bundle(predictor: Predictor, examples: Examples) -> tuple[Accuracy, list[TokenPrediction]]:
    """Through the graphs that are shipped, edit by edit; lexical tokens are decoded greedily."""
    ends = _ends(examples)
    accuracy, tokens = Accuracy(), list[TokenPrediction]()
    for instance in examples.instances:
        history = predictor.open(instance.state)
        positions = np.zeros((1, len(instance.edits)), dtype=np.bool_)
        contents = np.zeros_like(positions)
        spans = {span.start: span for span in _lexical_spans(instance, ends)}
        for step, edit in enumerate(instance.edits):
            if step >= instance.conditioning:
                predicted = history.predict()
                positions[0, step] = predicted.positions.argmax() == edit.position
                contents[0, step] = history.content(predicted, edit.position).argmax() == edit.content
            if step in spans:
                tokens.append(_decoded(history, [instance.edits[index] for index in spans[step]], ends))
            history.append([edit])
        mask = np.arange(len(instance.edits))[None] >= instance.conditioning
        accuracy.add(mask, positions, contents)
    return accuracy, tokens


def _decoded(history: AnyHistory, truth: Sequence[Edit], ends: Sequence[bool] | None) -> TokenPrediction:
    """Decode to the end of a lexical token, then forget what was decoded."""
    known = len(history.slots.edits)
    score, made = 0.0, list[Edit]()
    while not made or not _is_end(made[-1].content, ends):
        predicted = history.predict()
        position = int(predicted.positions.argmax())
        content_scores = history.content(predicted, position)
        made.append(Edit(position, int(content_scores.argmax())))
        score += float(predicted.positions[position] + content_scores.max())
        if len(made) >= _LIMIT_SUBTOKENS or _is_end(made[-1].content, ends):
            break
        try:
            history.append([made[-1]])
        except (
            ValueError
        ):  # an edit that cannot be made, say after the end token: surely wrong, and nothing follows
            break
    history.keep(known)
    return TokenPrediction(score, made == list(truth))


def _joined(
    instance: Instance, right: NDArray[np.bool_], scores: NDArray[np.float32], ends: Sequence[bool] | None
) -> Iterator[TokenPrediction]:
    for span in _lexical_spans(instance, ends):
        wrong = next((index for index in span if not right[index]), None)
        last = span[-1] if wrong is None else wrong
        yield TokenPrediction(float(scores[span.start : last + 1].sum()), wrong is None)


def _lexical_spans(instance: Instance, ends: Sequence[bool] | None) -> Iterator[range]:
    """The runs of edits that each insert one lexical token, or delete one subtoken, after the conditioning steps."""
    start = instance.conditioning
    for index in range(instance.conditioning, len(instance.edits)):
        if _is_end(instance.edits[index].content, ends) or index == len(instance.edits) - 1:
            yield range(start, index + 1)
            start = index + 1


def _is_end(content: int, ends: Sequence[bool] | None) -> bool:
    """In synthetic data every token stands for itself."""
    return ends is None or content in (DELETE, END) or ends[content]


def _ends(examples: Examples) -> Sequence[bool] | None:
    tokenizer = examples.tokenizer()
    return None if tokenizer is None else tokenizer.ends


def _check_vocabulary(config: ModelConfig, examples: Examples, source: Path) -> None:
    if config.vocabulary_size != examples.vocabulary_size:
        raise ValueError(
            f"{source} has a vocabulary of {config.vocabulary_size} and the data one of {examples.vocabulary_size}"
        )


def _print(values: dict[str, Any]) -> None:
    print(f"{values['model']} on {values['data']} ({values['split']}, {values['predictions']} predictions)")
    for name in ("edit_accuracy", "position_accuracy", "content_accuracy", "token_accuracy"):
        print(f"  {name.replace('_', ' '):18} {100 * values[name]:6.2f} %")
    print(
        "  by step            ", " ".join(f"{row['step']}:{row['accuracy']:.3f}" for row in values["by_step"])
    )
    pairs = (f"{row['percentile']}%:{row['accuracy']:.3f}" for row in values["by_confidence"])
    print("  by confidence      ", " ".join(pairs))


def _suite(options: argparse.Namespace) -> int:
    from training.suite.report import markdown, measure_suite, write_report  # draws pictures: slow to import

    if options.cases is None:
        raise ValueError("--suite needs --cases: make them with python -m training.cases")
    floor = None if options.floor is None else Bundle.load(options.floor)
    result = measure_suite(Bundle.load(options.source), options.cases, floor)
    if options.report is not None:
        write_report(result, options.report)
    del result["curve"]
    print(json.dumps(result, indent=1) if options.json else markdown(result))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate", description="measure a run or a bundle"
    )
    parser.add_argument("source", type=Path, help="folder of a run or of a bundle")
    parser.add_argument("--data", help="synthetic:TASK, or the folder of a dataset")
    parser.add_argument("--suite", choices=["next-edit"], help="put cases to a bundle, as the service would")
    parser.add_argument("--cases", type=Path, help="the cases of the suite, from training.cases")
    parser.add_argument("--floor", type=Path, help="bundle to compare with: the paper's plain IA-ag")
    parser.add_argument("--report", type=Path, help="folder for REPORT.md and its figures")
    parser.add_argument("--split", default="test")
    parser.add_argument("--count", type=int, help="the first instances only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if options.suite is not None:
            return _suite(options)
        if options.data is None:
            raise ValueError("--data or --suite must be given")
        values = evaluate(options.source, options.data, options.split, options.count)
    except (ValueError, BundleError) as error:
        print(f"training.evaluate: {error}", file=sys.stderr)
        return 2
    print(json.dumps(values, indent=1)) if options.json else _print(values)
    return 0


if __name__ == "__main__":
    sys.exit(main())
