"""The program that shows the synthetic tasks."""

import pytest

from training.synthetic import main


def test_instances_of_a_task_are_printed_one_state_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--task", "Append1", "--count", "1"]) == 0
    lines = capsys.readouterr().out.split()
    assert len(lines) >= 4
    assert all(set(line) <= set("ABCDEFGHIJ") for line in lines)
    assert len(lines[-1]) == len(lines[0]) + len(lines) - 1


def test_an_unknown_task_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--task", "Append9"])
    assert "Append1" in capsys.readouterr().err


def test_without_options_it_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "--table" in capsys.readouterr().out
