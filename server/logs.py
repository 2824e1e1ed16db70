"""Structured logs: one JSON object a line, on stderr. They never hold text of the user."""

import json
import logging
import sys
import time
import traceback
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """Formats a record as JSON: the message is the event, and `extra` are its fields."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        entry |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info and record.exc_info[1]:
            entry |= _describe_error(record.exc_info[1])
        return json.dumps(entry, default=str)


def set_up_logs(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    logging.getLogger("websockets").setLevel(logging.WARNING)  # its debug lines hold the messages


def _is_news(record: logging.LogRecord) -> bool:
    """Drop the server's error about a WebSocket that we refused: we have logged it ourselves."""
    return "without completing handshake" not in record.msg


def _describe_error(error: BaseException) -> dict[str, Any]:
    # An error's message may quote the input, so only its class and its stack are logged.
    frames = traceback.extract_tb(error.__traceback__)
    return {"error": type(error).__name__, "frames": [f"{f.filename}:{f.lineno} {f.name}" for f in frames]}
