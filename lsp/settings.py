"""The user's settings, from initialization options and `workspace/didChangeConfiguration`, read once.

A bad option means the default for it, and one sentence about it; never an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlsplit

SECTION = "likewise"
_LIMIT_DEBOUNCE_MILLISECONDS = 5000
_LOG_LEVELS = ("debug", "info", "warning", "error")
_DEVICES = ("auto", "cpu", "cuda")
_EAGERNESS = ("quiet", "balanced", "eager")


@dataclass(frozen=True)
class Settings:
    """Field names are the options' names in our own spelling: `service_address` is `serviceAddress`."""

    service_address: str | None = None  # none: we start the service ourselves
    service_token: str | None = field(default=None, repr=False)
    bundle: str | None = None
    device: str = "auto"
    eagerness: str = "balanced"
    threshold: float | None = None  # none: that of the eagerness
    languages: Mapping[str, bool] = field(default_factory=dict)
    debounce_milliseconds: int = 0
    record: bool = False
    exclude: tuple[str, ...] = ()
    limit_suggestions: int = 1
    log_level: str = "info"
    push: bool = False

    @property
    def service(self) -> tuple[str | None, ...]:
        """The settings that a running service cannot change."""
        return self.service_address, self.service_token, self.bundle, self.device

    def is_on_for(self, language: str) -> bool:
        return self.languages.get(language, self.languages.get("*", True))


def parse(options: Any, before: Settings | None = None) -> tuple[Settings, list[str]]:
    """Read options: return the settings, and a sentence for each bad option. Other options stay as before."""
    settings, default = before or Settings(), Settings()
    if options is None:
        return settings, []
    if not isinstance(options, Mapping):
        return settings, ["the options are not an object: all are as before"]
    found = options.get(SECTION)  # some editors send the section, some what is in it
    options = found if isinstance(found, Mapping) else options
    problems = []
    for each in fields(Settings):
        name = _convert_to_camel_case(each.name)
        if name not in options:
            continue
        value = getattr(default, each.name)
        try:
            value = value if options[name] is None else _READERS[each.name](options[name])
        except ValueError as error:
            problems.append(f"{name} {error}: it has its default")
        settings = replace(settings, **{each.name: value})
    return settings, problems


def is_about_us(options: Any) -> bool:
    """Editors send all kinds of settings; those without a word about us change nothing."""
    names = {SECTION, *(_convert_to_camel_case(each.name) for each in fields(Settings))}
    return isinstance(options, Mapping) and not names.isdisjoint(options)


def _convert_to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _read_text(value: Any) -> str | None:
    if not isinstance(value, str):
        raise ValueError("is not a text")
    return value or None


def _read_address(value: Any) -> str | None:
    text = _read_text(value)
    if text is None:
        return None
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError('is not an address like "http://127.0.0.1:8377"')
    return text.rstrip("/")


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _make_number_reader(least: float, most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"is not a number from {least:g} to {most:g}")
        return float(value)

    return read


def _make_whole_number_reader(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = _make_number_reader(least, most)(value)
        if number != int(number):
            raise ValueError("is not a whole number")
        return int(number)

    return read


def _make_choice_reader(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"is not one of {', '.join(choices)}")
        return str(value)

    return read


def _read_languages(value: Any) -> dict[str, bool]:
    if not isinstance(value, Mapping) or not all(
        isinstance(key, str) and isinstance(flag, bool) for key, flag in value.items()
    ):
        raise ValueError("is not an object of languages and true or false")
    return dict(value)


def _read_globs(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(glob, str) for glob in value):
        raise ValueError("is not a list of globs")
    return tuple(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "service_address": _read_address,
    "service_token": _read_text,
    "bundle": _read_text,
    "device": _make_choice_reader(_DEVICES),
    "eagerness": _make_choice_reader(_EAGERNESS),
    "threshold": _make_number_reader(0, 1),
    "languages": _read_languages,
    "debounce_milliseconds": _make_whole_number_reader(0, _LIMIT_DEBOUNCE_MILLISECONDS),
    "record": _read_flag,
    "exclude": _read_globs,
    "limit_suggestions": _make_whole_number_reader(1, 10),
    "log_level": _make_choice_reader(_LOG_LEVELS),
    "push": _read_flag,
}
