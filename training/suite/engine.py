"""The engine that ships as a suggester of whole commits: the recorder, the search and the calibration, in one process."""

from collections.abc import Sequence

from model.editing.recorder import PAUSE_SECONDS, Recorder
from model.editing.rendering import render
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.search import Decoded, DecodedEdits, Wish, decode
from model.inference.window import WindowedHistory
from model.leanings import Leanings, replacement_of
from model.proposals.suggester import StreamFacts, Suggester, Weighed
from training.suite.whole_commits import Offer
from training.trajectories.keyboard import Step
from training.trajectories.typist import record_step

_LIMIT_JUDGED = 20  # changes of the judge: a dismissed one is followed by the next
_ALTERNATIVES = 3  # offers for one question: the next one is shown when the first was dismissed


class EngineSuggest:
    """Asks a bundle as the language server does, after each step. Keeps what it recorded, so a next step costs little."""

    def __init__(
        self, predictor: Predictor, least_confidence: float = 0.0, *, with_network: bool = True
    ) -> None:
        """Offers below `least_confidence` are left out, which saves the search for them."""
        self._predictor = predictor
        self._with_network = with_network  # False: the judge hears the plain evidence alone
        self._least_confidence = least_confidence
        self._tokenizer = predictor.bundle.require_tokenizer()
        self._text: str | None = None
        self._steps: list[Step] = []
        self._recorder: Recorder | None = None
        self._leanings = Leanings()
        self._history: AnyHistory | None = None
        self._state: tuple[int, ...] | None = None

    def __call__(self, text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
        return self.ask(text, steps, time, (self._least_confidence,))[0]

    def ask(
        self, text: str, steps: Sequence[Step], time: float, thresholds: Sequence[float]
    ) -> list[list[Offer]]:
        """The offers at each threshold."""
        recorder = self._recorded(text, steps)
        if steps and time - steps[-1].time >= PAUSE_SECONDS:
            recorder.move_cursor(-1)  # whoever stops that long has typed the whole name
        return self.ask_recorder(recorder, time - steps[-1].time if steps else None, thresholds)

    def ask_recorder(
        self, recorder: Recorder, pause_seconds: float | None, thresholds: Sequence[float]
    ) -> list[list[Offer]]:
        """The offers at each threshold for a recorded stream, `pause_seconds` after its last change."""
        if not recorder.edits and (not recorder.prefix or self._predictor.suggester is not None):
            return [[] for _ in thresholds]
        if self._predictor.suggester is not None:
            return self._judge(recorder, self._predictor.suggester, pause_seconds, thresholds)
        decoded = self._decode(recorder, min(thresholds))
        if decoded.name:  # the prefix is a whole name: it is an edit after all
            recorder.move_cursor(-1)
            decoded = self._decode(recorder, min(thresholds))
        offers = [offer for offer in (self._offer(recorder, each) for each in decoded.predictions) if offer]
        return [[offer for offer in offers if offer.confidence >= least] for least in thresholds]

    def _recorded(self, text: str, steps: Sequence[Step]) -> Recorder:
        known = len(self._steps)
        if self._recorder is None or text != self._text or list(steps[:known]) != self._steps:
            self._recorder = Recorder(self._tokenizer, text, self._predictor.bundle.config.limit_history)
            self._text, self._steps, known = text, [], 0
            self._leanings = Leanings()
        for step in steps[known:]:
            if self._steps and step.time - self._steps[-1].time >= PAUSE_SECONDS:
                self._recorder.move_cursor(-1)
            if step.accepted:
                self._note_acceptance(self._recorder.text.text, step)
            record_step(self._recorder, step)
            self._steps.append(step)
        return self._recorder

    def _note_acceptance(self, text: str, step: Step) -> None:
        for change in step.changes:
            self._leanings.accept(replacement_of(change, text[change.start : change.end]))

    def _judge(
        self,
        recorder: Recorder,
        suggester: Suggester,
        pause_seconds: float | None,
        thresholds: Sequence[float],
    ) -> list[list[Offer]]:
        facts = StreamFacts(recorder.burst_ends, pause_seconds, recorder.cursor, recorder.prefix)
        weighed = suggester.weigh(self._synced(recorder), facts, with_network=self._with_network)
        text = recorder.text.text
        return [self._choose(weighed, text, threshold) for threshold in thresholds]

    def _choose(self, weighed: Weighed, text: str, threshold: float) -> list[Offer]:
        """The offers at a threshold. As in the language server, an accepted change needs less confidence."""
        found = weighed.choose(threshold * self._leanings.least, _LIMIT_JUDGED).changes
        return [
            Offer(each.change, each.confidence)
            for each in found
            if each.confidence
            >= self._leanings.threshold_for(
                replacement_of(each.change, text[each.change.start : each.change.end]), threshold
            )
        ]

    def _synced(self, recorder: Recorder) -> AnyHistory:
        """The history of the recorder's stream."""
        if self._history is None or self._state != recorder.state:
            self._history, self._state = self._predictor.open(recorder.state), recorder.state
        history = self._history
        known, edits = history.slots.edits, recorder.edits
        kept = next((n for n, (a, b) in enumerate(zip(known, edits, strict=False)) if a != b), None)
        history.keep(min(len(known), len(edits)) if kept is None else kept)
        history.append(edits[len(history.slots.edits) :])
        if isinstance(history, WindowedHistory):
            history.look_at(recorder.cursor if recorder.prefix else None)
        return history

    def _decode(self, recorder: Recorder, least_confidence: float) -> Decoded:
        history = self._synced(recorder)
        wish = Wish(
            until="hunk",
            limit=_ALTERNATIVES,
            threshold=least_confidence,
            cursor=recorder.cursor,
            prefix=recorder.prefix,
        )
        return decode(history, wish, self._tokenizer, self._predictor.bundle.calibration)

    def _offer(self, recorder: Recorder, prediction: DecodedEdits) -> Offer | None:
        """None when the predicted tokens spell no text."""
        assert self._history is not None
        try:
            change = render(self._history.slots, prediction.edits, self._tokenizer)
        except UnicodeError:
            return None
        # The stream has no half-typed name, but the text has: a prediction that goes on from it replaces it.
        return Offer(change._replace(end=change.end + len(recorder.prefix)), prediction.confidence)
