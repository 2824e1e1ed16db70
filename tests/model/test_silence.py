"""Every silence can be explained to a user."""

import pytest

from model.silence import Silence


@pytest.mark.parametrize("silence", Silence)
def test_every_silence_has_one_plain_sentence(silence: Silence) -> None:
    assert silence.sentence.endswith(".")
    assert silence.sentence.count(".") == 1


def test_no_two_silences_read_the_same() -> None:
    assert len({silence.sentence for silence in Silence}) == len(Silence)


@pytest.mark.parametrize("silence", Silence)
def test_a_silence_is_read_from_its_value(silence: Silence) -> None:
    assert Silence(silence.value) is silence


def test_an_unknown_silence_is_internal() -> None:
    assert Silence("of-another-version") is Silence.INTERNAL
