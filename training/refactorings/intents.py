"""Intents of synthetic refactorings: changes that a person may want to make throughout a file.

Each maker finds all changes of one intent, or gives up. All of them are changes of the text as it is. They may overlap;
the caller takes those that do not.
"""

import re
from collections import Counter
from collections.abc import Callable
from random import Random

from model.editing.change import Change
from model.editing.tokenizer import lex
from training.data.dataset import Kind
from training.refactorings.names import COMMON, WORDS, join_words, new_name, other_words
from training.refactorings.source import Call, Source, is_name

LIMIT_CHANGES = 12


Found = tuple[Kind, list[Change]] | None
Maker = Callable[[Source, Random], Found]


def _expression(source: Source, random: Random) -> str:
    """A short expression such as stands in the text as an argument, or a plain one."""
    arguments = [a for call in source.calls for a in call.arguments if a[1] - a[0] <= 4]
    if arguments and random.random() < 0.6:
        return source.slice(*random.choice(arguments))
    return random.choice(
        ["None", "True", "False", "0", "1", "null", "ctx", '""', "self", "nil", *list(source.names)[:20]]
    )


def _rename(source: Source, random: Random) -> Found:
    """A name becomes another one everywhere."""
    candidates = [
        name for name, count in source.names.items() if 2 <= count <= LIMIT_CHANGES and len(name) > 1
    ]
    if not candidates:
        return None
    old = random.choice(candidates)
    new = new_name(old, source, random)
    if not is_name(new) or new == old or (new in source.names and random.random() < 0.8):
        return None
    return Kind.RENAME, _replace_tokens(source, {old: new}, with_prose=random.random() < 0.3)


def _rename_word(source: Source, random: Random) -> Found:
    """A word becomes another one in every name that has it, whatever their style."""
    by_word: dict[str, set[str]] = {}
    for name in source.names:
        for word in WORDS.findall(name):
            if len(word) > 2:
                by_word.setdefault(word.lower(), set()).add(name)
    candidates = [word for word, names in by_word.items() if len(names) > 1]
    if not candidates:
        return None
    old = random.choice(candidates)
    new = random.choice(other_words(source, random))
    if new == old:
        return None

    def replace_word(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() != old:
            return word
        return (
            new.upper()
            if word.isupper() and len(word) > 1
            else new.capitalize()
            if word[0].isupper()
            else new
        )

    mapping = {name: WORDS.sub(replace_word, name) for name in by_word[old]}
    return Kind.RENAME, _replace_tokens(source, mapping, with_prose=random.random() < 0.3)


def _replace_tokens(source: Source, mapping: dict[str, str], *, with_prose: bool) -> list[Change]:
    return [
        Change(source.offsets[number], source.offsets[number + 1], mapping[token])
        for number, token in enumerate(source.tokens)
        if token in mapping and (with_prose or not source.is_prose[number])
    ]


def _same_calls(source: Source, random: Random, *, least_arguments: int = 0) -> list[Call]:
    by_name: dict[str, list[Call]] = {}
    for call in source.calls:
        if len(call.arguments) >= least_arguments:
            by_name.setdefault(source.tokens[call.name], []).append(call)
    candidates = [calls for calls in by_name.values() if 2 <= len(calls) <= LIMIT_CHANGES]
    return random.choice(candidates) if candidates else []


def _add_argument(source: Source, random: Random) -> Found:
    """Each call of a function gets one argument more, first or last."""
    calls = _same_calls(source, random)
    if not calls:
        return None
    argument = _expression(source, random)
    if random.random() < 0.35:
        argument = f"{join_words([random.choice(COMMON)], 'snake')}={argument}"
    is_first = random.random() < 0.25
    changes = []
    for call in calls:
        if not call.arguments:
            at = source.offsets[call.opening + 1]
            changes.append(Change(at, at, argument))
        elif is_first:
            at = source.offsets[call.arguments[0][0]]
            changes.append(Change(at, at, f"{argument}, "))
        else:
            at = source.offsets[call.arguments[-1][1]]
            changes.append(Change(at, at, f", {argument}"))
    return Kind.ADD_ARGUMENT, changes


def _remove_argument(source: Source, random: Random) -> Found:
    """Each call of a function loses its first, last or named argument."""
    calls = _same_calls(source, random, least_arguments=1)
    if not calls:
        return None
    which = random.choice([0, -1])
    changes = []
    for call in calls:
        number = which % len(call.arguments)
        first, last = call.arguments[number]
        if number > 0:
            first = call.arguments[number - 1][1]
        elif len(call.arguments) > 1:
            last = call.arguments[1][0]
        changes.append(Change(*source.span(first, last), ""))
    return Kind.REMOVE_ARGUMENT, changes


def _swap_arguments(source: Source, random: Random) -> Found:
    """The first two arguments of each call of a function change changes."""
    calls = _same_calls(source, random, least_arguments=2)
    changes = []
    for call in calls:
        (a, b), (c, d) = call.arguments[:2]
        one, two = source.slice(a, b), source.slice(c, d)
        if one == two:
            return None
        changes.append(Change(*source.span(a, d), two + source.slice(b, c) + one))
    return Kind.SWAP_ARGUMENTS, changes


def _dotted_start(source: Source, number: int) -> int:
    """The first token of the dotted expression that ends with a name."""
    while number >= 2 and source.tokens[number - 1] == "." and is_name(source.tokens[number - 2]):
        number -= 2
    return number


def _wrap_call(source: Source, random: Random) -> Found:
    """Each call of a function goes into another call."""
    calls = _same_calls(source, random)
    if not calls:
        return None
    wrapper = random.choice(
        ["str", "list", "len", "int", "set", "sorted", "tuple", "Some", "Ok", "await", "bool"]
    )
    if source.names and random.random() < 0.6:
        wrapper = random.choice(list(source.names))
    changes = []
    for call in calls:
        start = _dotted_start(source, call.name)
        if start > 0 and source.tokens[start - 1] in {".", "@"}:
            return None
        if start > 1 and source.tokens[start - 2] in {
            "def",
            "func",
            "fn",
            "function",
            "class",
            "void",
            "new",
        }:
            continue
        text = source.slice(start, call.closing + 1)
        is_prefix = wrapper == "await"
        changes.append(
            Change(
                *source.span(start, call.closing + 1), f"await {text}" if is_prefix else f"{wrapper}({text})"
            )
        )
    return Kind.WRAP_CALL, changes


def _unwrap_call(source: Source, random: Random) -> Found:
    """Each call of a function gives way to its only argument."""
    calls = [call for call in _same_calls(source, random, least_arguments=1) if len(call.arguments) == 1]
    changes = []
    for call in calls:
        start = _dotted_start(source, call.name)
        changes.append(Change(*source.span(start, call.closing + 1), source.slice(*call.arguments[0])))
    return Kind.WRAP_CALL, changes


def _change_callee(source: Source, random: Random) -> Found:
    """The called function becomes another one: print(...) to logger.info(...), foo.bar(...) to bar(...)."""
    calls = _same_calls(source, random)
    if not calls:
        return None
    old = source.tokens[calls[0].name]
    loggers = [
        "logger.info",
        "logger.debug",
        "logging.info",
        "log.info",
        "console.error",
        "log.Println",
        "self.log",
    ]
    if old in {"print", "println", "printf", "log", "warn", "Println", "Printf"}:
        new = random.choice(loggers)
    else:
        owner = random.choice([*list(source.names)[:30], "self", "this", "np", "utils"])
        new = random.choice([f"{owner}.{old}", new_name(old, source, random)])
    changes = []
    for call in calls:
        start = _dotted_start(source, call.name)
        if start > 1 and source.tokens[start - 2] in {"def", "func", "fn", "function", "class"}:
            continue
        first = start if "." in new else call.name  # a new owner replaces the old one
        changes.append(Change(*source.span(first, call.name + 1), new))
    return Kind.CHANGE_CALL, changes


def _add_method(source: Source, random: Random) -> Found:
    """A method call or an attribute is added after each call: .strip(), .unwrap(), .value."""
    calls = _same_calls(source, random)
    if not calls:
        return None
    names = list(source.names)[:40]
    suffix = random.choice(
        [".strip()", ".unwrap()", ".value", "?", "!", ".clone()", "[0]", ".items()", ".copy()"]
    )
    if names and random.random() < 0.5:
        suffix = f".{random.choice(names)}" + random.choice(["", "()"])
    changes = []
    for call in calls:
        if call.closing + 1 < len(source.tokens) and source.tokens[call.closing + 1] in {":", "{"}:
            continue  # a definition
        at = source.offsets[call.closing + 1]
        changes.append(Change(at, at, suffix))
    return Kind.CHANGE_CALL, changes


_STRING = re.compile(r"\"[^\"\\\n]{1,40}\"|'[^'\\\n]{1,40}'")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def _change_literal(source: Source, random: Random) -> Found:
    """A literal that stands at several changes becomes another one, or a name."""
    pattern = _STRING if random.random() < 0.7 else _NUMBER
    found = list(pattern.finditer(source.text))
    counts = Counter(match.group() for match in found)
    candidates = [literal for literal, count in counts.items() if 2 <= count <= LIMIT_CHANGES]
    if not candidates:
        return None
    old = random.choice(candidates)
    draw = random.random()
    if draw < 0.35:
        new = join_words(WORDS.findall(old)[:3] or ["limit"], "UPPER")
    elif old[0] in "\"'":
        words = re.findall(r"\w+", old)
        if not words:
            return None
        new = old.replace(random.choice(words), new_name(random.choice(words), source, random), 1)
    else:
        new = random.choice([str(random.randrange(1, 200)), old + "0", f"{old}.0", str(int(float(old)) + 1)])
    return Kind.CHANGE_LITERAL, [
        Change(m.start(), m.end(), new) for m in found if m.group() == old and new != old
    ]


def _change_quotes(source: Source, random: Random) -> Found:
    """Some strings change their quotes."""
    quote, other = random.choice([("'", '"'), ('"', "'")])
    found = [m for m in _STRING.finditer(source.text) if m.group()[0] == quote and other not in m.group()]
    if len(found) > 8:
        return None
    return Kind.CHANGE_QUOTES, [Change(m.start(), m.end(), other + m.group()[1:-1] + other) for m in found]


_WORD_CHANGES = [
    ("var", "const"), ("let", "const"), ("const", "let"), ("==", "==="), ("!=", "!=="), ("===", "=="),
    ("unicode", "str"), ("basestring", "str"), ("assertEquals", "assertEqual"), ("private", "protected"),
    ("public", "private"), ("int", "long"), ("int", "float"), ("float", "double"), ("List", "list"), ("Dict", "dict"),
    ("Optional", "Union"), ("String", "str"), ("str", "bytes"), ("is", "=="), ("None", "False"), ("True", "False"),
    ("False", "True"), ("self", "cls"), ("this", "self"), ("null", "undefined"), ("and", "or"), ("Exception",
    "ValueError"), ("ValueError", "TypeError"), ("async", ""), ("await", ""), ("return", "yield"), ("string", "number"),
    ("&", "&&"), ("<=", "<"), (">=", ">"), ("error", "warning"), ("info", "debug"), ("int", "size_t"), ("NULL", "nullptr"),
    ("func", "fn"), ("interface{}", "any"), ("&str", "String"), ("unwrap", "expect"), ("ArrayList", "List"),
]  # fmt: skip


def _change_word(source: Source, random: Random) -> Found:
    """A type, a keyword or an operator becomes another one."""
    possible = []
    for old, new in _WORD_CHANGES:
        pattern = re.escape(old)
        if old[0].isalnum():
            pattern = rf"\b{pattern}\b" + (" " if not new else "")
        elif not old.startswith("interface"):
            pattern = rf"(?<![=!<>&]){pattern}(?![=&>])"
        matches = re.finditer(pattern, source.text)
        found = [Change(m.start(), m.end(), new) for m in matches if not source.has_prose_at(m.start())]
        if 2 <= len(found) <= LIMIT_CHANGES:
            possible.append(found)
    return (Kind.CHANGE_WORD, random.choice(possible)) if possible else None


def _change_owner(source: Source, random: Random) -> Found:
    """a.b becomes c.b, self.b becomes b, b becomes self.b: everywhere."""
    tokens = source.tokens
    pairs = Counter(
        (tokens[n - 1], tokens[n + 1])
        for n in range(1, len(tokens) - 1)
        if tokens[n] == "." and not source.is_prose[n] and is_name(tokens[n - 1]) and is_name(tokens[n + 1])
    )
    candidates = [pair for pair, count in pairs.items() if 2 <= count <= LIMIT_CHANGES]
    if not candidates:
        return None
    owner, name = random.choice(candidates)
    draw = random.random()
    if draw < 0.3:
        new = name
    elif draw < 0.5:
        new = f"{owner}.{new_name(name, source, random)}"
    elif draw < 0.7:
        between = random.choice([*source.names, "inner"])
        new = f"{owner}.{between}.{name}"
    elif draw < 0.85:
        new = f"{owner}[{name!r}]" if random.random() < 0.5 else f'{owner}["{name}"]'
    else:
        new = f"{new_name(owner, source, random)}.{name}"
    changes = [
        Change(*source.span(n - 1, n + 2), new)
        for n in range(1, len(tokens) - 1)
        if tokens[n] == "." and not source.is_prose[n] and tokens[n - 1] == owner and tokens[n + 1] == name
    ]
    return Kind.REPLACE_ATTRIBUTE, changes


def _prefix_name(source: Source, random: Random) -> Found:
    """Each use of a name gets an owner: value to self.value, Foo to module.Foo; or a sign: &value, *value."""
    candidates = [name for name, count in source.names.items() if 2 <= count <= 8]
    if not candidates:
        return None
    name = random.choice(candidates)
    prefix = random.choice(
        ["self.", "this.", "std::", "&", "*", "np.", f"{random.choice(list(source.names))}."]
    )
    changes = [
        Change(source.offsets[n], source.offsets[n], prefix)
        for n, token in enumerate(source.tokens)
        if token == name
        and not source.is_prose[n]
        and (n == 0 or source.tokens[n - 1] not in {".", ":", "&", "*", "@"})
    ]
    return Kind.REPLACE_ATTRIBUTE, changes


def _suffix_name(source: Source, random: Random) -> Found:
    """Each parameter or variable of one name gets a type or an index."""
    candidates = [name for name, count in source.names.items() if 2 <= count <= 8]
    if not candidates:
        return None
    name = random.choice(candidates)
    types = [
        ": str",
        ": int",
        ": bool",
        ": string",
        ": number",
        "[0]",
        ".value",
        "?",
        ": float",
        ".id",
        ".name",
        "()",
    ]
    if random.random() < 0.3:
        types = [f".{random.choice(list(source.names))}"]
    suffix = random.choice(types)
    changes = [
        Change(source.offsets[n + 1], source.offsets[n + 1], suffix)
        for n, token in enumerate(source.tokens[:-1])
        if token == name and not source.is_prose[n] and source.tokens[n + 1] not in {":", "(", "."}
    ]
    return Kind.CHANGE_WORD, changes


_DICT = re.compile(r"\{[^{}\n]*[\"'\w][\"']?\s*:[^{}\n]*\}")


def _add_key(source: Source, random: Random) -> Found:
    """Each one-line dict or object gets a key more."""
    found = list(_DICT.finditer(source.text))
    if not 2 <= len(found) <= LIMIT_CHANGES:
        return None
    key = join_words([random.choice(COMMON) for _ in range(random.choice([1, 1, 2]))], "snake")
    sample = found[0].group()
    quote = '"' if '"' in sample else "'" if "'" in sample else ""
    entry = f"{quote}{key}{quote}: {_expression(source, random)}"
    if "\n" in entry:
        return None
    changes = []
    for match in found:
        inner = match.group()[1:-1].rstrip()
        at = match.start() + 1 + len(inner)
        changes.append(Change(at, at, (" " if inner.endswith(",") else ", ") + entry))
    return Kind.ADD_KEY, changes


_LINE = re.compile(r"(?m)^([ \t]*)(\S[^\n]*)")


def _alike_lines(source: Source, random: Random) -> list[re.Match[str]]:
    """Lines that begin with the same words."""
    by_start: dict[tuple[str, ...], list[re.Match[str]]] = {}
    for match in _LINE.finditer(source.text):
        tokens = [token for token in lex(match.group(2)) if not token.isspace()]
        for length in (1, 2, 3):
            if len(tokens) >= length and (tokens[0] not in {"}", ")", "]", "#", "//", '"', "'"}):
                by_start.setdefault(tuple(tokens[:length]), []).append(match)
    candidates = [lines for lines in by_start.values() if 2 <= len(lines) <= 8]
    return random.choice(candidates) if candidates else []


def _add_line(source: Source, random: Random) -> Found:
    """Above or below each of some alike lines goes the same new line: a decorator, an attribute, a log call."""
    lines = _alike_lines(source, random)
    if not lines:
        return None
    first = lines[0].group(2)
    names = list(source.names)[:60] or ["value"]
    name = random.choice(names)
    is_definition = re.match(
        r"(async )?(def|class|fn|pub|func|function|public|private|struct|export)\b", first
    )
    if is_definition:
        text = random.choice(
            [f"@{name}", f"@{name}()", "@staticmethod", "@Override", "#[inline]", f"# {name}", f"// {name}"]
        )
        above = True
    else:
        text = random.choice(
            [f"{name}()", f"log({name})", f"{name} += 1", f"assert {name}", f"print({name})", f"{name}();"]
        )
        above = random.random() < 0.5
    changes = []
    for match in lines:
        indent = match.group(1)
        if above:
            changes.append(Change(match.start(2), match.start(2), f"{text}\n{indent}"))
        elif not match.group(2).rstrip().endswith(("{", "(", ":", "[", ",", "\\")):
            changes.append(Change(match.end(), match.end(), f"\n{indent}{text}"))
    return Kind.ADD_LINE, changes


def _remove_lines(source: Source, random: Random) -> Found:
    """Each of some alike lines goes."""
    lines = [m for m in _alike_lines(source, random) if m.start() > 0]
    changes = [Change(m.start() - 1, m.end(), "") for m in lines if len(m.group(2)) < 60]
    return Kind.REMOVE_LINE, changes


def _line_start(source: Source, random: Random) -> Found:
    """Each of some alike lines gets a word in front or loses its first: await, return, const, a comment mark."""
    lines = _alike_lines(source, random)
    if not lines:
        return None
    if random.random() < 0.25:
        cut = [(m.start(2), m.start(2) + len(m.group(2)) - len(m.group(2).partition(" ")[2])) for m in lines]
        return Kind.CHANGE_LINE_START, [Change(a, b, "") for a, b in cut if b > a]
    word = random.choice(["await ", "return ", "const ", "# ", "// ", "static ", "async ", "pub ", "export ", "self.",
                          "assert ", "yield ", "final ", "private ", f"{random.choice(COMMON)} = "])  # fmt: skip
    return Kind.CHANGE_LINE_START, [Change(m.start(2), m.start(2), word) for m in lines]


def _line_end(source: Source, random: Random) -> Found:
    """Each of some alike lines gets an end: a comma, a semicolon, a comment, a return type."""
    lines = _alike_lines(source, random)
    ends = [",", ";", "  # noqa", " // eslint-disable-line", " or None", " as any"]
    if lines and all(
        m.group(2).startswith(("def ", "async def ")) and m.group(2).endswith("):") for m in lines
    ):
        text = random.choice([" -> None", " -> str", " -> bool", " -> int"])
        return Kind.CHANGE_LINE_START, [Change(m.end() - 1, m.end() - 1, text) for m in lines]
    return Kind.CHANGE_LINE_START, [
        Change(m.end(), m.end(), end) for end in [random.choice(ends)] for m in lines
    ]


MAKERS: list[tuple[Maker, float]] = [
    (_rename, 8),
    (_rename_word, 2),
    (_add_argument, 4),
    (_remove_argument, 2.5),
    (_swap_arguments, 1.5),
    (_wrap_call, 2),
    (_unwrap_call, 1),
    (_change_callee, 4),
    (_add_method, 1.5),
    (_change_literal, 3),
    (_change_quotes, 1),
    (_change_word, 2.5),
    (_change_owner, 3.5),
    (_prefix_name, 2),
    (_suffix_name, 1.5),
    (_add_key, 1.5),
    (_add_line, 2),
    (_remove_lines, 1.5),
    (_line_start, 2),
    (_line_end, 1),
]
