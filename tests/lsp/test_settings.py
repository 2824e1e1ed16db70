from typing import Any

import pytest

from lsp.settings import Settings, is_about_us, parse


def test_nothing_said_means_all_defaults() -> None:
    assert parse(None) == (Settings(), [])
    assert parse({}) == (Settings(), [])


def test_options_are_read_with_or_without_their_section() -> None:
    options = {
        "serviceAddress": "http://localhost:1/",
        "threshold": 0.9,
        "languages": {"*": False, "go": True},
    }
    expected = Settings(
        service_address="http://localhost:1", threshold=0.9, languages={"*": False, "go": True}
    )
    assert parse(options) == (expected, [])
    assert parse({"likewise": options, "http": {}}) == (expected, [])
    assert expected.is_on_for("go")
    assert not expected.is_on_for("python")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", 1.5),
        ("threshold", "high"),
        ("threshold", True),
        ("serviceAddress", "ftp://x"),
        ("serviceAddress", 8377),
        ("device", "abacus"),
        ("languages", {"python": "yes"}),
        ("languages", []),
        ("debounceMilliseconds", -1),
        ("debounceMilliseconds", 0.5),
        ("record", 1),
        ("exclude", "*.py"),
        ("limitSuggestions", 0),
        ("logLevel", "loud"),
        ("push", "true"),
    ],
)
def test_a_bad_option_has_its_default_and_is_named(name: str, value: Any) -> None:
    settings, problems = parse({name: value, "bundle": "/b"})
    assert settings == Settings(bundle="/b")
    assert len(problems) == 1
    assert problems[0].startswith(name)


def test_what_is_not_named_stays_and_null_is_the_default() -> None:
    before = Settings(exclude=("private/**",), threshold=0.9, push=True)
    settings, problems = parse({"likewise": {"threshold": None, "push": False}}, before)
    assert settings == Settings(exclude=("private/**",))
    assert problems == []


def test_options_of_the_wrong_kind_change_nothing() -> None:
    settings, problems = parse([1, 2], Settings(bundle="/b"))
    assert settings == Settings(bundle="/b")
    assert len(problems) == 1


def test_the_token_is_not_in_the_representation() -> None:
    assert "hush" not in repr(Settings(service_token="hush"))


def test_settings_of_others_are_not_about_us() -> None:
    assert is_about_us({"likewise": {}})
    assert is_about_us({"threshold": 1})
    assert not is_about_us({"http": {}})
    assert not is_about_us(None)
