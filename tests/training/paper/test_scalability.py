"""Time against length: every model at every length."""

from training.paper.scalability import measure_scalability
from training.paper.tasks import NGRAM_NAMES


def test_every_model_is_timed_at_every_length() -> None:
    values = measure_scalability(repetitions=1, hidden=8)
    assert set(values["seconds"]) == set(NGRAM_NAMES)
    assert all(set(times) == {"E", "IR", "IA-ag"} for times in values["seconds"].values())
    assert all(second > 0 for times in values["seconds"].values() for second in times.values())
