"""Unexpected failures in the log: the class of the error and where it happened, never its message.

An error's message may quote the user's text.
"""

import asyncio
import logging
import traceback
from typing import Any

_log = logging.getLogger(__name__)


def describe_failure(error: BaseException) -> str:
    frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' '.join(frames)}"


def watch_tasks() -> None:
    """Log each task and callback of the running loop that fails. asyncio itself would log it with its message."""
    asyncio.get_running_loop().set_exception_handler(_log_context)


def _log_context(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if error is not None:
        _log.error("a task failed: %s", describe_failure(error))
