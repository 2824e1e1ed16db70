"""Changes of files played in every way that the judge learns from."""

from collections.abc import Iterable
from random import Random

from model.inference.predictor import Predictor
from training.judge.examples import Examiner, Examples
from training.judge.moments import FileChange, Play, play_commit, play_repeats, play_typed, play_words
from training.trajectories.hands import HandsRange

# How each change is played, and the share of the changes that are.
WAYS: dict[str, tuple[Play, float]] = {
    "commit": (play_commit, 1.0),
    "typed": (play_typed, 0.6),
    "repeats": (play_repeats, 0.3),
    "words": (play_words, 0.4),
}
WITHOUT_NETWORK = 0.12  # share of the plays: the judge must also do without, as before a state is encoded


def examine_changes(
    changes: Iterable[FileChange], predictor: Predictor, hands: HandsRange, random: Random
) -> Examples:
    """Play each change in every way and label the candidates."""
    examiner, tokenizer = Examiner(predictor), predictor.bundle.require_tokenizer()
    parts = [
        examiner.examine(
            play(change, tokenizer, hands, random), with_network=random.random() > WITHOUT_NETWORK
        )
        for change in changes
        for play, share in WAYS.values()
        if random.random() < share
    ]
    return Examples.join(parts)
