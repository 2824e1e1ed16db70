"""The declared bounds of other packages, and the versions that we test with."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.minimums import read_minimums, read_requirements

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"^[\w.-]+")


def canonical(requirement: str) -> str:
    found = NAME.match(requirement)
    assert found is not None, requirement
    return found[0].lower().replace("_", "-")


def test_every_dependency_has_two_ends() -> None:
    for requirement in read_requirements():
        assert re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+,<\d+", requirement), requirement


def test_the_minimums_are_the_lower_ends() -> None:
    assert [canonical(line) for line in read_minimums()] == [canonical(line) for line in read_requirements()]
    assert all(re.fullmatch(r"[\w.-]+==[\d.]+", line) for line in read_minimums())


def test_the_constraints_name_every_dependency_and_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert {canonical(line) for line in read_requirements()} <= {canonical(line) for line in lines}


def test_of_ray_the_lower_end_is_the_version_that_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for extra in ("ray", "ray-train"):
        (requirement,) = project["optional-dependencies"][extra]
        found = re.fullmatch(r"ray\[\w+\]>=([\d.]+),<3", requirement)
        assert found is not None, requirement
        assert f"\nray=={found[1]}." in constraints


def test_the_makefile_asks_for_minimums_that_python_can_print() -> None:
    command = [sys.executable, str(ROOT / "tests" / "minimums.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == read_minimums()
