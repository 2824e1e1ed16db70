"""Environment and command line -> Settings, read once."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from model.inference.bundle import DEFAULT
from model.inference.personal import personal_folder

_ENVIRONMENT_PREFIX = "LIKEWISE_"
_DEVICES = ("auto", "cpu", "cuda")
_OWN_BUNDLES = personal_folder()
_BATCHING: dict[str, bool | None] = {"auto": None, "on": True, "off": False}


@dataclass(frozen=True)
class Settings:
    """The operator's choices. Each can be set as LIKEWISE_<NAME> in the environment."""

    host: str = "127.0.0.1"
    port: int = 8377  # 0: any free one; the chosen address is printed
    socket: str = ""  # a socket file in place of host and port
    bundle: Path = DEFAULT
    own_bundles: Path = _OWN_BUNDLES  # of the user's own bundles; not used when `bundle` is chosen
    device: str = "auto"
    token: str = ""
    users: Path = (
        Path()
    )  # a file of users with tokens of their own, see server.users; none: nobody is told apart
    parent_pid: int = 0  # the service ends when this process has ended
    log_level: str = "info"
    allowed_hosts: tuple[str, ...] = ()  # beyond loopback and `host`: names of a proxy or a tunnel
    allowed_origins: tuple[str, ...] = ()  # web pages, other than our own, that may call
    limit_body_bytes: int = 4_000_000  # of a request or a message: reading it blocks all others
    limit_request_seconds: float = 20.0  # in which a request must come in whole
    limit_text: int = 1_000_000  # code points
    limit_tokens: int = 500_000
    limit_edits: int = 1_000  # of one request in text; a history holds as many as the bundle says
    limit_work: int = (
        50_000_000  # code points of the text before each edit, summed: an edit may walk through it
    )
    limit_connections: int = 64
    limit_documents: int = 200  # of one connection
    limit_user_connections: int = 8  # of one user of the users file: editors on several machines
    limit_user_requests: int = 4  # of one user, that are worked on at a time
    limit_sessions: int = 256
    limit_session_bytes: int = 256_000_000  # caches of all sessions together; about 12 files of 8,000 tokens
    limit_idle_seconds: float = 1_800.0
    limit_waiting: int = 64  # encodings that wait for a worker before the next is refused
    limit_waiting_bytes: int = 100_000_000  # of all requests that wait for a worker
    step_threads: int = 2
    batch_steps: str = (
        "auto"  # several sessions' steps in one run of the graph; auto: on a GPU, where it is faster
    )

    def __post_init__(self) -> None:
        if self.device not in _DEVICES:
            raise ValueError(f"device is {self.device!r}, not one of {', '.join(_DEVICES)}")
        if self.batch_steps not in _BATCHING:
            raise ValueError(f"batch_steps is {self.batch_steps!r}, not one of {', '.join(_BATCHING)}")
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port {self.port} is outside 0..65535")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ValueError(f"log level is {self.log_level!r}, not one of debug, info, warning, error")
        for field in fields(self):
            if (field.name.startswith("limit_") or field.name == "step_threads") and getattr(
                self, field.name
            ) <= 0:
                raise ValueError(f"{field.name} must be more than zero")
        if not self.is_loopback and not self.token and not self.has_users:
            raise ValueError(
                f"host {self.host} can be reached from other machines: give a token or a users file,"
                " or use 127.0.0.1"
            )
        if self.token and self.has_users:
            raise ValueError("give either one token for everybody or a users file, not both")

    @property
    def together(self) -> bool | None:
        """Tell whether steps are batched; None: only on a device where that is faster."""
        return _BATCHING[self.batch_steps]

    @property
    def has_users(self) -> bool:
        return self.users != Path()

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


def settings_from(given: Mapping[str, Any]) -> Settings:
    """Make settings of values by name, such as those in a file; a ValueError says which one is wrong."""
    unknown = set(given) - {field.name for field in fields(Settings)}
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    as_text = {
        name: ",".join(value) if isinstance(value, list) else str(value) for name, value in given.items()
    }
    chosen = {_ENVIRONMENT_PREFIX + name.upper(): value for name, value in as_text.items()}
    return replace(Settings(), **_read_environment(chosen))


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
    parser.add_argument(
        "--host", help="address to listen on (default 127.0.0.1); beyond loopback it needs --token or --users"
    )
    parser.add_argument("--port", type=int, help="default 8377; 0 takes a free one and prints it")
    parser.add_argument("--socket", help="listen on this socket file in place of an address (not on Windows)")
    parser.add_argument(
        "--bundle", type=Path, help="folder of the bundle (default: the user's own, else the one that ships)"
    )
    parser.add_argument("--device", choices=_DEVICES, help="default auto: CUDA when it works, else CPU")
    parser.add_argument(
        "--token", help="clients must send it; LIKEWISE_TOKEN keeps it out of the process list"
    )
    parser.add_argument("--users", type=Path, help="file of users with tokens of their own (server.users)")
    parser.add_argument("--parent-pid", type=int, help="exit when this process has ended")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), help="default info")
    return parser
