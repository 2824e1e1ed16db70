"""The wire, for POST and for the stream alike: requests, answers and errors.

Offsets count code points of a text; positions are implicit token positions (see `model.editing.edits`). Tokens are ids of one
vocabulary, so a request in tokens names the bundle it means by its hash.

**The stream.** One WebSocket, many documents; text messages, each one JSON object with a `type`.

- `open` gives a document's state and is answered by `opened` once it is encoded, or by `reopen` if newer sessions took its place
  before that. Opening again replaces the session.
- `edits` keeps the first `keep` edits and appends others. It has no answer of its own; that an edit cannot be applied is said
  when the next prediction is asked for. Its version is at least the one before.
- `predict` asks for suggestions at the newest version, that of the last `open` or `edits`; so a client whose text moved
  on without any edit (a half-typed name grew) sends `edits` with all kept and none appended. Each `predict` has exactly
  one answer: a `prediction`, a `reopen` or an `error`. One that a newer `predict` for the same document overtook while it
  waited is answered by the silence `superseded`. The silence `token-complete` says that the prefix is a whole name already:
  send it as an edit, and ask again without it.
- `close` forgets a document and has no answer. So does the end of the connection.
- `reopen` answers whatever names a document, a version or edits that the service does not have: the client sends `open`
  with its own snapshot and goes on. A session ends with its `reopen`.
- `error` answers a message that is wrong in itself, or an `open` that there is no room for now (`overloaded`: try again in a
  second). If it names a document, that document's session has ended too.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator

from model.editing.edits import DELETE, Edit

# One prediction is asked for at each keystroke; a list longer than this is nobody's next edit.
LIMIT_SUGGESTIONS = 10
# The tokenizer's lexical tokens are no longer than 64 code points.
LIMIT_PREFIX = 256
# A longer list is not read to its end. What a history holds is far less, and said in its own words.
_LIMIT_EDITS = 20_000
_LIMIT_NAME = 4096

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


class _Message(BaseModel):
    """What crosses the wire: nothing converted silently, nothing unknown ignored."""

    model_config = ConfigDict(strict=True, extra="forbid")


class TextEdit(_Message):
    """The code points from start to end become `text`, in the text that the edit before left."""

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
    """An edit of the model as it is spelled here."""
    return TokenEdit(position=edit.position, content=DELETE_WORD if edit.content == DELETE else edit.content)


def edit_from_wire(edit: TokenEdit) -> Edit:
    return Edit(edit.position, DELETE if edit.content == DELETE_WORD else edit.content)


class _Wish(_Message):
    until: Until = Field(
        default="token", description="Go on to the end of a lexical token, or of a whole hunk."
    )
    threshold: Confidence | None = Field(
        default=None, description="Least confidence to show; null is the bundle's own."
    )
    limit: Annotated[int, Field(ge=1, le=LIMIT_SUGGESTIONS)] = Field(
        default=1, description="How many distinct places."
    )


class _TokenWish(_Wish):
    """What is asked for in tokens."""

    cursor: Position | None = Field(
        default=None, description="Implicit position of the token to the left of the cursor."
    )
    prefix: Annotated[str, Field(max_length=LIMIT_PREFIX)] = Field(
        default="", description="Half-typed at the cursor, not part of the edits."
    )

    @model_validator(mode="after")
    def _prefix_has_a_place(self) -> Self:
        if self.prefix and self.cursor is None:
            raise ValueError("a prefix is half-typed at a cursor: say where")
        return self


class TextRequest(_Wish):
    """What a developer did to a text, in characters."""

    text: str = Field(description="The text before the edits.")
    edits: list[TextEdit] = Field(
        description="Oldest first, each to the text that the one before left.", max_length=_LIMIT_EDITS
    )
    cursor: Offset | None = Field(
        default=None, description="In the text after all edits. A half-typed name here is continued."
    )
    language: Annotated[str, Field(max_length=64)] | None = None

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


class TokenRequest(_TokenWish):
    """The same in tokens of the bundle with this hash."""

    state: list[TokenId] = Field(description="Begins with the start token 1 and ends with the end token 2.")
    edits: list[TokenEdit] = Field(max_length=_LIMIT_EDITS)
    bundle: Hash
    language: Annotated[str, Field(max_length=64)] | None = None


def _kind_of_request(value: Any) -> str:
    has_state = "state" in value if isinstance(value, dict) else hasattr(value, "state")
    return "tokens" if has_state else "text"


PredictRequest = Annotated[
    Annotated[TextRequest, Tag("text")] | Annotated[TokenRequest, Tag("tokens")],
    Discriminator(_kind_of_request),
]


class Suggestion(_Message):
    """One replacement: the code points from start to end become `text`.

    In an answer to POST these are in the text after all edits. In the stream they are in the text that the session's
    state and edits spell, without the prefix; a suggestion that continues the prefix spells it, and begins where it began.
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


class ModelName(_Message):
    name: str
    sha256: Hash


class Timings(_Message):
    """Milliseconds. Waiting is the time before a worker was free."""

    waiting: float = 0.0
    encode: float = 0.0
    step: float = 0.0
    predict: float = 0.0


# Reasons that the service itself adds to those of `model.inference.search`.
SUPERSEDED = "superseded"
NO_OP = "no-op"


class PredictResponse(_Message):
    suggestions: list[Suggestion]
    silence: str | None = Field(description="Why there is no suggestion; null when there is one.")
    model: ModelName
    timings: Timings


class Problem(_Message):
    """Every error: a stable code for programs and a sentence for people."""

    code: str
    message: str


class ModelResponse(_Message):
    """What a client must know to speak in tokens."""

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


class Feedback(_Message):
    """What became of suggestions; counted, never stored."""

    event: Literal["shown", "accepted", "dismissed"]
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    confidence: Confidence | None = None
    language: Annotated[str, Field(max_length=64)] | None = None

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


class Predict(_TokenWish):
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
    silence: str | None
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
