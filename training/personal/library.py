"""The library of a user's own bundles: install, list, go back. The last few are kept with their reports."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.inference.bundle import Bundle
from model.inference.personal import BUNDLE, read_current, write_current

ABOUT, REPORT = "about.json", "report.html"
KEPT = 3  # bundles, with the refused ones
SHIPPED = "shipped"  # the name that goes back to the bundle that ships


@dataclass(frozen=True)
class Entry:
    """One bundle of the library."""

    name: str
    folder: Path
    about: dict[str, Any]
    is_current: bool

    @property
    def bundle(self) -> Path:
        return self.folder / BUNDLE

    @property
    def is_installed(self) -> bool:
        """Did it pass the gate?"""
        return bool(self.about.get("is_better"))

    @property
    def report(self) -> Path:
        return self.folder / REPORT


class Library:
    """The bundles in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entries(self) -> list[Entry]:
        """All bundles, oldest first."""
        current = read_current(self.folder)
        found = []
        for path in sorted(self.folder.glob(f"*/{ABOUT}")):
            try:
                about = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue  # another program's, or damaged: neither to be used nor removed
            if not path.parent.name.endswith(".partial"):
                found.append(Entry(path.parent.name, path.parent, about, path.parent.name == current))
        return found

    def add(self, name: str, bundle: Path, report: str, about: dict[str, Any]) -> Entry:
        """Copy a bundle and its report into the library. It appears whole or not at all, and is not in use yet."""
        Bundle.load(bundle)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial, folder = self.folder / f"{name}.partial", self.folder / name
        shutil.rmtree(partial, ignore_errors=True)
        try:
            shutil.copytree(bundle, partial / BUNDLE)
            (partial / REPORT).write_text(report, encoding="utf-8")
            (partial / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(partial, folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return Entry(name, folder, about, is_current=False)

    def use(self, name: str) -> Entry:
        """Use a bundle from now on, after a check that it is whole."""
        entry = self._find(name)
        Bundle.load(entry.bundle)
        write_current(self.folder, entry.name)
        return entry

    def restore(self, name: str | None) -> str:
        """Go back to a bundle, or without a name to the installed one before; return the name of the one in use."""
        if name == SHIPPED:
            write_current(self.folder, None)
            return SHIPPED
        if name is not None:
            return self.use(name).name
        current = read_current(self.folder)
        if current is None:
            raise ValueError(
                "the shipped bundle is in use, so there is nothing to go back from;"
                " python -m training.fit --list shows what is kept"
            )
        before = [entry.name for entry in self.entries() if entry.is_installed and entry.name < current]
        return self.restore(before[-1] if before else SHIPPED)

    def trim(self) -> None:
        """Remove all but the newest bundles. The one in use always stays."""
        entries = self.entries()
        for entry in [each for each in entries if not each.is_current][:-KEPT]:
            shutil.rmtree(entry.folder, ignore_errors=True)

    def describe(self) -> str:
        """A line for each bundle."""
        lines = [
            f"{'*' if entry.is_current else ' '} {entry.name}  {entry.about.get('summary', '')}\n"
            f"    {entry.report}"
            for entry in self.entries()
        ]
        mark = " " if any(entry.is_current for entry in self.entries()) else "*"
        return "\n".join([f"{mark} {SHIPPED}  the bundle that came with Likewise", *lines])

    def _find(self, name: str) -> Entry:
        found = {entry.name: entry for entry in self.entries()}
        if name not in found:
            known = ", ".join([SHIPPED, *found])
            raise ValueError(f"there is no bundle {name!r}; there are {known}")
        return found[name]
