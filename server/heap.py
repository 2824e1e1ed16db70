"""Returns freed memory to the operating system: the C library would keep it for later, and later may never come."""

import ctypes
from collections.abc import Callable

_Trim = Callable[[int], int]


def _find_trim() -> _Trim | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, another system
        return None


_trim = _find_trim()


def trim_heap() -> None:
    """Return free memory. It takes some milliseconds, in which other threads run on."""
    if _trim is not None:
        _trim(0)
