"""Fine-tuning on a user's own history."""

from pathlib import Path

import pytest

from training.personal import tune

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"


def test_where_no_history_is_found_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ValueError, match="turn on 'record my edits'"):
        tune.prepare_own_history(_TINY)


def test_a_bundle_is_tuned_as_the_model_that_it_is() -> None:
    options = tune.defaults_for(_TINY)
    assert options["model"] == "IA-next"
    assert options["lr"] < 1e-3
