"""A request -> edits of the model -> predictions -> suggestions. Sync, and without a word of HTTP."""

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import DELETE, END, START, Edit, Slots, State
from model.editing.lines import Lines
from model.editing.recorder import Recorder, steps_of
from model.editing.rendering import render
from model.editing.tokenizer import Tokenizer, lex
from model.inference.predictor import Predictor
from model.inference.search import Prediction as Predicted
from model.inference.search import Wish, decode
from model.inference.window import AnyHistory
from model.silence import Silence
from server.schema import (
    NO_OP,
    ModelName,
    Predict,
    PredictResponse,
    Suggestion,
    TextEdit,
    TextRequest,
    Timings,
    TokenEdit,
    TokenRequest,
    edit_from_wire,
    wire_edit,
)
from server.settings import Settings

TOKEN_COMPLETE = "token-complete"  # the half-typed name is a whole one: it is an edit after all
# A change is found by reading its line anew, and nobody writes a longer one by hand.
_LIMIT_LINE = 20_000


class Refused(Exception):
    """A request that is wrong in itself: a stable code, and a sentence without the user's text."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Question(NamedTuple):
    """A request in the model's terms."""

    state: State
    edits: list[Edit]
    sources: list[tuple[int, ...]]  # for each edit: the request's edits that it came from
    cursor: int | None = None  # slot to the left of the cursor
    prefix: str = ""
    prefix_start: int | None = None  # offset, when the request's text holds the prefix
    silence: str | None = None  # known before the model is asked


class Answer(NamedTuple):
    suggestions: list[Suggestion]
    silence: str | None


def answer_request(
    predictor: Predictor, request: TextRequest | TokenRequest, settings: Settings
) -> PredictResponse:
    """The stateless call: everything anew."""
    bundle = predictor.bundle
    began = time.perf_counter()
    if isinstance(request, TextRequest):
        question = question_from_text(request, predictor, settings)
    else:
        question = question_from_tokens(request, predictor, settings)
    history = predictor.open(question.state)
    encoded = time.perf_counter()
    bring(history, 0, question.edits)
    aim(history, question.cursor, question.prefix)
    stepped = time.perf_counter()
    answer = _answer_question(predictor, history, question, request)
    if answer.silence == TOKEN_COMPLETE and isinstance(request, TextRequest):
        whole = question_from_text(request, predictor, settings, has_prefix=False)
        history = history if whole.state == question.state else predictor.open(whole.state)
        bring(history, 0, whole.edits)
        aim(history, whole.cursor, whole.prefix)
        answer = _answer_question(predictor, history, whole, request)
    timings = Timings(
        encode=1000 * (encoded - began),
        step=1000 * (stepped - encoded),
        predict=1000 * (time.perf_counter() - stepped),
    )
    name = ModelName(name=bundle.name, sha256=bundle.sha256)
    return PredictResponse(
        suggestions=answer.suggestions, silence=answer.silence, model=name, timings=timings
    )


def answer_stream(predictor: Predictor, history: AnyHistory, message: Predict) -> Answer:
    """The streamed call: the history is there already, and looks where it should."""
    predictions, silence = _decode(predictor, history, message, message.cursor, message.prefix)
    made = _suggestions(predictor, history, predictions)
    return _answer(made, silence)


def limit_edits(predictor: Predictor) -> int:
    """How many past edits fit in a history."""
    return predictor.bundle.config.limit_history


def bring(history: AnyHistory, keep: int, append: Sequence[Edit]) -> None:
    """Bring a history level with its client."""
    try:
        history.keep(keep)
        history.append(append)
    except ValueError as error:
        raise Refused("invalid-edit", f"{error}.") from None


def aim(history: AnyHistory, cursor: int | None, prefix: str) -> None:
    """Let the model see the name that is being typed, wherever in a long file that is."""
    _check_cursor(history.slots, cursor)
    history.look_at(cursor if prefix else None)


def question_from_tokens(request: TokenRequest, predictor: Predictor, settings: Settings) -> Question:
    check_bundle(request.bundle, predictor)
    check_state(request.state, predictor, settings)
    edits = checked_edits(request.edits, predictor)
    sources: list[tuple[int, ...]] = [(index,) for index in range(len(edits))]
    return Question(tuple(request.state), edits, sources, request.cursor, request.prefix)


def question_from_text(
    request: TextRequest, predictor: Predictor, settings: Settings, *, has_prefix: bool = True
) -> Question:
    """Record a request's edits as the language server records a user's. `has_prefix` is false if the name at the cursor
    is finished."""
    _check_text(request, settings)
    changes = [Change(edit.start, edit.end, edit.text) for edit in request.edits]
    recorder = Recorder(predictor.bundle.require_tokenizer(), request.text, limit_edits(predictor))
    for step, seconds in steps_of(changes, _seconds_of(request.edits)):
        is_long = _has_long_line(recorder.text.lines, step)
        if not is_long:
            recorder.record(step, seconds)
        if is_long or _has_long_line(recorder.text.lines, step):
            return Question((START, END), [], [], silence=Silence.TOO_LONG)
    recorder.finish_name()
    if request.cursor is not None and has_prefix:
        recorder.resume_name(request.cursor)
    return _question(recorder, request)


def _question(recorder: Recorder, request: TextRequest) -> Question:
    sources: list[tuple[int, ...]] = []
    for burst in recorder.bursts:
        sources += [tuple(burst.changes)] * (burst.end - len(sources))
    name, cursor = recorder.partial, request.cursor
    if name is None and cursor is not None:
        slot: int | None = recorder.slot_before(cursor)
    else:
        slot = recorder.cursor
    is_rewritten = recorder.last_rebase == len(request.edits) > 0
    return Question(
        state=recorder.state,
        edits=recorder.edits,
        sources=sources,
        cursor=slot,
        prefix=recorder.prefix,
        prefix_start=None if name is None else name.start,
        silence=Silence.TOO_LONG if is_rewritten else None,
    )


def _check_text(request: TextRequest, settings: Settings) -> None:
    if len(request.text) > settings.limit_text:
        raise Refused("text-too-long", f"The text has more than {settings.limit_text} code points.")
    if len(request.edits) > settings.limit_edits:
        raise Refused("too-many-edits", f"More than {settings.limit_edits} edits: send the newest.")
    length = len(request.text)
    for index, edit in enumerate(request.edits):
        if not edit.start <= edit.end <= length:
            reason = f"change from {edit.start} to {edit.end} is outside a text of {length} characters"
            raise Refused("invalid-edit", f"Edit {index}: {reason}.")
        length += len(edit.text) - (edit.end - edit.start)
        if length > settings.limit_text:
            raise Refused("text-too-long", f"The text grows to more than {settings.limit_text} code points.")
    if request.cursor is not None and request.cursor > length:
        raise Refused("invalid-cursor", f"The cursor {request.cursor} is beyond the text's {length}.")


def _seconds_of(edits: Sequence[TextEdit]) -> list[float] | None:
    """The times of the edits; None if they have none."""
    times = [edit.time for edit in edits if edit.time is not None]
    if not times:
        return None
    if len(times) < len(edits):
        index = next(index for index, edit in enumerate(edits) if edit.time is None)
        raise Refused("invalid-edit", f"Edit {index}: it has no time, but others have one.")
    for index, (before, after) in enumerate(pairwise(times), start=1):
        if after < before:
            raise Refused("invalid-edit", f"Edit {index}: its time {after} is before the time {before}.")
    return [time / 1000 for time in times]


def _has_long_line(lines: Lines, step: Sequence[Change]) -> bool:
    """Is one of the lines that these changes touch, before or after, too long?"""
    touched = [
        segment
        for start, end, text in step
        for segment in lines.segments[
            lines.segment_at(start) : lines.segment_at(max(end, start + len(text))) + 1
        ]
    ]
    return max(map(len, touched)) > _LIMIT_LINE


def check_bundle(named: str, predictor: Predictor) -> None:
    if named != predictor.bundle.sha256:
        raise Refused(
            "other-bundle", "The tokens are of another bundle: ask /model for this one's tokenizer."
        )


def check_state(state: Sequence[int], predictor: Predictor, settings: Settings) -> None:
    size = len(predictor.bundle.require_tokenizer())
    if len(state) > settings.limit_tokens:
        raise Refused("state-too-long", f"The state has more than {settings.limit_tokens} tokens.")
    if len(state) < 2 or state[0] != START or state[-1] != END:
        raise Refused("invalid-state", f"A state begins with the start token {START} and ends with {END}.")
    inner = state[1:-1]
    if inner and not (min(inner) > DELETE and max(inner) < size):
        raise Refused("invalid-state", f"Between its ends a state has tokens from 4 to {size - 1}.")


def checked_edits(edits: Sequence[TokenEdit], predictor: Predictor, kept: int = 0) -> list[Edit]:
    limit, size = limit_edits(predictor), len(predictor.bundle.require_tokenizer())
    if kept + len(edits) > limit:
        raise Refused("too-many-edits", f"More than {limit} edits: fold the oldest into the state.")
    result = [edit_from_wire(edit) for edit in edits]
    for index, edit in enumerate(result):
        if edit.content >= size:
            raise Refused("invalid-edit", f"Edit {index}: this vocabulary has no token {edit.content}.")
    return result


def _answer_question(
    predictor: Predictor,
    history: AnyHistory,
    question: Question,
    request: TextRequest | TokenRequest,
) -> Answer:
    if question.silence is not None:
        return Answer([], question.silence)
    predictions, silence = _decode(predictor, history, request, question.cursor, question.prefix)
    placed = [_placed(each, question) for each in _suggestions(predictor, history, predictions)]
    return _answer([_told(each, question) for each in placed if each is not None], silence)


def _decode(
    predictor: Predictor,
    history: AnyHistory,
    request: TextRequest | TokenRequest | Predict,
    cursor: int | None,
    prefix: str,
) -> tuple[list[Predicted], str | None]:
    """Predictions, best first; or why there are none."""
    bundle = predictor.bundle
    threshold = (
        request.threshold if request.threshold is not None else bundle.calibration.threshold(request.until)
    )
    wish = Wish(until=request.until, limit=request.limit, threshold=threshold, cursor=cursor, prefix=prefix)
    decoded = decode(history, wish, bundle.require_tokenizer(), bundle.calibration)
    return decoded.predictions, decoded.silence


def _check_cursor(slots: Slots, cursor: int | None) -> None:
    if cursor is None:
        return
    try:
        is_end = slots.explicit_position(cursor) == len(slots.order) - 1
    except ValueError as error:
        raise Refused("invalid-cursor", f"The cursor's {error}.") from None
    if is_end:
        raise Refused("invalid-cursor", "The cursor is beyond the end token.")


def _answer(suggestions: list[Suggestion], silence: str | None) -> Answer:
    if suggestions:
        return Answer(suggestions, None)
    return Answer([], silence or NO_OP)


def _suggestions(
    predictor: Predictor, history: AnyHistory, predictions: Sequence[Predicted]
) -> list[Suggestion]:
    tokenizer = predictor.bundle.require_tokenizer()
    made = [_suggestion(history.slots, prediction, tokenizer) for prediction in predictions]
    return [suggestion for suggestion in made if suggestion is not None]


def _suggestion(slots: Slots, prediction: Predicted, tokenizer: Tokenizer) -> Suggestion | None:
    """None when the predicted tokens spell no text: half of a character cannot be shown."""
    try:
        change = render(slots, prediction.edits, tokenizer)
        change.text.encode()
    except UnicodeError:
        return None
    return Suggestion(
        start=change.start,
        end=change.end,
        text=change.text,
        confidence=min(1.0, max(0.0, prediction.confidence)),
        log_probability=min(0.0, prediction.log_probability),
        edits=[wire_edit(edit) for edit in prediction.edits],
        tokens=[token for run in _inserted(slots, prediction.edits) for token in _lexical(run, tokenizer)],
        because=list(prediction.because),
        continues_prefix=prediction.continues_prefix,
    )


def _inserted(slots: Slots, edits: Sequence[Edit]) -> list[list[int]]:
    """The inserted tokens, those apart that do not follow one another in the text."""
    runs: list[list[int]] = []
    last = -1  # the slot of the newest insertion
    for slot, edit in enumerate(edits, start=len(slots.contents)):
        if edit.content == DELETE:
            continue
        if edit.position != last:
            runs.append([])
        runs[-1].append(edit.content)
        last = slot
    return runs


def _lexical(tokens: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    return lex(b"".join(tokenizer.bytes_of[token] for token in tokens).decode("utf-8", "replace"))


def _placed(suggestion: Suggestion, question: Question) -> Suggestion | None:
    """From the text without the prefix, which it goes on from, to the text that has it; None when nothing is left."""
    begin, length = question.prefix_start, len(question.prefix)
    if begin is None:
        return suggestion
    if not suggestion.text.startswith(question.prefix) or suggestion.start != begin:
        return None
    rest = suggestion.text[length:]
    if not rest and suggestion.end == begin:
        return None
    return suggestion.model_copy(
        update={"start": begin + length, "end": suggestion.end + length, "text": rest}
    )


def _told(suggestion: Suggestion, question: Question) -> Suggestion:
    """With the request's own edits as reasons."""
    because = {source for index in suggestion.because for source in question.sources[index]}
    return suggestion.model_copy(update={"because": sorted(because)})
