"""Names such as a person might give: parts of other names, other words, another style."""

import re
from collections.abc import Sequence
from random import Random

from training.refactorings.source import Source

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of which a name is made, in any style
COMMON = [
    "value", "name", "key", "data", "item", "result", "index", "node", "path", "text", "config",
    "options", "context", "request", "response", "user", "count", "state", "event", "error", "message",
    "token", "source", "target", "parent", "child", "list", "entry", "record", "field", "column", "row",
    "table", "query", "session", "client", "server", "handler", "manager", "factory", "helper", "builder",
    "parser", "writer", "reader", "loader", "cache", "buffer", "size", "limit", "offset", "start", "end",
    "first", "last", "next", "current", "previous", "old", "new", "raw", "base", "default", "local",
    "remote", "main", "temp", "extra", "total",
]  # fmt: skip


def new_name(old: str, source: Source, random: Random) -> str:
    """A name such as a person might give instead."""
    words = WORDS.findall(old) or [old]
    other = random.choice(other_words(source, random))
    draw = random.random()
    if draw < 0.25 and len(words) > 1:
        words[random.randrange(len(words))] = other
    elif draw < 0.4:
        words.insert(0, other)
    elif draw < 0.55:
        words.append(other)
    elif draw < 0.63 and len(words) > 1:
        words.pop(random.randrange(len(words)))
    elif draw < 0.7:
        return old[1:] if old.startswith("_") else "_" + old
    elif draw < 0.76:
        return old[:-1] if old.endswith("s") else old + "s"
    elif draw < 0.82:
        return join_words(words, _other_style(old, random))
    else:
        words = [other] if random.random() < 0.6 else [other, random.choice(other_words(source, random))]
    name = join_words(words, _style(old))
    return "_" + name if old.startswith("_") else name


def other_words(source: Source, random: Random) -> list[str]:
    if random.random() < 0.5 and source.names:
        name = random.choice(list(source.names))
        words = [word.lower() for word in WORDS.findall(name) if len(word) > 1]
        if words:
            return words
    return COMMON


def _style(name: str) -> str:
    bare = name.strip("_")
    if bare.isupper() and len(bare) > 1:
        return "UPPER"
    if "_" in bare:
        return "snake"
    if bare[:1].isupper():
        return "Pascal"
    return "camel" if bare.lower() != bare else "snake"


def _other_style(name: str, random: Random) -> str:
    return random.choice([style for style in ("snake", "camel", "Pascal", "UPPER") if style != _style(name)])


def join_words(words: Sequence[str], style: str) -> str:
    lower = [word.lower() for word in words]
    if style == "UPPER":
        return "_".join(lower).upper()
    if style == "snake":
        return "_".join(lower)
    joined = "".join(word.capitalize() for word in lower)
    return joined if style == "Pascal" else joined[:1].lower() + joined[1:]
