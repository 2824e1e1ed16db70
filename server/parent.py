"""is_running: tells whether the process that started the service still runs."""

import ctypes
import os
import sys


def is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Tell whether a process was killed and its own parent has not noticed yet. Only Linux tells."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as status:
            return status.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _is_running_on_windows(pid: int) -> bool:
    """Ask the kernel: on Windows os.kill would end the process."""
    synchronize, still_waiting = 0x0010_0000, 0x102
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - other systems' ctypes have no such attribute
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_waiting)
    finally:
        kernel.CloseHandle(handle)
