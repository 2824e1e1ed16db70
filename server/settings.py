"""Environment and command line -> Settings, read once."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from model.inference.bundle import DEFAULT

_ENVIRONMENT_PREFIX = "LIKEWISE_"
_DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Settings:
    """The operator's choices. Each can be set as LIKEWISE_<NAME> in the environment."""

    host: str = "127.0.0.1"
    port: int = 8377  # 0: any free one; the chosen address is printed
    socket: str = ""  # a socket file in place of host and port
    bundle: Path = DEFAULT
    device: str = "auto"
    token: str = ""
    parent_pid: int = 0  # the service ends when this process has ended
    log_level: str = "info"
    allowed_hosts: tuple[str, ...] = ()  # beyond loopback and `host`: names of a proxy or a tunnel
    allowed_origins: tuple[str, ...] = ()  # web pages, other than our own, that may call
    limit_body_bytes: int = 4_000_000  # of a request or a message: reading it blocks all others
    limit_text: int = 2_000_000  # code points
    limit_tokens: int = 500_000
    limit_edits: int = 1_000  # of one request in text; a history holds as many as the bundle says
    limit_connections: int = 64
    limit_documents: int = 200  # of one connection
    limit_sessions: int = 256
    limit_session_bytes: int = 256_000_000  # caches of all sessions together; about 12 files of 8,000 tokens
    limit_idle_seconds: float = 1_800.0
    limit_waiting: int = 64  # encodings that wait for a worker before the next is refused
    step_threads: int = 2

    def __post_init__(self) -> None:
        if self.device not in _DEVICES:
            raise ValueError(f"device is {self.device!r}, not one of {', '.join(_DEVICES)}")
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port {self.port} is outside 0..65535")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ValueError(f"log level is {self.log_level!r}, not one of debug, info, warning, error")
        for field in fields(self):
            if (field.name.startswith("limit_") or field.name == "step_threads") and getattr(
                self, field.name
            ) <= 0:
                raise ValueError(f"{field.name} must be more than zero")
        if not self.is_loopback and not self.token:
            raise ValueError(
                f"host {self.host} can be reached from other machines: give a token, or use 127.0.0.1"
            )

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_settings(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment, then the command line on top; a ValueError says which setting is wrong."""
    chosen = _read_environment(os.environ if environment is None else environment)
    options = vars(_make_parser().parse_args(arguments))
    chosen |= {name: value for name, value in options.items() if value is not None}
    return replace(Settings(), **chosen)


def _read_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    result = {}
    for field in fields(Settings):
        name = _ENVIRONMENT_PREFIX + field.name.upper()
        if environment.get(name):
            try:
                result[field.name] = _convert(environment[name], type(field.default))
            except ValueError:
                raise ValueError(f"{name} is {environment[name]!r}, not a number") from None
    return result


def _convert(text: str, kind: type[Any]) -> Any:
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    convert: Callable[[str], Any] = Path if issubclass(kind, Path) else kind
    return convert(text)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("likewise-server", description="The Likewise inference service.")
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1); any other needs a token")
    parser.add_argument("--port", type=int, help="default 8377; 0 takes a free one and prints it")
    parser.add_argument("--socket", help="listen on this socket file in place of an address (not on Windows)")
    parser.add_argument("--bundle", type=Path, help="folder of the model (default: the one that ships)")
    parser.add_argument("--device", choices=_DEVICES, help="default auto: CUDA when it works, else CPU")
    parser.add_argument(
        "--token", help="clients must send it; LIKEWISE_TOKEN keeps it out of the process list"
    )
    parser.add_argument("--parent-pid", type=int, help="exit when this process is gone")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"))
    return parser
