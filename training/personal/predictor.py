"""A predictor with no more threads than were asked for: the user works while it runs."""

from model.inference.bundle import Bundle
from model.inference.graph_runner import GraphRunner
from model.inference.predictor import Predictor


def open_predictor(bundle: Bundle, threads: int, *, with_judge: bool = True) -> Predictor:
    """Load a bundle on the CPU."""
    runner = GraphRunner(bundle, "cpu", encode_threads=min(2, threads))
    return Predictor(bundle, runner=runner, with_judge=with_judge)
