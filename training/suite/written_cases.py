"""Cases written by people: Markdown files with a text, the edits made to it and the edit that should come next.

    # Rename a local variable                  the title

    Two uses are renamed, two are left.        one sentence

    - language: python
    - status: right                            or known-weak: the shipped bundle does not get it yet

    ## Before                                  a fenced block with the whole file

    ## Edits                                   oldest first; the lines are those of the text at that time
    - line 3: `result = 0` -> `total = 0`

    ## Expected                                any of them is right; "Nothing." if silence is
    - line 5: `return result` -> `return total`

The old text must stand exactly once on its line.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from model.editing.change import Change
from training.suite.cases import Case

RIGHT, KNOWN_WEAK = "right", "known-weak"
_STATUSES = (RIGHT, KNOWN_WEAK)
_FIELD = re.compile(r"- (language|status): (\S+)")
_FENCE = re.compile(r"(`{3,})[^\n]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_EDIT = re.compile(r"- line (\d+): `(.+)` -> `(.*)`")


class WrittenCase(NamedTuple):
    """A case with its file's name, its title and the answer that the shipped bundle is known to give."""

    name: str
    title: str
    status: str
    case: Case


def read_written_cases(folder: Path) -> list[WrittenCase]:
    """All cases of a folder, by name."""
    cases = [parse_case(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))]
    if not cases:
        raise ValueError(f"{folder} has no cases: no file ends with .md")
    return cases


def parse_case(name: str, markdown: str) -> WrittenCase:
    """Read one case; a ValueError names the case and the fault."""
    try:
        head, *sections = re.split(r"^## ", markdown, flags=re.MULTILINE)
        named = dict(section.split("\n", 1) for section in sections)
        fields = dict(_FIELD.findall(head))
        if fields["status"] not in _STATUSES:
            raise ValueError(f"the status {fields['status']!r} is none of {', '.join(_STATUSES)}")
        return WrittenCase(
            name, head.split("\n", 1)[0].removeprefix("# "), fields["status"], _make_case(name, fields, named)
        )
    except KeyError as error:
        raise ValueError(f"case {name}: {error} is missing") from None
    except ValueError as error:
        raise ValueError(f"case {name}: {error}") from None


def _make_case(name: str, fields: dict[str, str], sections: dict[str, str]) -> Case:
    fence = _FENCE.search(sections["Before"])
    if fence is None:
        raise ValueError("Before has no fenced block")
    text = current = fence.group(2)
    edits: list[Change] = []
    for line, old, new in _find_edits(sections["Edits"]):
        edits.append(_make_change(current, line, old, new))
        current = edits[-1].apply_to(current)
    if not edits:
        raise ValueError("Edits names no edit")
    expected = [_make_change(current, *edit) for edit in _find_edits(sections["Expected"])]
    if not expected and sections["Expected"].strip() != "Nothing.":
        raise ValueError("Expected names no edit and does not say Nothing.")
    return Case(
        kind="repeat" if expected else "done",
        source="written",
        language=fields["language"],
        repository="",
        commit="",
        path=name,
        text=text,
        edits=tuple(edits),
        cursor=edits[-1].new_end,
        expected_text=expected[0].apply_to(current) if expected else None,
        also=tuple(expected[1:]),
    )


def _find_edits(section: str) -> Iterator[tuple[int, str, str]]:
    """The lines of a section: line number, old text, new text."""
    for line in section.strip().split("\n"):
        found = _EDIT.fullmatch(line.rstrip())
        if found is not None:
            yield int(found.group(1)), found.group(2), found.group(3)
        elif line.startswith("-"):
            raise ValueError(f"{line!r} is not of the form - line 3: `old` -> `new`")


def _make_change(text: str, line: int, old: str, new: str) -> Change:
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise ValueError(f"line {line} is outside a text of {len(lines)} lines")
    if lines[line - 1].count(old) != 1:
        raise ValueError(f"`{old}` stands {lines[line - 1].count(old)} times on line {line}, not once")
    start = sum(len(one) + 1 for one in lines[: line - 1]) + lines[line - 1].index(old)
    return Change(start, start + len(old), new)
