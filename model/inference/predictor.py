"""Predictor: a bundle that answers. `open` encodes a state once; the history that it returns is incremental."""

from collections.abc import Sequence
from dataclasses import replace

from model.editing.edits import check_tokens
from model.inference.bundle import Bundle
from model.inference.calibration import Calibration
from model.inference.graph_runner import GraphRunner
from model.inference.history import History
from model.inference.window import WindowedHistory
from model.proposals import judge
from model.proposals.lexical_text import LexicalTables
from model.proposals.suggester import Suggester


def _load_suggester(bundle: Bundle) -> Suggester | None:
    """The judge of a bundle with all that it needs; None when the bundle has none."""
    path = bundle.directory / judge.FILE
    if bundle.tokenizer is None or not path.is_file():
        return None
    return Suggester(LexicalTables(bundle.tokenizer), judge.Judge(path))


class Predictor:
    """Runs a bundle."""

    def __init__(
        self,
        bundle: Bundle,
        device: str = "auto",
        *,
        runner: GraphRunner | None = None,
        with_judge: bool = True,
        together: bool | None = None,
    ) -> None:
        """`runner`: the graphs of this bundle, if they are loaded already. Fitting a judge needs none before.

        `together`: load the graphs that step several histories in one run; None: on a GPU, where that is faster."""
        self.bundle = bundle
        self._runner = runner or GraphRunner(bundle, device)
        if together if together is not None else self._runner.device == "cuda":
            self._runner.load_together(bundle)
        self.suggester = _load_suggester(bundle) if with_judge else None

    @property
    def runner(self) -> GraphRunner:
        return self._runner

    @property
    def provider(self) -> str:
        """The name of ONNX Runtime's provider in use."""
        return self._runner.provider

    def with_calibration(self, calibration: Calibration) -> "Predictor":
        """Make a predictor that runs the same graphs and reads confidences with another calibration."""
        return Predictor(replace(self.bundle, calibration=calibration), runner=self._runner)

    def open(self, state: Sequence[int]) -> History | WindowedHistory:
        """Encode a state. A file longer than the model's limit is seen through a window."""
        config = self.bundle.config
        check_tokens(state, config.vocabulary_size)
        if len(state) > config.limit_tokens:
            return WindowedHistory(lambda window: History(self._runner, config, window), state, config)
        return History(self._runner, config, state)
