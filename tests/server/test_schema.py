"""The wire types: what is accepted, what is refused, and what crosses a version."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from model.editing.edits import DELETE, Edit
from model.silence import Silence
from server import schema

MODEL: dict[str, Any] = {
    "name": "tiny",
    "sha256": "0" * 64,
    "vocabulary_size": 384,
    "limit_tokens": 500,
    "limit_edits": 100,
    "calibration": {},
    "provider": "CPUExecutionProvider",
    "tokenizer": "{}",
}
QUESTION: dict[str, Any] = {"type": "predict", "document": "a.py", "version": 1}


@given(st.builds(Edit, st.integers(0, 2**31 - 1), st.just(DELETE) | st.integers(4, 2**31 - 1)))
def test_an_edit_comes_back_from_the_wire_as_it_went(edit: Edit) -> None:
    text = schema.wire_edit(edit).model_dump_json()
    assert schema.edit_from_wire(schema.TokenEdit.model_validate_json(text)) == edit


@pytest.mark.parametrize("content", [0, 1, 2, 3, -1, 2**31, "delete", 4.0, None])
def test_a_content_that_is_no_token_is_refused(content: object) -> None:
    with pytest.raises(ValidationError):
        schema.TokenEdit.model_validate_json(json.dumps({"position": 1, "content": content}))


@pytest.mark.parametrize("silence", Silence)
def test_a_silence_is_a_string_on_the_wire(silence: Silence) -> None:
    message = schema.Prediction(
        document="a.py", version=1, suggestions=[], silence=silence, timings=schema.Timings()
    )
    text = message.model_dump_json()
    assert json.loads(text)["silence"] == silence.value
    read = schema.server_message.validate_json(text)
    assert isinstance(read, schema.Prediction)
    assert read.silence is silence


def test_a_prefix_without_a_cursor_is_refused() -> None:
    with pytest.raises(ValidationError, match="a prefix is half-typed at a cursor"):
        schema.client_message.validate_json(json.dumps(QUESTION | {"prefix": "re"}))
    message = schema.client_message.validate_json(json.dumps(QUESTION | {"prefix": "re", "cursor": 3}))
    assert isinstance(message, schema.Predict)
    assert (message.cursor, message.prefix, message.until, message.threshold) == (3, "re", "token", None)


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 0},
        {"limit": schema.LIMIT_SUGGESTIONS + 1},
        {"threshold": 1.1},
        {"until": "line"},
        {"document": ""},
        {"version": "1"},
        {"colour": "red"},
        {"type": "ask"},
    ],
)
def test_what_the_protocol_does_not_know_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        schema.client_message.validate_json(json.dumps(QUESTION | change))


def test_an_error_is_told_by_its_field_and_never_by_its_value() -> None:
    with pytest.raises(ValidationError) as found:
        schema.client_message.validate_json(json.dumps(QUESTION | {"version": "hunter2"}))
    told = schema.explain_errors(found.value.errors(include_input=False))
    assert told.startswith("predict.version: ")
    assert "hunter2" not in told


def test_a_service_without_a_wire_version_speaks_the_first() -> None:
    assert schema.read_model(json.dumps(MODEL).encode()).wire_version == 1


def test_a_service_of_another_wire_version_is_refused_whatever_else_it_says() -> None:
    later = {"wire_version": schema.WIRE_VERSION + 1, "a field of tomorrow": True}
    with pytest.raises(schema.OtherWireVersion, match="update the older of the two"):
        schema.read_model(json.dumps(later).encode())


def test_something_else_than_a_service_is_no_other_version() -> None:
    with pytest.raises(ValidationError):
        schema.read_model(b'{"hello": "world"}')
