"""A request -> edits of the model -> decoded edits -> suggestions. Synchronous, and without HTTP."""

import time
from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import DELETE, END, START, Edit, Slots, State
from model.editing.lines import Lines
from model.editing.recorder import Recorder, steps_of
from model.editing.rendering import render
from model.editing.tokenizer import Tokenizer, lex
from model.inference.history import AnyHistory, History
from model.inference.predictor import Predictor
from model.inference.search import Decoded, DecodedEdits, Wish, decode
from model.inference.window import WindowedHistory
from model.proposals.suggester import StreamFacts, Suggester
from model.silence import Silence
from server.schema import (
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

# Each change tokenizes its line again, and a longer line is not written by hand.
_LIMIT_LINE = 20_000
_DEFAULT_EAGERNESS = "balanced"
_LEAST_PROBABILITY = 1e-9


class Refused(Exception):
    """A request that is wrong in itself, with a stable code and a sentence without the user's text."""

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
    bursts: tuple[int, ...] = ()  # for each burst the number of edits up to its end
    silence: str | None = None  # known before the model is asked


class Outcome(NamedTuple):
    """Suggestions, best first, or the reason why there are none."""

    suggestions: list[Suggestion]
    silence: Silence | None


def answer_request(
    predictor: Predictor, request: TextRequest | TokenRequest, settings: Settings
) -> PredictResponse:
    """Answer a stateless call: everything is computed from the request."""
    bundle = predictor.bundle
    began = time.perf_counter()
    if isinstance(request, TextRequest):
        question = question_from_text(request, predictor, settings)
    else:
        question = question_from_tokens(request, predictor, settings)
    history = predictor.open(question.state)
    encoded = time.perf_counter()
    sync_history(history, 0, question.edits)
    look_at_cursor(history, question.cursor, question.prefix)
    stepped = time.perf_counter()
    if question.silence is not None:
        outcome = Outcome([], Silence(question.silence))
    elif isinstance(request, TextRequest):
        outcome = _answer_text(predictor, history, question, request, settings)
    else:
        outcome = _answer_tokens(predictor, history, _make_token_wish(request))
    timings = Timings(
        encode=1000 * (encoded - began),
        step=1000 * (stepped - encoded),
        predict=1000 * (time.perf_counter() - stepped),
    )
    name = ModelName(name=bundle.name, sha256=bundle.sha256)
    return PredictResponse(
        suggestions=outcome.suggestions, silence=outcome.silence, model=name, timings=timings
    )


def answer_stream(
    predictor: Predictor, history: AnyHistory, message: Predict, *, with_network: bool = True
) -> Outcome:
    """Answer a streamed question: the history has its edits already, and its window shows the cursor."""
    return _answer_tokens(predictor, history, _make_token_wish(message), with_network=with_network)


def can_do_without_network(predictor: Predictor, message: Predict) -> bool:
    """Tell whether plain evidence can answer a question, while the network has not seen the state yet."""
    return predictor.suggester is not None and message.until == "hunk"


def limit_edits(predictor: Predictor) -> int:
    """Tell how many past edits fit in a history."""
    return predictor.bundle.config.limit_history


def sync_history(history: AnyHistory, keep: int, append: Sequence[Edit]) -> None:
    """Give a history the edits of its client: keep the first ones, append the others."""
    try:
        history.keep(keep)
        history.append(append)
    except ValueError as error:
        raise Refused("invalid-edit", f"{error}.") from None


def look_at_cursor(history: AnyHistory, cursor: int | None, prefix: str) -> None:
    """Let the window of a long file show the name that is being typed."""
    _check_cursor(history.slots, cursor)
    if isinstance(history, WindowedHistory):
        history.look_at(cursor if prefix else None)


def needs_encoding(history: AnyHistory) -> bool:
    """Tell whether the next prediction encodes a state first, which takes long."""
    return isinstance(history, WindowedHistory) and history.needs_encoding


def question_from_tokens(request: TokenRequest, predictor: Predictor, settings: Settings) -> Question:
    check_bundle(request.bundle, predictor)
    check_state(request.state, predictor, settings)
    edits = read_edits(request.edits, predictor)
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
        bursts=tuple(recorder.burst_ends),
        silence=Silence.TOO_LONG if is_rewritten else None,
    )


def _check_text(request: TextRequest, settings: Settings) -> None:
    if len(request.text) > settings.limit_text:
        raise Refused("text-too-long", f"The text has more than {settings.limit_text} code points.")
    if len(request.edits) > settings.limit_edits:
        raise Refused("too-many-edits", f"More than {settings.limit_edits} edits: send the newest.")
    length, work = len(request.text), 0
    for index, edit in enumerate(request.edits):
        work += length
        if work > settings.limit_work:
            reason = f"the text is so long that at most {index} edits fit: send the newest"
            raise Refused("too-much-work", f"Edit {index}: {reason}.")
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


def read_edits(edits: Sequence[TokenEdit], predictor: Predictor, kept: int = 0) -> list[Edit]:
    """Convert edits from the wire; refuse tokens that the vocabulary does not have, and more edits than fit."""
    limit, size = limit_edits(predictor), len(predictor.bundle.require_tokenizer())
    if kept + len(edits) > limit:
        raise Refused("too-many-edits", f"More than {limit} edits: fold the oldest into the state.")
    result = [edit_from_wire(edit) for edit in edits]
    for index, edit in enumerate(result):
        if edit.content >= size:
            raise Refused("invalid-edit", f"Edit {index}: this vocabulary has no token {edit.content}.")
    return result


def _make_token_wish(request: TokenRequest | Predict) -> Wish:
    return _make_wish(request, request.cursor, request.prefix, tuple(request.bursts))


def _make_wish(
    request: TextRequest | TokenRequest | Predict, cursor: int | None, prefix: str, bursts: tuple[int, ...]
) -> Wish:
    """Put a request's question in the words of the search."""
    return Wish(
        until=request.until,
        limit=request.limit,
        threshold=request.threshold,
        cursor=cursor,
        prefix=prefix,
        eagerness=request.eagerness or _DEFAULT_EAGERNESS,
        burst_ends=bursts,
        pause_seconds=None if request.pause is None else request.pause / 1000,
    )


def _answer_text(
    predictor: Predictor,
    history: History | WindowedHistory,
    question: Question,
    request: TextRequest,
    settings: Settings,
) -> Outcome:
    """Answer in the text of the request, which has the half-typed name."""
    wish = _make_wish(request, question.cursor, question.prefix, question.bursts)
    if predictor.suggester is not None and wish.until == "hunk":
        outcome = _judge(predictor, predictor.suggester, history, wish)
        return Outcome([_name_sources(each, question) for each in outcome.suggestions], outcome.silence)
    decoded = _decode(predictor, history, wish)
    if decoded.name:  # the prefix is a whole name: read the request again with the name among its edits
        question = question_from_text(request, predictor, settings, has_prefix=False)
        if tuple(history.slots.contents[: history.slots.state_length]) != question.state:
            history = predictor.open(question.state)
        sync_history(history, 0, question.edits)
        look_at_cursor(history, question.cursor, question.prefix)
        wish = _make_wish(request, question.cursor, question.prefix, question.bursts)
        decoded = _decode(predictor, history, wish)
    suggestions = [_skip_prefix(each, question) for each in _render_all(predictor, history, decoded)]
    named = [_name_sources(each, question) for each in suggestions if each is not None]
    return Outcome(named, None if named else decoded.silence or Silence.NO_OP)


def _answer_tokens(
    predictor: Predictor, history: AnyHistory, wish: Wish, *, with_network: bool = True
) -> Outcome:
    """Answer in the text of the state and the edits, which does not have the half-typed name."""
    if predictor.suggester is not None and wish.until == "hunk":
        return _judge_tokens(predictor, predictor.suggester, history, wish, with_network=with_network)
    decoded = _decode(predictor, history, wish)
    if decoded.name:
        return _answer_after_name(predictor, history, wish, decoded.name)
    suggestions = _render_all(predictor, history, decoded)
    return Outcome(suggestions, None if suggestions else decoded.silence or Silence.NO_OP)


def _judge(
    predictor: Predictor, suggester: Suggester, history: AnyHistory, wish: Wish, *, with_network: bool = True
) -> Outcome:
    """Answer a question about hunks in the editor's text, which has the half-typed word."""
    calibration = predictor.bundle.calibration
    threshold = (
        wish.threshold if wish.threshold is not None else calibration.threshold("hunk", wish.eagerness)
    )
    facts = StreamFacts(wish.burst_ends, wish.pause_seconds, wish.cursor, wish.prefix)
    judgement = suggester.suggest(history, facts, threshold, wish.limit, with_network=with_network)
    word = [wire_edit(edit) for edit in judgement.word_edits]
    suggestions = [
        Suggestion(
            start=each.change.start,
            end=each.change.end,
            text=each.change.text,
            confidence=each.confidence,
            log_probability=log(max(_LEAST_PROBABILITY, min(1.0, each.confidence))),
            edits=[*word, *(wire_edit(edit) for edit in each.edits)],
            tokens=lex(each.change.text),
            because=list(each.because),
            places_left=each.places_left,
        )
        for each in judgement.changes
    ]
    return Outcome(suggestions, judgement.silence)


def _judge_tokens(
    predictor: Predictor, suggester: Suggester, history: AnyHistory, wish: Wish, *, with_network: bool = True
) -> Outcome:
    """Answer a question about hunks in the text of the state and the edits, which does not have the half-typed word."""
    outcome = _judge(predictor, suggester, history, wish, with_network=with_network)
    if not wish.prefix or not outcome.suggestions or wish.cursor is None:
        return outcome
    tokenizer = predictor.bundle.require_tokenizer()
    begin = render(
        history.slots, [Edit(wish.cursor, tokenizer.encode_segment(wish.prefix)[0])], tokenizer
    ).start
    suggestions = [_take_out_name(each, begin, wish.prefix) for each in outcome.suggestions]
    kept = [each for each in suggestions if each is not None]
    return Outcome(kept, None if kept else Silence.NO_TEXT_RANGE)


def _answer_after_name(
    predictor: Predictor, history: AnyHistory, wish: Wish, name: tuple[Edit, ...]
) -> Outcome:
    """Answer for the text with a name that is whole, though the client still counts it as half-typed."""
    known, begin = len(history.slots.edits), _offset_after(predictor, history.slots, name)
    with history.try_edits():
        history.append(name)
        decoded = _decode(predictor, history, wish._replace(cursor=None, prefix=""))
        found = _render_all(predictor, history, decoded)
    wire_name = [wire_edit(edit) for edit in name]
    suggestions = []
    for each in found:
        without = _take_out_name(each, begin, wish.prefix)
        if without is not None:
            because = [index for index in each.because if index < known]
            update = {"edits": [*wire_name, *each.edits], "because": because}
            suggestions.append(without.model_copy(update=update))
    if suggestions:
        return Outcome(suggestions, None)
    return Outcome([], decoded.silence or (Silence.NO_TEXT_RANGE if found else Silence.NO_OP))


def _offset_after(predictor: Predictor, slots: Slots, name: tuple[Edit, ...]) -> int:
    """Give the offset at which a name's edits insert it."""
    return render(slots, name, predictor.bundle.require_tokenizer()).start


def _take_out_name(suggestion: Suggestion, begin: int, name: str) -> Suggestion | None:
    """Convert a suggestion for the text with a name at `begin` to the text without it; None when it changes the name.

    A suggestion right after the name continues it: so it spells the name, and begins where the name began."""
    start, end, text = suggestion.start, suggestion.end, suggestion.text
    after = begin + len(name)
    if start < begin and end <= begin:
        return suggestion
    if start > after:
        return suggestion.model_copy(update={"start": start - len(name), "end": end - len(name)})
    if start == after:
        text, start = name + text, begin
    if start == begin and end >= after and text.startswith(name):
        update = {"start": begin, "end": end - len(name), "text": text, "continues_prefix": True}
        return suggestion.model_copy(update=update)
    return None


def _decode(predictor: Predictor, history: AnyHistory, wish: Wish) -> Decoded:
    bundle = predictor.bundle
    return decode(history, wish, bundle.require_tokenizer(), bundle.calibration)


def _check_cursor(slots: Slots, cursor: int | None) -> None:
    if cursor is None:
        return
    try:
        is_end = slots.explicit_position(cursor) == len(slots.order) - 1
    except ValueError as error:
        raise Refused("invalid-cursor", f"The cursor's {error}.") from None
    if is_end:
        raise Refused("invalid-cursor", "The cursor is beyond the end token.")


def _render_all(predictor: Predictor, history: AnyHistory, decoded: Decoded) -> list[Suggestion]:
    tokenizer = predictor.bundle.require_tokenizer()
    rendered = [_render(history.slots, each, tokenizer) for each in decoded.predictions]
    return [suggestion for suggestion in rendered if suggestion is not None]


def _render(slots: Slots, decoded: DecodedEdits, tokenizer: Tokenizer) -> Suggestion | None:
    """Render decoded edits as one replacement; None when their tokens spell no text, such as half of a character."""
    try:
        change = render(slots, decoded.edits, tokenizer)
        change.text.encode()
    except UnicodeError:
        return None
    return Suggestion(
        start=change.start,
        end=change.end,
        text=change.text,
        confidence=min(1.0, max(0.0, decoded.confidence)),
        log_probability=min(0.0, decoded.log_probability),
        edits=[wire_edit(edit) for edit in decoded.edits],
        tokens=[token for run in _find_inserted(slots, decoded.edits) for token in _lex(run, tokenizer)],
        because=list(decoded.because),
        continues_prefix=decoded.continues_prefix,
    )


def _find_inserted(slots: Slots, edits: Sequence[Edit]) -> list[list[int]]:
    """Find the inserted tokens, as runs that follow one another in the text."""
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


def _lex(tokens: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    return lex(b"".join(tokenizer.bytes_of[token] for token in tokens).decode("utf-8", "replace"))


def _skip_prefix(suggestion: Suggestion, question: Question) -> Suggestion | None:
    """Convert a suggestion that spells the prefix to the text that has the prefix; None when nothing is left."""
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


def _name_sources(suggestion: Suggestion, question: Question) -> Suggestion:
    """Name the request's own edits as reasons."""
    because = {source for index in suggestion.because for source in question.sources[index]}
    return suggestion.model_copy(update={"because": sorted(because)})
