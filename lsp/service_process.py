"""The service as a child process: started when no address is given, started again when it died, ended with us.

It listens on a socket file in a folder of its own, which only this user may enter; where there are no such files, on a
free loopback port that it chooses itself. It expects a random token, which is passed in the environment, where other
users cannot see it. If we are killed it notices that its parent is gone. It runs in our own
folder and imports only from the interpreter and that folder, never from the user's project.
"""

import asyncio
import json
import logging
import os
import secrets
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from lsp.fetch import Address, ServiceUnavailable, fetch

_START_SECONDS = 60.0  # a busy machine reads a model slowly; after this it will not come
_ALIVE_SECONDS = 2.0  # one that does not say that it is ready within this hangs
_STOP_SECONDS = 3.0
_LIMIT_SOCKET_PATH = 100  # bytes; macOS takes 103, Linux 107
_ROOT = Path(__file__).resolve().parent.parent
_log = logging.getLogger(__name__)


class ServiceProcess:
    """The process `python -P -m server`."""

    def __init__(self, bundle: str | None = None, device: str = "auto", log_level: str = "info") -> None:
        self._options = {"LIKEWISE_DEVICE": device, "LIKEWISE_LOG_LEVEL": log_level}
        if bundle := bundle or os.environ.get("LIKEWISE_BUNDLE"):
            self._options["LIKEWISE_BUNDLE"] = os.path.abspath(bundle)  # the child runs in another folder
        self._process: asyncio.subprocess.Process | None = None
        self._address: Address | None = None
        self._socket = ""  # the file, in a folder of its own
        self.starts = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def address(self) -> Address:
        """The address of the service, which is started first if it is not there or hangs."""
        if self._address is not None and await self._is_alive(self._address):
            return self._address
        await self.stop()
        self._address = await self._start()
        return self._address

    async def stop(self) -> None:
        process, self._process, self._address = self._process, None, None
        self._remove_socket()
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def kill(self) -> None:
        """At once, when there is no time left to wait."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        self._remove_socket()

    async def _is_alive(self, address: Address) -> bool:
        if self._process is None or self._process.returncode is not None:
            return False
        try:
            await fetch(address, "/readyz", timeout_seconds=_ALIVE_SECONDS)
        except ServiceUnavailable:
            _log.warning("the service does not answer: it is started again")
            self.kill()
            return False
        return True

    async def _start(self) -> Address:
        self.starts += 1
        token = secrets.token_urlsafe(32)
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *(
                    "-P",
                    "-m",
                    "server",
                    *self._place(),
                    "--parent-pid",
                    str(os.getpid()),
                ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=self._environment(token),
                cwd=_ROOT,
                start_new_session=os.name == "posix",  # the editor's Ctrl-C is not for it
            )
        except OSError as error:
            self._remove_socket()
            raise ServiceUnavailable(
                "not-started", f"the service could not be started: {error.strerror}"
            ) from None
        try:
            url = await asyncio.wait_for(self._ready_line(self._process), _START_SECONDS)
        except TimeoutError:
            self.kill()
            raise ServiceUnavailable("slow-start", "the service did not get ready in time") from None
        _log.info("service started: pid %s at %s", self._process.pid, url)
        return Address(url, token, self._socket)

    def _place(self) -> tuple[str, ...]:
        """Choose where the next process listens. An editor forwards ports, but no socket files."""
        self._remove_socket()
        if os.name == "posix":
            self._socket = os.path.join(tempfile.mkdtemp(prefix="likewise-"), "service")
            if len(os.fsencode(self._socket)) <= _LIMIT_SOCKET_PATH:
                return "--socket", self._socket
            self._remove_socket()
        return "--host", "127.0.0.1", "--port", "0"

    def _remove_socket(self) -> None:
        if self._socket:
            shutil.rmtree(os.path.dirname(self._socket), ignore_errors=True)
            self._socket = ""

    async def _ready_line(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            with suppress(ValueError, KeyError, TypeError):
                event = json.loads(line)
                if event["event"] == "ready":
                    return str(event["address"])
        code = await process.wait()
        raise ServiceUnavailable(
            "ended", f"the service ended with code {code} before it was ready; its log says why"
        )

    def _environment(self, token: str) -> dict[str, str]:
        # PYTHONPATH names our folder and nothing else: the user's value may name folders of the project.
        return {**os.environ, **self._options, "LIKEWISE_TOKEN": token, "PYTHONPATH": str(_ROOT)}
