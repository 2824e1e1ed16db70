"""The kinds of session: 17 small refactorings that people make by hand, each in one real file.

A kind is a file that is at hand (a module of Python's standard library, an installed package, or a file written for the tests)
and the *sites* at which the change is made, found by code in that file. A site is a whole expression and its new text, so the
final text is known. Nothing of the standard library or of a package is kept in this repository.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from model.editing.change import Change

WRITTEN_FILES = Path(__file__).parents[2] / "tests" / "data" / "kinds"
_LEAST_SITES = 4

Sites = Iterable[Change]


class Session(NamedTuple):
    """A text, and the sites to change in it, top to bottom, with offsets in that text."""

    name: str
    path: Path
    before: str
    sites: tuple[Change, ...]


class SessionKind(NamedTuple):
    """A kind of session: the file, and how to find its sites."""

    name: str
    file: str  # the name of a module, or of a file written for the tests
    find_sites: Callable[[str], Sites]

    def read(self) -> Session:
        """Read the file and find the sites."""
        path = _path_of(self.file)
        text = path.read_text(encoding="utf-8")
        found = sorted(
            change for change in self.find_sites(text) if text[change.start : change.end] != change.text
        )
        sites = tuple(found)
        if len(sites) < _LEAST_SITES:
            raise ValueError(f"{self.name}: {path} has only {len(sites)} sites")
        return Session(self.name, path, text, sites)


def _path_of(file: str) -> Path:
    written = WRITTEN_FILES / file
    if written.is_file():
        return written
    spec = find_spec(file)
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {file} is installed")
    return Path(spec.origin)


# --- ways to find sites ---


def replace_matches(pattern: str, replacement: str) -> Callable[[str], Sites]:
    """Each match of a pattern is a site; the replacement may name the groups of the pattern."""

    def find(text: str) -> Iterator[Change]:
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield Change(match.start(), match.end(), match.expand(replacement))

    return find


def rename_local(function: str, old: str, new: str) -> Callable[[str], Sites]:
    """Each use of a local name in one function, with the names behind its dots, is a site."""

    def find(text: str) -> Iterator[Change]:
        offset_of = _offsets_in(text)
        node = _function(ast.parse(text), function)
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and name.id == old:
                start = offset_of(name.lineno, name.col_offset)
                tail = re.compile(r"\w+((?:\.\w+)*)").match(text, start)
                assert tail is not None
                yield Change(start, tail.end(), new + tail[1])

    return find


def annotate_parameter(name: str, annotation: str) -> Callable[[str], Sites]:
    """Each parameter of that name that has neither an annotation nor a default is a site."""

    def find(text: str) -> Iterator[Change]:
        offset_of = _offsets_in(text)
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef):
                continue
            plain = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            for parameter in plain:
                if parameter.arg == name and parameter.annotation is None:
                    start = offset_of(parameter.lineno, parameter.col_offset)
                    yield Change(start, start + len(name), f"{name}: {annotation}")

    return find


def add_parameter(function: str, parameter: str) -> Callable[[str], Sites]:
    """The definition of a function and its calls, each on one line, are sites: a parameter is added at the end and passed on."""

    def find(text: str) -> Iterator[Change]:
        offset_of = _offsets_in(text)
        tree = ast.parse(text)
        node = _function(tree, function)
        begin = offset_of(node.lineno, node.col_offset)
        end = text.index(")", begin)
        yield Change(begin, end + 1, f"{text[begin:end]}, {parameter})")
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == function:
                assert call.end_lineno is not None
                assert call.end_col_offset is not None
                start = offset_of(call.lineno, call.col_offset)
                end = offset_of(call.end_lineno, call.end_col_offset)
                yield Change(start, end, f"{text[start : end - 1]}, {parameter})")

    return find


def change_quotes(text: str) -> Iterator[Change]:
    """Each string in single quotes that can as well stand in double quotes is a site."""
    offset_of = _offsets_in(text, in_bytes=False)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and re.fullmatch(r"""'[^'"\\]+'""", token.string):
            start = offset_of(*token.start)
            yield Change(start, start + len(token.string), f'"{token.string[1:-1]}"')


def let_to_const(text: str) -> Iterator[Change]:
    """Each `let` of a name that is given a value only once is a site, with its name."""
    for match in re.finditer(r"\blet (\w+)(?=[ :])", text):
        name = match[1]
        again = rf"(?<![\w.]){name} *(?:[-+*/]=|=(?![=>])|\+\+|--)"
        scope_end = _scope_end(text, match.end())
        if not re.search(again, text[match.end() : scope_end].split("\n", 1)[-1]):
            yield Change(match.start(), match.end(), f"const {name}")


def make_readonly(text: str) -> Iterator[Change]:
    """Each private field of a class that only its constructor gives a value is a site."""
    for match in re.finditer(r"^  private (\w+): [^=\n]*;$", text, re.MULTILINE):
        if len(re.findall(rf"this\.{match[1]} =", text)) >= 1:
            start = match.start() + 2
            yield Change(start, match.end(1), f"private readonly {match[1]}")


def add_field(text: str) -> Iterator[Change]:
    """A field `retries` after `timeout`: in signatures, in the bodies of constructors, and where class methods call them."""
    places = [
        (r"timeout: float\) -> (?:None|\")", "timeout: float", "timeout: float, retries: int"),
        (r"self\.timeout = timeout$", "", "self.timeout = timeout\n        self.retries = retries"),
        (r"\d, timeout\)", "timeout)", "timeout, retries)"),
    ]
    for pattern, part, new in places:
        for match in re.finditer(pattern, text, re.MULTILINE):
            start = match.start() + (match[0].index(part) if part else 0)
            yield Change(start, start + len(part or match[0]), new)


def _function(tree: ast.AST, name: str) -> ast.FunctionDef:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise ValueError(f"no function {name}")


def _offsets_in(text: str, *, in_bytes: bool = True) -> Callable[[int, int], int]:
    """From a line (the first is 1) and a column, counted in bytes or in characters, to an offset."""
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]

    def offset_of(line: int, column: int) -> int:
        if in_bytes:
            column = len(lines[line - 1].encode()[:column].decode())
        return starts[line - 1] + column

    return offset_of


def _scope_end(text: str, offset: int) -> int:
    """The offset at which the block of braces around an offset ends."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, offset):
        depth += 1 if match[0] == "{" else -1
        if depth < 0:
            return match.start()
    return len(text)


# --- the kinds ---

KINDS = (
    SessionKind("rename a local", "shutil", rename_local("move", "real_dst", "destination")),
    SessionKind(
        "rename a method", "tarfile", replace_matches(r"\b((?:def |self\.|tarfile\.))_dbg\b", r"\1_log")
    ),
    SessionKind("add a parameter", "tarfile", add_parameter("nts", "strict")),
    SessionKind(
        "Optional[X] to X | None",
        "pygls.workspace.workspace",
        replace_matches(r"\bOptional\[([\w.]+(?:\[[^\[\]\n]*\])?)\]", r"\1 | None"),
    ),
    SessionKind("logger.info to debug", "shutil", replace_matches(r"logger\.info\b", "logger.debug")),
    SessionKind("annotate a parameter", "tarfile", annotate_parameter("tarinfo", "TarInfo")),
    SessionKind("single to double quotes", "http.client", change_quotes),
    SessionKind(
        "% to f-strings",
        "poplib",
        replace_matches(r"'([^'%{}\n]*)%s([^'%{}\n]*)' % (\w+)(?![\w.(\[])", r"f'\1{\3}\2'"),
    ),
    SessionKind("add self.", "http.client", rename_local("putrequest", "host_enc", "self.host_enc")),
    SessionKind("a new field", "connectors.py", add_field),
    SessionKind("a dict key", "_pydecimal", replace_matches(r"(\w+)\['thousands_sep'\]", r"\1['separator']")),
    SessionKind(
        "delete an argument",
        "threading",
        replace_matches(r"DeprecationWarning, stacklevel=2\)", "DeprecationWarning)"),
    ),
    SessionKind(
        "await calls", "ftplib", replace_matches(r"self\.voidcmd\(([^()\n]*)\)", r"await self.voidcmd(\1)")
    ),
    SessionKind("let to const", "track_list.ts", let_to_const),
    SessionKind("readonly fields", "track_list.ts", make_readonly),
    SessionKind(
        "%s to %w", "config_store.go", replace_matches(r'"([^"\n]*): %s", (.*\berr)\)', r'"\1: %w", \2)')
    ),
    SessionKind(
        "unwrap() to expect()",
        "job_queue.rs",
        replace_matches(r"lock\(\)\.unwrap\(\)", 'lock().expect("poisoned")'),
    ),
)
