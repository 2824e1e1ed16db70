import pytest

from lsp.fetch import ServiceUnavailable
from lsp.status import status_from_problem, status_from_silence
from model.silence import Silence


@pytest.mark.parametrize("silence", Silence)
def test_every_silence_has_a_status_with_its_sentence(silence: Silence) -> None:
    status = status_from_silence(silence)
    assert status.state in ("quiet", "off", "snoozed")
    assert status.reason == silence.value
    assert status.message == silence.sentence


def test_a_file_that_gets_nothing_is_off_not_quiet() -> None:
    assert status_from_silence(Silence.EXCLUDED).state == "off"
    assert status_from_silence(Silence.BELOW_THRESHOLD).state == "quiet"
    assert status_from_silence(Silence.SNOOZED).state == "snoozed"


def test_a_problem_is_trouble_with_its_own_words() -> None:
    status = status_from_problem(ServiceUnavailable("ended", "the service ended"))
    assert (status.state, status.reason, status.message) == ("trouble", "ended", "the service ended")
