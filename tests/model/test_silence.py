"""Every silence can be explained to a user."""

import pytest

from model.silence import Silence


@pytest.mark.parametrize("silence", Silence)
def test_every_silence_has_one_plain_sentence(silence: Silence) -> None:
    assert silence.sentence.endswith(".")
    assert silence.sentence.count(".") == 1


def test_no_two_silences_read_the_same() -> None:
    assert len({silence.sentence for silence in Silence}) == len(Silence)
