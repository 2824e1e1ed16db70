"""Predictions for open files: a view of a file in, an answer out. Knows the service and its model.

Imported after `initialize` is answered: it brings the tokenizer, the wire and the connection with it.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import NamedTuple

from lsp.answers import answer_from_prediction, describe_dismissal, is_dismissed
from lsp.client import Client, Snapshot
from lsp.dismissals import Dismissals
from lsp.document import Document
from lsp.everywhere import LikelyChange, find_likely_changes
from lsp.fetch import Address, ServiceUnavailable
from lsp.file_view import FileView
from lsp.service_process import ServiceProcess
from lsp.settings import Settings
from lsp.suggestions import STAYING_SHARE, Answer, Suggestion
from model.editing.edits import Edit
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from model.leanings import Leanings
from server import schema

_LIMIT_EDITS = 100  # of a stream, as in the paper; less if the service says so
_UNCALIBRATED_THRESHOLD = 0.5  # when the bundle names none
_ALTERNATIVES = 3
_CHOICES = (
    5  # asked for where changes need different confidences: the first one may be below its own threshold
)
_log = logging.getLogger(__name__)


class ServedModel(NamedTuple):
    """The parts of the service's model that we must know."""

    name: str
    bundle: str  # its hash
    tokenizer: Tokenizer
    limit_edits: int
    threshold: float
    eagerness: Mapping[str, float]  # named thresholds


@dataclass(frozen=True)
class Ahead:
    """The answer to a question that is not asked yet: the prediction for the time when the text is this."""

    text: str
    edits: tuple[Edit, ...]
    prediction: schema.Prediction

    def is_for(self, document: Document) -> bool:
        return len(self.text) == len(document) and self.text == document.text


class Predictions:
    """The questions to the service. Holds no state of any file."""

    def __init__(self, settings: Settings, dismissals: Dismissals, counters: Counter[str]) -> None:
        self._settings = settings
        self._dismissals = dismissals
        self._counters = counters
        self._leanings = Leanings()
        self._model: ServedModel | None = None
        self._address = Address(settings.service_address or "", settings.service_token or "")
        self._service: ServiceProcess | None = None
        if settings.service_address is None:
            self._service = ServiceProcess(settings.bundle, settings.device, settings.log_level)
        self._client = Client(self._locate)
        self._background: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        return self._client.is_connected

    @property
    def bundle_name(self) -> str:
        return self._model.name if self._model is not None else "unknown"

    @property
    def model(self) -> ServedModel | None:
        return self._model

    async def run(self) -> AsyncGenerator[ServedModel | ServiceUnavailable]:
        """Keep the connection. Yields the model after each connection, the problem after each loss."""
        async with aclosing(self._client.run()) as events:
            async for event in events:
                if isinstance(event, ServiceUnavailable):
                    yield event
                else:
                    self._model = self._read_model(event)
                    yield self._model

    def configure(self, settings: Settings) -> None:
        """Use new settings; those about the service itself need new Predictions."""
        self._settings = settings

    async def stop(self) -> None:
        if self._service is not None:
            await self._service.stop()

    def kill(self) -> None:
        if self._service is not None:
            self._service.kill()

    # --- one file ---

    def create_recorder(self, text: str) -> Recorder | None:
        """Begin a stream with this text; None as long as the tokens are unknown."""
        if self._model is None:
            return None
        return Recorder(self._model.tokenizer, text, self._model.limit_edits)

    def prepare(self, view: FileView) -> None:
        """Let the service encode a file before the first question."""
        self._client.prepare(_take_snapshot(view, tuple(view.recorder.edits)))

    def close(self, uri: str) -> None:
        self._client.close(uri)

    def accept(self, suggestion: Suggestion) -> None:
        self._leanings.accept(suggestion.replacement)

    def dismiss(self, document: Document, suggestion: Suggestion) -> None:
        self._dismissals.add(*describe_dismissal(document, suggestion))
        self._leanings.dismiss(suggestion.replacement)

    def forget_dismissed(self) -> None:
        self._dismissals.forget_all()
        self._leanings.forget_dismissed()

    def report(self, event: str) -> None:
        """Let the service count the fate of a suggestion."""
        self._run_in_background(self._client.report(event))

    # --- answers ---

    async def find_answer(self, view: FileView, pause_seconds: float | None = None) -> Answer:
        """Ask for the next edit, so long after the last change; None when that change is surely finished."""
        settings = self._settings
        if settings.debounce_milliseconds:
            await asyncio.sleep(settings.debounce_milliseconds / 1000)
        # The suggestion in view may stay with less than a new one needs.
        threshold = self._least_threshold * (STAYING_SHARE if view.shown is not None else 1)
        began = time.perf_counter()
        try:
            answer = await self._ask(view, threshold, settings.limit_suggestions, pause_seconds)
        except ServiceUnavailable as error:
            _log.info("no answer: %s", error)
            answer = Answer(silence=error.silence)
        self._counters["answers"] += 1
        took = 1000 * (time.perf_counter() - began)
        _log.debug("answer after %.1f ms: %s", took, answer.silence or "suggestion")
        return answer

    async def look_ahead(self, view: FileView, best: Suggestion) -> Ahead | None:
        """Ask for the edit after the best suggestion, as if it were accepted. Raises ServiceUnavailable."""
        model = self._model
        edits = (*view.recorder.edits, *best.edits)
        if model is None or not best.edits or len(edits) > model.limit_edits:
            return None
        start, end, new = best.change
        text = view.document.text
        snapshot = _take_snapshot(view, edits, prefix=False)
        prediction = await self._client.ask(snapshot, threshold=self._least_threshold)
        return Ahead(text[:start] + new + text[end:], edits, prediction)

    def answer_from_ahead(self, view: FileView, ahead: Ahead) -> Answer:
        """Use a prediction that was made ahead of the text that is now there."""
        self._counters["ahead"] += 1
        return answer_from_prediction(
            view, ahead.prediction, ahead.edits, self._dismissals, self._threshold_for
        )

    async def find_alternatives(
        self, view: FileView, pause_seconds: float | None = None
    ) -> tuple[Suggestion, ...]:
        """Ask for more suggestions beside the best, if the editor shows them. Raises ServiceUnavailable."""
        settings = self._settings
        if not settings.push or settings.limit_suggestions != 1:
            return ()
        return (await self._ask(view, self._least_threshold, _ALTERNATIVES, pause_seconds)).suggestions

    async def find_unsure(self, view: FileView) -> Suggestion | None:
        """Ask for the likeliest next edit, whether or not it is sure enough to be shown by itself."""
        edits = tuple(view.recorder.edits)
        try:
            prediction = await self._client.ask(_take_snapshot(view, edits), threshold=0.0)
        except ServiceUnavailable as error:
            _log.info("no candidate: %s", error)
            return None
        return answer_from_prediction(view, prediction, edits, self._dismissals, lambda _: 0.0).best

    async def find_everywhere(self, view: FileView) -> list[LikelyChange]:
        """Ask for all changes that would come next, one after another."""
        if self._model is None:
            return []

        async def ask(edits: tuple[Edit, ...]) -> schema.Prediction:
            snapshot = _take_snapshot(view, edits, prefix=False)
            return await self._client.ask(snapshot, threshold=self._threshold)

        try:
            return await find_likely_changes(view.recorder, self._model.limit_edits, ask)
        except ServiceUnavailable as error:
            _log.info("not everywhere: %s", error)
            return []

    def is_dismissed(self, view: FileView, likely: LikelyChange) -> bool:
        change = likely.change
        suggestion = Suggestion(change, view.document.slice(change.start, change.end), likely.confidence)
        return is_dismissed(view, suggestion, self._dismissals)

    async def _ask(self, view: FileView, threshold: float, limit: int, pause_seconds: float | None) -> Answer:
        edits = tuple(view.recorder.edits)
        snapshot = _take_snapshot(view, edits)
        choices = limit if self._least_threshold == self._threshold else max(limit, _CHOICES)
        prediction = await self._client.ask(
            snapshot, threshold=threshold, limit=choices, pause_seconds=pause_seconds
        )
        answer = answer_from_prediction(view, prediction, edits, self._dismissals, self._threshold_for)
        return replace(answer, suggestions=answer.suggestions[:limit])

    # --- the service ---

    @property
    def _threshold(self) -> float:
        if self._settings.threshold is not None:
            return self._settings.threshold
        if self._model is None:
            return _UNCALIBRATED_THRESHOLD
        return self._model.eagerness.get(self._settings.eagerness, self._model.threshold)

    @property
    def _least_threshold(self) -> float:
        """The least confidence that any suggestion needs."""
        return self._threshold * (1.0 if self._has_number else self._leanings.least)

    def _threshold_for(self, suggestion: Suggestion) -> float:
        if self._has_number:
            return self._threshold
        return self._leanings.threshold_for(suggestion.replacement, self._threshold)

    @property
    def _has_number(self) -> bool:
        """Has the user set a threshold? Then acceptances and dismissals do not change it."""
        return self._settings.threshold is not None

    async def _locate(self) -> Address:
        return self._address if self._service is None else await self._service.address()

    def _read_model(self, model: schema.ModelResponse) -> ServedModel:
        before = self._model
        is_same = before is not None and before.bundle == model.sha256
        thresholds = model.calibration.get("thresholds", {})
        return ServedModel(
            name=model.name,
            bundle=model.sha256,
            tokenizer=before.tokenizer if is_same and before is not None else Tokenizer(model.tokenizer),
            limit_edits=min(_LIMIT_EDITS, model.limit_edits),
            threshold=float(thresholds.get("hunk", _UNCALIBRATED_THRESHOLD)),
            eagerness={name: float(each) for name, each in model.calibration.get("eagerness", {}).items()},
        )

    def _run_in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)  # the loop itself does not hold on to tasks
        task.add_done_callback(self._background.discard)


def _take_snapshot(view: FileView, edits: tuple[Edit, ...], *, prefix: bool = True) -> Snapshot:
    recorder = view.recorder
    bursts = recorder.burst_ends
    if len(edits) > len(recorder.edits):  # edits that are not made yet are a burst of their own
        bursts.append(len(edits))
    return Snapshot(
        document=view.document.uri,
        state=recorder.state,
        edits=edits,
        cursor=recorder.cursor if prefix else None,
        prefix=recorder.prefix if prefix else "",
        bursts=tuple(bursts),
    )
