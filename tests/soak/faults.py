"""The faults of a soak: what may happen to the processes on a user's machine."""

import os
import resource
import signal

import psutil

FULL_SECONDS = 3.0  # that a disk stays full


def find_service(pid: int) -> psutil.Process | None:
    """Find the service that a language server started, if it runs now."""
    try:
        children = psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return None
    return next((child for child in children if "server" in " ".join(child.cmdline())), None)


def kill_service(pid: int) -> bool:
    return _signal_service(pid, signal.SIGKILL)


def stop_service(pid: int) -> bool:
    """Let the service hang: it runs no more, and its sockets stay open."""
    return _signal_service(pid, signal.SIGSTOP)


def fill_disk(pid: int) -> None:
    """Let no file of the language server grow: as on a full disk, a write fails, perhaps after a part of it."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (2000, hard))


def empty_disk(pid: int) -> None:
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def _signal_service(pid: int, which: signal.Signals) -> bool:
    """Send a signal to the service. Returns whether there was one."""
    try:
        service = find_service(pid)
        if service is None:
            return False
        os.kill(service.pid, which)
    except (psutil.Error, ProcessLookupError):
        return False
    return True
