"""A document for the tests of proposals: its text, and the stream of its changes."""

from model.editing.change import Change
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from model.proposals.evidence import Moment
from model.proposals.lexical_text import LexicalTables
from model.proposals.proposals import Proposals, propose


class Stream:
    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self.tables = LexicalTables(tokenizer)
        self.recorder = Recorder(tokenizer, text)
        self.text = text
        self.time = 0.0

    def replace(self, old: str, new: str, number: int = 0) -> "Stream":
        """Replace an occurrence of a text, as one paste."""
        start = -1
        for _ in range(number + 1):
            start = self.text.index(old, start + 1)
        self.apply(Change(start, start + len(old), new))
        return self

    def apply(self, *changes: Change, seconds: float = 5.0) -> None:
        self.time += seconds
        self.recorder.record(changes, self.time)
        for change in changes:
            self.text = self.text[: change.start] + change.text + self.text[change.end :]

    def type(self, text: str, offset: int) -> "Stream":
        """Type letters one after another."""
        for number, letter in enumerate(text):
            self.apply(Change(offset + number, offset + number, letter), seconds=0.1)
        return self

    def proposals(self, *, is_open: bool = False) -> Proposals:
        recorder = self.recorder
        moment = Moment(0.1 if is_open else 5.0, is_open, recorder.prefix)
        return propose(recorder.slots, recorder.burst_ends, self.tables, moment, cursor=recorder.cursor)

    def results(self, *, is_open: bool = False) -> list[str]:
        """The whole text after each candidate."""
        return [self.after(change) for change in self.proposals(is_open=is_open).changes]

    def after(self, change: Change) -> str:
        return self.text[: change.start] + change.text + self.text[change.end :]
