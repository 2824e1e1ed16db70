"""The wire, for POST and for the stream: requests, answers and errors.

Offsets count code points of a text; positions are implicit token positions (see `model.editing.edits`). Tokens are ids of one
vocabulary, so a request in tokens names the bundle it means by its hash.

**Versions.** `/model` tells the version of the wire. A client names its own as `/stream?wire=1`; the service refuses another
version with a sentence that says what to do. A client that names none speaks version 1.

**The stream.** One WebSocket, many documents; text messages, each one JSON object with a `type`.

- `open` gives a document's state and is answered by `opened` once it is encoded, or by `reopen` if newer sessions replaced it
  before that. Opening again replaces the session.
- `edits` keeps the first `keep` edits and appends others. It has no answer of its own; an edit that cannot be applied is
  reported when the next prediction is asked for. Its version is at least the one before.
- `predict` asks for suggestions at the newest version, that of the last `open` or `edits`; so a client whose text moved
  on without any edit (a half-typed name grew) sends `edits` with all kept and none appended. Each `predict` has exactly
  one answer: a `prediction`, a `reopen` or an `error`. One that a newer `predict` for the same document overtook while it
  waited is answered by the silence `superseded`. When the prefix is a whole name already, the service takes it as typed and
  answers for the text with it; see `Suggestion`.
- `close` forgets a document and has no answer. So does the end of the connection.
- `reopen` answers whatever names a document, a version or edits that the service does not have: the client sends `open`
  with its own snapshot and goes on. A session ends with its `reopen`.
- `error` answers a message that is wrong in itself, or an `open` that there is no room for now (`overloaded`: try again in a
  second). If it names a document, that document's session has ended too.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator

from model.editing.edits import DELETE, Edit
from model.silence import Silence

# One prediction is asked for at each keystroke; a longer list has no use in an editor.
LIMIT_SUGGESTIONS = 10
# The tokenizer's lexical tokens are no longer than 64 code points.
LIMIT_PREFIX = 256
# A longer list is not read to its end. A history holds far fewer edits, and has its own error for that.
_LIMIT_EDITS = 20_000
_LIMIT_NAME = 4096

WIRE_VERSION = 1
OTHER_WIRE_VERSION = "other-wire-version"

DELETE_WORD: Literal["DELETE"] = "DELETE"

Offset = Annotated[int, Field(ge=0, lt=2**31)]
Position = Annotated[int, Field(ge=0, lt=2**31)]
TokenId = Annotated[int, Field(ge=0, lt=2**31)]
Version = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
DocumentName = Annotated[str, Field(min_length=1, max_length=_LIMIT_NAME)]
Milliseconds = Annotated[int, Field(ge=0, lt=2**53)]  # from any moment that is the same for a whole request
Until = Literal["token", "hunk"]
Eagerness = Literal["quiet", "balanced", "eager"]
Language = Annotated[
    Annotated[str, Field(max_length=64)] | None, Field(description="Accepted for older clients; not used.")
]
# A string on the wire; a plain string is taken from our own code as well.
SilenceWord = Annotated[Silence, Field(strict=False)]


class _Message(BaseModel):
    """A JSON object on the wire. Nothing is converted silently, and unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid")


class TextEdit(_Message):
    """Replaces the code points from start to end by `text`, in the text that the edit before left."""

    start: Offset
    end: Offset
    text: str
    time: Milliseconds | None = Field(
        default=None,
        description="When it was made. Either all edits have a time or none has; edits of one time are one step, such as one key at "
        "several cursors. A long pause separates edits that touch.",
    )


class TokenEdit(_Message):
    """Insert content after position; or delete the token at position, when content is DELETE."""

    position: Position
    content: Annotated[int, Field(ge=4, lt=2**31)] | Literal["DELETE"]


def wire_edit(edit: Edit) -> TokenEdit:
    """Convert an edit of the model to the wire."""
    return TokenEdit(position=edit.position, content=DELETE_WORD if edit.content == DELETE else edit.content)


def edit_from_wire(edit: TokenEdit) -> Edit:
    """Convert an edit from the wire to the model's."""
    return Edit(edit.position, DELETE if edit.content == DELETE_WORD else edit.content)


class _Question(_Message):
    """The fields that all questions share."""

    until: Until = Field(
        default="token", description="Go on to the end of a lexical token, or of a whole hunk."
    )
    threshold: Confidence | None = Field(
        default=None, description="Least confidence to show; null leaves it to the eagerness."
    )
    eagerness: Eagerness | None = Field(
        default=None,
        description="A named threshold of the bundle for whole hunks; null is balanced. A threshold wins over it.",
    )
    pause: Milliseconds | None = Field(
        default=None,
        description="Milliseconds since the last edit. A change that is still being made is not repeated at once.",
    )
    limit: Annotated[int, Field(ge=1, le=LIMIT_SUGGESTIONS)] = Field(
        default=1, description="How many suggestions, each for another text range."
    )


class _TokenQuestion(_Question):
    """A question about tokens."""

    cursor: Position | None = Field(
        default=None, description="Implicit position of the token to the left of the cursor."
    )
    prefix: Annotated[str, Field(max_length=LIMIT_PREFIX)] = Field(
        default="", description="Half-typed at the cursor, not part of the edits."
    )

    bursts: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        default_factory=list,
        max_length=_LIMIT_EDITS,
        description="For each burst the number of edits up to its end. Without it, edits that touch belong together.",
    )

    @model_validator(mode="after")
    def _require_cursor_of_prefix(self) -> Self:
        if self.prefix and self.cursor is None:
            raise ValueError("a prefix is half-typed at a cursor: say where")
        return self


class TextRequest(_Question):
    """A text and the changes that a developer made to it, in characters."""

    text: str = Field(description="The text before the edits.")
    edits: list[TextEdit] = Field(
        description="Oldest first, each to the text that the one before left.", max_length=_LIMIT_EDITS
    )
    cursor: Offset | None = Field(
        default=None, description="In the text after all edits. A half-typed name here is continued."
    )
    language: Language = None

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "def total(items):\n    result = 0\n    for item in items:\n        result += item\n"
                    "    return result\n",
                    "edits": [
                        {"start": 22, "end": 28, "text": "amount"},
                        {"start": 64, "end": 70, "text": "amount"},
                    ],
                    "cursor": None,
                    "language": "python",
                    "until": "hunk",
                    "threshold": 0.0,
                    "limit": 1,
                }
            ]
        }
    )


class TokenRequest(_TokenQuestion):
    """A state and the edits made to it, in tokens of the bundle with this hash."""

    state: list[TokenId] = Field(description="Begins with the start token 1 and ends with the end token 2.")
    edits: list[TokenEdit] = Field(max_length=_LIMIT_EDITS)
    bundle: Hash
    language: Language = None


def _kind_of_request(value: Any) -> str:
    has_state = "state" in value if isinstance(value, dict) else hasattr(value, "state")
    return "tokens" if has_state else "text"


PredictRequest = Annotated[
    Annotated[TextRequest, Tag("text")] | Annotated[TokenRequest, Tag("tokens")],
    Discriminator(_kind_of_request),
]


class Suggestion(_Message):
    """One replacement: the code points from start to end become `text`.

    In an answer to a text these are in the text after all edits. In an answer to tokens they are in the text that the state
    and the edits spell, without the prefix; a suggestion that continues the prefix spells it, and begins where it began.
    Where the prefix was a whole name, `edits` begin with the insertion of the name, whatever the text range is.
    """

    start: Offset
    end: Offset
    text: str
    confidence: Confidence = Field(description="Calibrated: of those with 0.9, nine in ten are right.")
    log_probability: Annotated[float, Field(le=0.0)]
    edits: list[TokenEdit]
    tokens: list[str] = Field(description="The inserted lexical tokens.")
    because: list[int] = Field(description="Indices of the past edits that the prediction attended to most.")
    continues_prefix: bool = Field(
        default=False, description="It goes on from the half-typed name at the cursor."
    )
    places_left: Annotated[int, Field(ge=1)] = Field(
        default=1, description="Places where the same change is likely enough, this one included."
    )


class ModelName(_Message):
    name: str
    sha256: Hash


class Timings(_Message):
    """Milliseconds. Waiting is the time before a worker was free."""

    waiting: float = 0.0
    encode: float = 0.0
    step: float = 0.0
    predict: float = 0.0


class PredictResponse(_Message):
    suggestions: list[Suggestion]
    silence: SilenceWord | None = Field(description="Why there is no suggestion; null when there is one.")
    model: ModelName
    timings: Timings


class Problem(_Message):
    """An error: a stable code for programs and a sentence for people."""

    code: str
    message: str


class ModelResponse(_Message):
    """The bundle in use, with all that a client needs to speak in tokens."""

    name: str
    sha256: Hash
    vocabulary_size: int
    limit_tokens: int
    limit_edits: int = Field(
        description="More edits than this do not fit in a session: fold the oldest into the state."
    )
    calibration: dict[str, Any]
    provider: str
    tokenizer: str = Field(description="The tokenizer file: JSON.")
    wire_version: int = Field(
        default=WIRE_VERSION, description="The version of the wire that the service speaks."
    )


class Feedback(_Message):
    """Tells what a user did with suggestions; counted, never stored."""

    event: Literal["shown", "accepted", "dismissed"]
    count: Annotated[int, Field(ge=1, le=1000)] = 1

    model_config = ConfigDict(json_schema_extra={"examples": [{"event": "accepted", "count": 1}]})


class Status(_Message):
    status: Literal["ok"] = "ok"


# --- the stream: from the client ---


class Open(_Message):
    type: Literal["open"] = "open"
    document: DocumentName
    version: Version
    bundle: Hash
    state: list[TokenId]


class Edits(_Message):
    type: Literal["edits"] = "edits"
    document: DocumentName
    version: Version
    keep: Annotated[int, Field(ge=0, lt=2**31)]
    append: list[TokenEdit] = Field(max_length=_LIMIT_EDITS)


class Predict(_TokenQuestion):
    type: Literal["predict"] = "predict"
    document: DocumentName
    version: Version
    request: int | None = Field(
        default=None, description="Echoed in the answer, for clients that ask more than one at a time."
    )


class Close(_Message):
    type: Literal["close"] = "close"
    document: DocumentName


ClientMessage = Annotated[Open | Edits | Predict | Close, Field(discriminator="type")]
client_message: TypeAdapter[Open | Edits | Predict | Close] = TypeAdapter(ClientMessage)


# --- the stream: from the service ---


class Opened(_Message):
    type: Literal["opened"] = "opened"
    document: str
    version: int


class Prediction(_Message):
    type: Literal["prediction"] = "prediction"
    document: str
    version: int
    suggestions: list[Suggestion]
    silence: SilenceWord | None
    timings: Timings
    request: int | None = None


class Reopen(_Message):
    type: Literal["reopen"] = "reopen"
    document: str
    version: int
    reason: str
    request: int | None = None


class StreamError(_Message):
    type: Literal["error"] = "error"
    code: str
    message: str
    document: str | None = Field(default=None, description="Null for a message that could not be read.")
    version: int | None = None
    request: int | None = None


ServerMessage = Annotated[Opened | Prediction | Reopen | StreamError, Field(discriminator="type")]
server_message: TypeAdapter[Opened | Prediction | Reopen | StreamError] = TypeAdapter(ServerMessage)


# --- versions and errors ---


class OtherWireVersion(Exception):
    """The other side speaks another version of the wire. The message says what to do."""


class _WireVersion(BaseModel):
    """The one field of `/model` that every version has; a service without it speaks version 1."""

    wire_version: int = 1


def read_model(body: bytes) -> ModelResponse:
    """Read the answer of `/model`. Raises OtherWireVersion before fields of another version can confuse it."""
    theirs = _WireVersion.model_validate_json(body).wire_version
    if theirs != WIRE_VERSION:
        raise OtherWireVersion(
            f"The service speaks version {theirs} of the wire and this editor's language server version {WIRE_VERSION}:"
            " update the older of the two, and restart both."
        )
    return ModelResponse.model_validate_json(body)


def explain_wire_version(theirs: str) -> str:
    """Say what to do about a client that speaks another version. The client's own word is not repeated at length."""
    return (
        f"This service speaks version {WIRE_VERSION} of the wire and the client version {theirs[:8]}:"
        " update the older of the two, and restart both."
    )


def explain_errors(errors: Sequence[Any]) -> str:
    """Say where the first error of a message is and what it is, never the value itself."""
    field = ".".join(map(str, errors[0]["loc"]))
    return f"{field}: {errors[0]['msg']}." if field else f"{errors[0]['msg']}."
