"""Memory that is free is given back to the machine: the C library keeps it for later, and here later may be never."""

import ctypes
from collections.abc import Callable

_Trim = Callable[[int], int]


def _find_trim() -> _Trim | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, another system
        return None


_trim = _find_trim()


def give_back() -> None:
    """Takes some milliseconds, in which other threads run on."""
    if _trim is not None:
        _trim(0)
