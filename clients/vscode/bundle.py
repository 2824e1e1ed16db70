"""Copies our Python packages into `bundled/`, so that the vsix carries the language server, the service and the model.

The judge's learning comes along too. Networks stay out: torch never has to be installed where the extension runs.
"""

import shutil
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
TARGET = Path(__file__).resolve().parent / "bundled"
PACKAGES = ("lsp", "server", "model", "training")
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "networks", "*.pyc", "results", "LOG.md", "REPORT.md", "RESULTS.md", "*.png", "*.svg"
)
RUNTIME_EXTRA = "cpu"
# Files for the walkthrough; the tests play kinds of session in them.
EXAMPLES = ("track_list.ts", "config_store.go")


def requirements() -> list[str]:
    """The requirements of the packages: the project's dependencies and the runtime for any machine."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][RUNTIME_EXTRA]]


def main() -> None:
    """Makes `bundled/` anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    for package in PACKAGES:
        shutil.copytree(CHECKOUT / package, TARGET / package, ignore=LEFT_OUT)
    (TARGET / "walkthrough").mkdir()
    for name in EXAMPLES:
        shutil.copy(CHECKOUT / "tests" / "data" / "kinds" / name, TARGET / "walkthrough")
    lines = "\n".join(sorted(requirements()))
    (TARGET / "requirements.txt").write_text(f"{lines}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
