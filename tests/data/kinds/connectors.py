"""Connectors to the services that a shop talks to, each made from a URL or from its parts."""

import json
import socket
import time
from urllib.parse import parse_qs, urlsplit


class ConnectorError(Exception):
    """A service did not answer, or answered nonsense."""


class StockConnector:
    """Asks the warehouse how many of an article are left."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._socket = None

    @classmethod
    def from_url(cls, url: str, timeout: float) -> "StockConnector":
        parts = urlsplit(url)
        if parts.hostname is None:
            raise ConnectorError(f"{url} has no host")
        return cls(parts.hostname, parts.port or 7001, timeout)

    def open(self) -> None:
        self._socket = socket.create_connection((self.host, self.port), self.timeout)

    def count(self, article: str) -> int:
        if self._socket is None:
            self.open()
        request = json.dumps({"article": article}).encode()
        self._socket.sendall(request + b"\n")
        answer = json.loads(self._socket.makefile("rb").readline())
        if "count" not in answer:
            raise ConnectorError(f"no count for {article}")
        return int(answer["count"])

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class PriceConnector:
    """Reads prices, and remembers them for a while."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._prices = {}

    @classmethod
    def from_url(cls, url: str, timeout: float) -> "PriceConnector":
        parts = urlsplit(url)
        if parts.scheme != "price":
            raise ConnectorError(f"{url} is no address of prices")
        return cls(parts.hostname or "localhost", parts.port or 7002, timeout)

    def price(self, article: str) -> float:
        known = self._prices.get(article)
        if known is not None and time.monotonic() - known[0] < 60:
            return known[1]
        with socket.create_connection((self.host, self.port), self.timeout) as connection:
            connection.sendall(article.encode() + b"\n")
            answer = connection.makefile().readline()
        price = float(answer)
        self._prices[article] = time.monotonic(), price
        return price

    def forget(self) -> None:
        self._prices.clear()


class MailConnector:
    """Hands messages to the mail server."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._waiting = []

    @classmethod
    def from_url(cls, url: str, timeout: float) -> "MailConnector":
        parts = urlsplit(url)
        return cls(parts.hostname or "localhost", parts.port or 25, timeout)

    def send(self, address: str, subject: str, body: str) -> None:
        self._waiting.append((address, subject, body))
        if len(self._waiting) >= 10:
            self.flush()

    def flush(self) -> int:
        count = 0
        with socket.create_connection((self.host, self.port), self.timeout) as connection:
            for address, subject, body in self._waiting:
                lines = [f"To: {address}", f"Subject: {subject}", "", body, "."]
                connection.sendall("\r\n".join(lines).encode())
                count += 1
        self._waiting.clear()
        return count


class SearchConnector:
    """Searches the catalogue."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._limit = 50

    @classmethod
    def from_url(cls, url: str, timeout: float) -> "SearchConnector":
        parts = urlsplit(url)
        connector = cls(parts.hostname or "localhost", parts.port or 7004, timeout)
        limits = parse_qs(parts.query).get("limit")
        if limits:
            connector._limit = int(limits[0])
        return connector

    def search(self, words: str) -> list[str]:
        request = {"words": words.split(), "limit": self._limit}
        with socket.create_connection((self.host, self.port), self.timeout) as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(connection.makefile().readline())
        if not isinstance(answer, list):
            raise ConnectorError(f"the search for {words!r} failed")
        return [str(article) for article in answer[: self._limit]]


def open_all(urls: dict[str, str], timeout: float) -> dict[str, object]:
    """Make a connector for each URL, by the name of its service."""
    kinds = {
        "stock": StockConnector,
        "price": PriceConnector,
        "mail": MailConnector,
        "search": SearchConnector,
    }
    result: dict[str, object] = {}
    for name, url in urls.items():
        if name not in kinds:
            raise ConnectorError(f"unknown service {name}")
        result[name] = kinds[name].from_url(url, timeout)
    return result
