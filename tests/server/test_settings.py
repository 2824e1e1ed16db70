from pathlib import Path

import pytest

from server.settings import Settings, read_settings


def test_the_command_line_goes_before_the_environment() -> None:
    environment = {"LIKEWISE_PORT": "1000", "LIKEWISE_DEVICE": "cpu", "LIKEWISE_BUNDLE": "there"}
    settings = read_settings(["--port", "0"], environment)
    assert (settings.port, settings.device, settings.bundle) == (0, "cpu", Path("there"))


def test_the_default_is_loopback_without_a_token() -> None:
    settings = read_settings([], {})
    assert settings.host == "127.0.0.1"
    assert settings.token == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
def test_another_host_needs_a_token(host: str) -> None:
    with pytest.raises(ValueError, match="give a token"):
        Settings(host=host)
    assert Settings(host=host, token="long and secret").host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.4.5", "::1", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    assert Settings(host=host).is_loopback


def test_lists_and_numbers_are_read_from_the_environment() -> None:
    settings = read_settings(
        [], {"LIKEWISE_ALLOWED_HOSTS": "a.example, b.example", "LIKEWISE_LIMIT_IDLE_SECONDS": "2.5"}
    )
    assert settings.allowed_hosts == ("a.example", "b.example")
    assert settings.limit_idle_seconds == 2.5


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "many"), ("PORT", "70000"), ("DEVICE", "tpu"), ("LIMIT_TEXT", "0"), ("LOG_LEVEL", "loud")],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=value if name != "LIMIT_TEXT" else "limit_text"):
        read_settings([], {f"LIKEWISE_{name}": value})
