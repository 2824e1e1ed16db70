"""The program that makes the cases of the next-edit suite."""

from pathlib import Path

import pytest

from tests.training.test_mine import corpus_of, mirrors  # noqa: F401  (a fixture)
from training.cases import main
from training.suite.cases import KINDS, read_cases


def test_the_program_writes_all_kinds(
    mirrors: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [
        "--corpus",
        str(corpus_of(mirrors)),
        "--mirrors",
        str(mirrors),
        "--split",
        "dev",
        "--count",
        "8",
    ]
    assert main([*arguments, "--out", str(tmp_path / "cases.jsonl")]) == 0
    assert {case.kind for case in read_cases(tmp_path / "cases.jsonl")} <= set(KINDS)
    assert "replay on repeat" in capsys.readouterr().out
