"""Make the small real bundle that the tests run on.

    python -m tests.make_tiny_bundle [--steps 500] [--out tests/data/tiny_bundle]

A little IA-next learns renames and replaced literals in small made-up files: after two equal ones it suggests the third.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import torch
from torch import nn

from model.config import ModelConfig
from model.editing.change import Change
from model.editing.edits import Instance
from model.editing.tokenizer import Tokenizer, train
from model.inference.calibration import Calibration
from model.networks.build import build
from model.networks.incremental import IncrementalNetwork
from training.data.batches import make_batch
from training.data.dataset import Kind
from training.export import export
from training.runs.accuracy import Accuracy, add_scores
from training.runs.loss import compute_loss
from training.trajectories.trajectory import Trajectory, instance_from_trajectory

OUT = Path(__file__).parent / "data" / "tiny_bundle"
_VOCABULARY_SIZE = 384
_BATCH = 12
_LEARNING_RATE = 4e-3
_LIMIT_EDITS = 64  # of a training instance
# Confidence is the probability itself. What the little model is sure of is right; a hunk is many tokens long.
_CALIBRATION = Calibration(thresholds={"token": 0.5, "hunk": 0.4})

_WORDS: list[str] = re.findall(
    r"\w+",
    """total items result item price count name value index path text data key size limit start end user list self read
    write open close first last next node line word table row column cell left right width height""",
)
_LINES = (
    "{a} = {b}({n})",
    "{a} = {b} + {n}",
    "    {a} += {b}.{c} * {n}",
    "    return {a}",
    "def {a}({b}, {c}={n}):",
    "    for {a} in {b}:",
    "    if {a} == {n}:",
    "        {a}.{b}({c})",
    'print("{c}", {a})',
    "{a}({b}, {a})",
    "{a} = [{b}, {c}, {n}]",
    "",
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the network is too small for more
    random = Random(0)
    tokenizer = train([_text(random) for _ in range(300)], _VOCABULARY_SIZE)
    config = ModelConfig(
        "IA-next",
        len(tokenizer),
        hidden_size=24,
        heads=4,
        limit_tokens=512,
        limit_edits=128,
        attention_block=16,
        decoder_layers=2,
    )
    network = build(config)
    assert isinstance(network, IncrementalNetwork)
    fit(network, tokenizer, options.steps)
    card = "# tiny\n\nFor tests only: it knows renames and replaced literals in small made-up files.\n"
    export(network, config, tokenizer, options.out, name="tiny", calibration=_CALIBRATION, card=card)


def fit(network: IncrementalNetwork, tokenizer: Tokenizer, steps: int) -> None:
    instances = _instances(tokenizer, Random(1))
    optimizer = torch.optim.Adam(network.parameters(), lr=_LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _LEARNING_RATE, total_steps=steps + 1)
    accuracy = Accuracy()
    for step in range(1, steps + 1):
        batch = make_batch(network.config, [next(instances) for _ in range(_BATCH)])
        scores = network(batch)
        loss = compute_loss(scores, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        add_scores(accuracy, scores, batch)
        if step % 100 == 0:
            print(f"{step:5d}  loss {loss.item():.3f}  edits right {accuracy.edit_accuracy:.3f}", flush=True)
            accuracy = Accuracy()


def _instances(tokenizer: Tokenizer, random: Random) -> Iterator[Instance]:
    while True:
        session = _session(_text(random), random)
        instance = session and instance_from_trajectory(session, tokenizer, _LIMIT_EDITS)
        if instance:
            yield instance


def _text(random: Random) -> str:
    """A small file in which a few names and numbers come again and again."""
    names = [_name(random) for _ in range(random.randint(3, 6))]
    numbers = [str(random.randrange(10 ** random.randint(1, 3))) for _ in range(2)]
    lines = []
    for _ in range(random.randint(6, 14)):
        chosen = dict(zip("abc", random.choices(names, k=3), strict=True))
        lines.append(random.choice(_LINES).format(n=random.choice(numbers), **chosen))
    return "\n".join(lines) + "\n"


def _name(random: Random) -> str:
    draw = random.random()
    if draw < 0.5:
        return random.choice(_WORDS)
    if draw < 0.75:
        return "_".join(random.sample(_WORDS, 2))
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(1, 5)))


def _session(text: str, random: Random) -> Trajectory | None:
    """One name or number replaced wherever it stands, downwards or upwards."""
    found = sorted(set(re.findall(r"[a-z_]{2,}|\d+", text)) - {"def", "for", "in", "if", "return", "print"})
    old = random.choice(found)
    places = [match.span() for match in re.finditer(rf"\b{old}\b", text)]
    new = str(random.randrange(1000)) if old.isdigit() else _name(random)
    if new == old or len(places) > 8 or (len(places) < 3 and random.random() < 0.8):
        return None
    changes, grown = [], len(new) - len(old)
    for number, (start, end) in enumerate(places):
        changes.append(Change(start + number * grown, end + number * grown, new))
    if random.random() < 0.3:
        changes = [Change(start, end, new) for start, end in reversed(places)]
    return Trajectory(text, tuple(changes), Kind.RENAME, conditioning=1)


if __name__ == "__main__":
    main()
