"""The status of the language server, for `likewise/status`."""

from dataclasses import dataclass

from lsp.fetch import ServiceUnavailable
from model.silence import Silence

_STATES = {
    Silence.SNOOZED: "snoozed",
    Silence.LANGUAGE_OFF: "off",
    Silence.EXCLUDED: "off",
    Silence.EXCLUDED_SCHEME: "off",
    Silence.TOO_LARGE: "off",
}


@dataclass(frozen=True)
class EditorStatus:
    """One word for the state, one for the reason, and a sentence for the user."""

    state: str  # starting, ready, thinking, quiet, snoozed, off or trouble
    reason: str
    message: str


STARTING = EditorStatus("starting", "starting", "the service is being started")
THINKING = EditorStatus("thinking", "asked", "waiting for the model")


def ready_with(bundle: str) -> EditorStatus:
    """Ready, and which bundle answers."""
    return EditorStatus("ready", "connected", f"Likewise is ready, with the bundle {bundle}.")


def status_from_silence(silence: Silence) -> EditorStatus:
    return EditorStatus(_STATES.get(silence, "quiet"), silence.value, silence.sentence)


def status_from_problem(problem: ServiceUnavailable) -> EditorStatus:
    return EditorStatus("trouble", problem.reason, str(problem))
