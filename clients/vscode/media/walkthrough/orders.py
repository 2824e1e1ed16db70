"""Orders of a small shop: taken in, priced, packed and sent."""

import csv
import json
import logging
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

logger = logging.getLogger(__name__)

DELIVERY_DAYS = 4
FREE_DELIVERY_CENTS = 5000
DELIVERY_CENTS = 490


class OrderError(Exception):
    """An order that cannot be taken, with the reason in words."""


@dataclass(frozen=True)
class Article:
    """Something that the shop sells."""

    number: str
    name: str
    cents: int
    grams: int


@dataclass
class Line:
    """An article and how many of it."""

    article: Article
    count: int

    @property
    def cents(self) -> int:
        return self.article.cents * self.count

    @property
    def grams(self) -> int:
        return self.article.grams * self.count


@dataclass
class Order:
    """The articles that one customer has ordered."""

    number: int
    customer: str
    ordered: date
    lines: list[Line] = field(default_factory=list)
    sent: date | None = None

    @property
    def goods_cents(self) -> int:
        return sum(line.cents for line in self.lines)

    @property
    def delivery_cents(self) -> int:
        return 0 if self.goods_cents >= FREE_DELIVERY_CENTS else DELIVERY_CENTS

    @property
    def total_cents(self) -> int:
        return self.goods_cents + self.delivery_cents

    @property
    def is_late(self) -> bool:
        due = self.ordered + timedelta(days=DELIVERY_DAYS)
        return self.sent is None and date.today() > due


class Catalogue:
    """All articles, read from a table."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._articles: dict[str, Article] = {}

    def load(self) -> int:
        logger.info("reading articles from %s", self._path)
        with self._path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                article = Article(row["number"], row["name"], int(row["cents"]), int(row["grams"]))
                self._articles[article.number] = article
        logger.info("%d articles", len(self._articles))
        return len(self._articles)

    def find(self, number: str) -> Article:
        try:
            return self._articles[number]
        except KeyError:
            raise OrderError(f"there is no article {number}") from None

    def search(self, words: str) -> list[Article]:
        wanted = words.lower().split()
        found = [
            article
            for article in self._articles.values()
            if all(word in article.name.lower() for word in wanted)
        ]
        logger.info("%d articles for %r", len(found), words)
        return sorted(found, key=lambda article: article.name)


class Stock:
    """The number of each article on the shelf."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = dict(counts)

    def take(self, line: Line) -> None:
        number = line.article.number
        left = self._counts.get(number, 0)
        if left < line.count:
            raise OrderError(f"only {left} of {line.article.name} are left")
        self._counts[number] = left - line.count
        logger.info("%d of %s taken, %d left", line.count, number, self._counts[number])

    def put_back(self, line: Line) -> None:
        number = line.article.number
        self._counts[number] = self._counts.get(number, 0) + line.count
        logger.info("%d of %s put back", line.count, number)

    def missing(self, least: int) -> list[str]:
        return sorted(number for number, count in self._counts.items() if count < least)


class OrderBook:
    """All orders, kept as one JSON object a line."""

    def __init__(self, path: Path, catalogue: Catalogue, stock: Stock) -> None:
        self._path = path
        self._catalogue = catalogue
        self._stock = stock
        self._orders: dict[int, Order] = {}

    def take(self, customer: str, wishes: dict[str, int]) -> Order:
        if not wishes:
            raise OrderError("an empty order is none")
        number = max(self._orders, default=0) + 1
        order = Order(number, customer, date.today())
        taken: list[Line] = []
        try:
            for article, count in wishes.items():
                line = Line(self._catalogue.find(article), count)
                self._stock.take(line)
                taken.append(line)
        except OrderError:
            for line in taken:
                self._stock.put_back(line)
            raise
        order.lines = taken
        self._orders[number] = order
        self._write(order)
        logger.info("order %d of %s: %d lines", number, customer, len(taken))
        return order

    def send(self, number: int) -> None:
        order = self._orders[number]
        if order.sent is not None:
            raise OrderError(f"order {number} was sent on {order.sent}")
        order.sent = date.today()
        self._write(order)
        logger.info("order %d sent", number)

    def cancel(self, number: int) -> None:
        order = self._orders.pop(number)
        for line in order.lines:
            self._stock.put_back(line)
        logger.info("order %d cancelled", number)

    def late(self) -> list[Order]:
        return [order for order in self._orders.values() if order.is_late]

    def turnover(self, month: date) -> int:
        same = [
            order
            for order in self._orders.values()
            if (order.ordered.year, order.ordered.month) == (month.year, month.month)
        ]
        return sum(order.total_cents for order in same)

    def _write(self, order: Order) -> None:
        described = {
            "number": order.number,
            "customer": order.customer,
            "ordered": order.ordered.isoformat(),
            "sent": order.sent.isoformat() if order.sent else None,
            "lines": [[line.article.number, line.count] for line in order.lines],
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(described) + "\n")


def describe(order: Order) -> str:
    """An order in a few lines, for a letter."""
    lines = [f"{line.count:3d} x {line.article.name:30s} {line.cents / 100:8.2f}" for line in order.lines]
    lines.append(f"delivery {order.delivery_cents / 100:8.2f}")
    lines.append(f"total    {order.total_cents / 100:8.2f}")
    return "\n".join(lines)
