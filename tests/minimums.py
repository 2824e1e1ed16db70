"""Print the oldest version that each dependency allows, as constraints for pip: `make test-minimums` installs these."""

import re
import tomllib
from pathlib import Path

_PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def read_requirements() -> list[str]:
    """Read everything that serving needs from pyproject.toml."""
    project = tomllib.loads(_PYPROJECT.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["cpu"]]


def read_minimums() -> list[str]:
    """Return lines such as `fastapi==0.135`."""
    pattern = re.compile(r"^([\w.-]+)(?:\[.*?\])?>=([\d.]+),.*$")
    return [pattern.sub(r"\1==\2", requirement) for requirement in read_requirements()]


if __name__ == "__main__":
    print(*read_minimums(), sep="\n")
