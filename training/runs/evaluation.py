"""The accuracy of a run or a bundle on a split: of edits, positions and contents, and of lexical tokens by confidence.

A run is measured with torch, a bundle through the ONNX graphs that are shipped.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from model.config import ModelConfig
from model.editing.edits import DELETE, END, Edit, Instance
from model.inference.bundle import Bundle
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from training.data.batches import Batches, BatchSize
from training.data.examples import Examples, load_examples
from training.runs.accuracy import Accuracy, add_scores
from training.runs.checkpoint import load_network

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
        _require_same_vocabulary(bundle.config, examples, source)
        accuracy, tokens = measure_bundle(Predictor(bundle, device="cpu"), examples)
        model = bundle.config.model
    else:
        network, config = load_network(source)
        _require_same_vocabulary(config, examples, source)
        accuracy, tokens = measure_network(network, config, examples)
        model = config.model
    return {
        "model": model,
        "data": data,
        "split": split,
        "instances": len(examples.instances),
        **accuracy.to_json(),
        "token_accuracy": float(np.mean([token.is_right for token in tokens])) if tokens else 0.0,
        "by_confidence": accuracy_by_confidence(tokens),
    }


def accuracy_by_confidence(tokens: Sequence[TokenPrediction]) -> list[dict[str, float]]:
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
    ends = _token_ends(examples)
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
            tokens.extend(
                _join_subtokens(examples.instances[int(row)], right[number].numpy(), both[number], ends)
            )
    return accuracy, tokens


def measure_bundle(predictor: Predictor, examples: Examples) -> tuple[Accuracy, list[TokenPrediction]]:
    """Through the graphs that are shipped, edit by edit; lexical tokens are decoded greedily."""
    ends = _token_ends(examples)
    accuracy, tokens = Accuracy(), list[TokenPrediction]()
    for instance in examples.instances:
        history = predictor.open(instance.state)
        positions = np.zeros((1, len(instance.edits)), dtype=np.bool_)
        contents = np.zeros_like(positions)
        spans = {span.start: span for span in find_lexical_spans(instance, ends)}
        for step, edit in enumerate(instance.edits):
            if step >= instance.conditioning:
                predicted = history.predict()
                positions[0, step] = predicted.positions.argmax() == edit.position
                contents[0, step] = history.content(predicted, edit.position).argmax() == edit.content
            if step in spans:
                tokens.append(_decode_token(history, [instance.edits[index] for index in spans[step]], ends))
            history.append([edit])
        mask = np.arange(len(instance.edits))[None] >= instance.conditioning
        accuracy.add(mask, positions, contents)
    return accuracy, tokens


def _decode_token(history: AnyHistory, truth: Sequence[Edit], ends: Sequence[bool] | None) -> TokenPrediction:
    """Decode to the end of a lexical token, then forget what was decoded."""
    known = len(history.slots.edits)
    score, decoded = 0.0, list[Edit]()
    while not decoded or not _is_end(decoded[-1].content, ends):
        predicted = history.predict()
        position = int(predicted.positions.argmax())
        content_scores = history.content(predicted, position)
        decoded.append(Edit(position, int(content_scores.argmax())))
        score += float(predicted.positions[position] + content_scores.max())
        if len(decoded) >= _LIMIT_SUBTOKENS or _is_end(decoded[-1].content, ends):
            break
        try:
            history.append([decoded[-1]])
        except ValueError:
            break  # the edit cannot be made, say after the end token: surely wrong, and nothing follows
    history.keep(known)
    return TokenPrediction(score, decoded == list(truth))


def _join_subtokens(
    instance: Instance, right: NDArray[np.bool_], scores: NDArray[np.float32], ends: Sequence[bool] | None
) -> Iterator[TokenPrediction]:
    for span in find_lexical_spans(instance, ends):
        wrong = next((index for index in span if not right[index]), None)
        last = span[-1] if wrong is None else wrong
        yield TokenPrediction(float(scores[span.start : last + 1].sum()), wrong is None)


def find_lexical_spans(instance: Instance, ends: Sequence[bool] | None) -> Iterator[range]:
    """The runs of edits that each insert one lexical token, or delete one subtoken, after the conditioning steps."""
    start = instance.conditioning
    for index in range(instance.conditioning, len(instance.edits)):
        if _is_end(instance.edits[index].content, ends) or index == len(instance.edits) - 1:
            yield range(start, index + 1)
            start = index + 1


def _is_end(content: int, ends: Sequence[bool] | None) -> bool:
    """Does a lexical token end with this content? In synthetic data every token does."""
    return ends is None or content in (DELETE, END) or ends[content]


def _token_ends(examples: Examples) -> Sequence[bool] | None:
    tokenizer = examples.tokenizer()
    return None if tokenizer is None else tokenizer.ends


def _require_same_vocabulary(config: ModelConfig, examples: Examples, source: Path) -> None:
    if config.vocabulary_size != examples.vocabulary_size:
        raise ValueError(
            f"{source} has a vocabulary of {config.vocabulary_size} and the data one of {examples.vocabulary_size}"
        )
