"""Why nothing is suggested: every reason, with the sentence that a user reads."""

from enum import StrEnum


class Silence(StrEnum):
    """The reason for having no suggestion. The values are stable: they are on the wire."""

    # The text so far gives no reason to speak.
    NOTHING_EDITED = "nothing-edited"
    STOP_PREDICTED = "stop-predicted"
    BELOW_THRESHOLD = "below-threshold"
    NO_OP = "no-op"
    UNDO = "undo"
    TOO_LONG = "too-long"
    NO_TEXT_RANGE = "no-text-range"
    # The user said so.
    DISMISSED = "dismissed"
    SNOOZED = "snoozed"
    LANGUAGE_OFF = "language-off"
    EXCLUDED = "excluded"
    EXCLUDED_SCHEME = "excluded-scheme"
    SECRET = "secret"
    TOO_LARGE = "too-large"
    LONG_LINE = "long-line"
    # The question came at the wrong time.
    NOT_OPEN = "not-open"
    STALE = "stale"
    SUPERSEDED = "superseded"
    NO_SERVICE = "no-service"
    DEADLINE = "deadline"
    INTERNAL = "internal"

    @classmethod
    def _missing_(cls, value: object) -> "Silence":
        """Read an unknown value as INTERNAL: a service of another version may name a silence of its own."""
        return cls.INTERNAL

    @property
    def sentence(self) -> str:
        """The reason in a user's words."""
        return _SENTENCES[self]


_SENTENCES = {
    Silence.NOTHING_EDITED: "You have not changed anything yet.",
    Silence.STOP_PREDICTED: "Your last change looks complete.",
    Silence.BELOW_THRESHOLD: "No next edit is likely enough.",
    Silence.NO_OP: "The likeliest next edit changes nothing.",
    Silence.UNDO: "The likeliest next edit would undo what you just did.",
    Silence.TOO_LONG: "The likeliest next edit is too long to suggest.",
    Silence.NO_TEXT_RANGE: "The likeliest next edit does not fit the text any more.",
    Silence.DISMISSED: "You dismissed this suggestion.",
    Silence.SNOOZED: "Suggestions are snoozed.",
    Silence.LANGUAGE_OFF: "Suggestions are off for this language.",
    Silence.EXCLUDED: "This file is excluded because it may hold secrets.",
    Silence.SECRET: "A key, token or password stands in this file: it is left alone until you open it again without.",
    Silence.EXCLUDED_SCHEME: "Only files on disk and untitled files get suggestions.",
    Silence.TOO_LARGE: "This file is too large.",
    Silence.LONG_LINE: "You changed a very long line: this file is left alone until you open it again.",
    Silence.NOT_OPEN: "This file is not open.",
    Silence.STALE: "The text has changed since the question.",
    Silence.SUPERSEDED: "A newer question replaced this one.",
    Silence.NO_SERVICE: "The service is not running.",
    Silence.DEADLINE: "The service did not answer in time.",
    Silence.INTERNAL: "Something failed inside Likewise; the log says what.",
}
