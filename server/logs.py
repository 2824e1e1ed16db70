"""Structured logs: one JSON object a line, on stderr. What the user writes is never in them."""

import json
import logging
import sys
import time
import traceback
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """The message is the event; what is given as `extra` are its fields."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        entry |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info and record.exc_info[1]:
            entry |= _trouble(record.exc_info[1])
        return json.dumps(entry, default=str)


def set_up_logs(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    logging.getLogger("websockets").setLevel(logging.WARNING)  # its debug lines hold the messages


def _is_news(record: logging.LogRecord) -> bool:
    """A WebSocket that we refuse is no error of ours, and we have said so ourselves."""
    return "without completing handshake" not in record.msg


def _trouble(error: BaseException) -> dict[str, Any]:
    # An error's own words may quote the input, so only its class and the places in the code are told.
    frames = traceback.extract_tb(error.__traceback__)
    return {"error": type(error).__name__, "frames": [f"{f.filename}:{f.lineno} {f.name}" for f in frames]}
