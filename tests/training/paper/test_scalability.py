"""Time against length: every model at every length."""

import pytest

from training.paper import scalability


def test_every_model_is_timed_at_every_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalability, "NGRAM_NAMES", ("NGram10",))
    monkeypatch.setattr(scalability, "_BATCH", 2)
    monkeypatch.setattr(scalability, "_SEQUENCES", 4)
    values = scalability.measure_scalability(repetitions=1, hidden=8)
    assert set(values["seconds"]) == {"NGram10"}
    assert set(values["seconds"]["NGram10"]) == {"E", "IR", "IA-ag"}
    assert all(seconds > 0 for seconds in values["seconds"]["NGram10"].values())
