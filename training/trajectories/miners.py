"""Versions of files to instances, in the two settings: the product's and the paper's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple, Protocol

from model.editing.edits import (
    DELETE,
    END,
    START,
    Edit,
    Instance,
    State,
    edits_between,
    implicit_from_explicit,
)
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind
from training.refactorings.refactoring import refactor
from training.sources.git import (
    Modification,
    Versions,
    change_fingerprint,
    has_secret,
    rejected_change,
    rejected_text,
)
from training.trajectories.excerpts import Setting, Windows, grow_window
from training.trajectories.hunks import Hunk, hunks_between, lines_of, signature
from training.trajectories.trajectory import Session, instance_from_session, texts_of

_NEW_CODE_EDITS = 20  # a lone hunk with more insertions than this, and hardly a deletion, is new code
_AFTER_OTHER_EDITS = (
    0.3  # share of the refactorings that come after real edits, which have nothing to do with them
)
_VERSIONS = 4  # of a file in one session at most
_CHARACTERS_OF_TOKEN = 12  # a text with more characters for each token of the limit need not be tokenized


class Mined(NamedTuple):
    """An instance, its kind, and a number that is equal for equal changes."""

    instance: Instance
    kind: Kind
    fingerprint: int


class Miner(Protocol):
    """Makes instances of versions of files; counts what it leaves out and why."""

    counts: Counter[str]

    def instances(self, run: Versions) -> Iterator[Mined]: ...


def miner_of(setting: Setting, tokenizer: Tokenizer, seed: int) -> Miner:
    return (PaperMiner if setting.name == "paper" else ProductMiner)(setting, tokenizer, seed)


class ProductMiner:
    """Windows of files of any length, hunks in a realistic order, stop, and refactorings of the same files."""

    def __init__(self, setting: Setting, tokenizer: Tokenizer, seed: int) -> None:
        self.setting = setting
        self.tokenizer = tokenizer
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self._windows = Windows(tokenizer, setting)
        self._seen: set[int] = set()

    def instances(self, run: Versions) -> Iterator[Mined]:
        reasons = [_reason(text) for text in run.texts]
        for number, modification in enumerate(run.modifications):
            reason = reasons[number] or reasons[number + 1]
            if reason is not None:
                self.counts[reason] += 1
                continue
            versions: list[str] = []
            for text in run.texts[number : number + _VERSIONS]:
                if text is None:
                    break
                versions.append(text)
            yield from self._change(modification, versions)

    def _change(self, modification: Modification, versions: list[str]) -> Iterator[Mined]:
        lines = lines_of(versions[0])
        hunks = hunks_between(lines, lines_of(versions[1]))
        if hunks is None:
            self.counts["too many edits"] += 1
            return
        fingerprint = change_fingerprint(lines, hunks)
        reason = rejected_change(lines, hunks) or ("duplicate" if fingerprint in self._seen else None)
        if reason is not None:
            self.counts[reason] += 1
            return
        self._seen.add(fingerprint)
        self.counts["changes used"] += 1
        random = Random(f"{self.seed}:{modification.commit}:{modification.path}")
        sessions = self._windows.sessions(versions, hunks, random)
        if _has_repeat(
            lines, hunks
        ):  # what the product is for: seen twice, in another order, through other windows
            sessions += self._windows.sessions(versions, hunks, random)
        for number, session in enumerate(sessions):
            mined = self._mined(session, fingerprint ^ number)
            if mined is not None and self._is_dull(session, mined.instance, random):
                self.counts["new code or single hunk"] += 1
            elif mined is not None:
                yield mined
        yield from self._refactorings(versions[1], sessions, random)

    def _mined(self, session: Session, fingerprint: int) -> Mined | None:
        if has_secret(session.text) or any(has_secret(change.text) for change in session.changes):
            self.counts["secret"] += 1
            return None
        instance = instance_from_session(session, self.tokenizer, self.setting.limit_edits)
        if instance is None:
            return None
        # Where the first edit goes nobody can know.
        return Mined(instance._replace(conditioning=max(1, instance.conditioning)), session.kind, fingerprint)

    def _is_dull(self, session: Session, instance: Instance, random: Random) -> bool:
        """Says little about the next edit: thinned out."""
        if len(session.changes) > 1:
            return False
        inserted = sum(edit.content != DELETE for edit in instance.edits)
        is_new_code = inserted > max(_NEW_CODE_EDITS, 0.9 * len(instance.edits))
        return random.random() >= self.setting.keep_single * (
            self.setting.keep_new_code if is_new_code else 1.0
        )

    def _refactorings(self, text: str, sessions: Sequence[Session], random: Random) -> Iterator[Mined]:
        several: Sequence[Session | None] = sessions or [None]
        for session in several:
            if random.random() >= self.setting.refactorings:
                continue
            before = session if session is not None and random.random() < _AFTER_OTHER_EDITS else None
            made = self._refactored_after(before, random) if before is not None else None
            made = made or self._refactored(text, random)
            mined = self._mined(made, random.getrandbits(63)) if made is not None else None
            if mined is not None:
                yield mined

    def _refactored(self, text: str, random: Random) -> Session | None:
        """A refactoring of a window anywhere in the text."""
        lines = lines_of(text)
        at = random.randrange(len(lines))
        limit = self.setting.limit_state - 2
        window = grow_window(lines, (at, at), (0, len(lines)), limit, self._windows.length, random)
        return refactor("".join(lines[slice(*window)]), random) if window is not None else None

    def _refactored_after(self, before: Session, random: Random) -> Session | None:
        """A refactoring after real edits, which are given: the newest intent counts, not the oldest."""
        changed = sum(len(change.text) + change.end - change.start for change in before.changes)
        if changed > 4 * self.setting.limit_edits:  # in characters: the refactoring must have room
            return None
        session = refactor(texts_of(before)[-1], random)
        if session is None:
            return None
        given = len(before.changes) + session.conditioning
        return session._replace(
            text=before.text, changes=before.changes + session.changes, conditioning=given
        )


class PaperMiner:
    """As in the paper: whole files within the limit; plain token differences, left to right, of successive versions."""

    def __init__(self, setting: Setting, tokenizer: Tokenizer, seed: int) -> None:
        self.setting = setting
        self.tokenizer = tokenizer
        self.counts: Counter[str] = Counter()
        self._seen: set[int] = set()

    def instances(self, run: Versions) -> Iterator[Mined]:
        state: State = ()
        explicit: list[Edit] = []
        fingerprint = 0
        for old, new in pairwise(run.texts):
            step = self._step(old, new)
            if explicit and (step is None or len(explicit) + len(step.edits) > self.setting.limit_edits):
                yield _plain(state, explicit, fingerprint)
                explicit = []
            if step is None:
                continue
            if not explicit:
                state, fingerprint = step.state, step.fingerprint
            explicit = explicit + step.edits
        if explicit:
            yield _plain(state, explicit, fingerprint)

    def _step(self, old: str | None, new: str | None) -> "_Step | None":
        """One change of a file; None, and a count, when it is left out."""
        reason = _reason(old) or _reason(new)
        if reason is None and old is not None and new is not None:
            before, after = self._state(old), self._state(new)
            if before is None or after is None:
                reason = "too large"
            else:
                lines = lines_of(old)
                hunks = hunks_between(lines, lines_of(new)) or []
                fingerprint = change_fingerprint(lines, hunks)
                reason = rejected_change(lines, hunks) or ("duplicate" if fingerprint in self._seen else None)
                if reason is None:
                    edits = edits_between(before, after)
                    if len(edits) <= self.setting.limit_edits:
                        self._seen.add(fingerprint)
                        self.counts["changes used"] += 1
                        return _Step(before, edits, fingerprint)
                    reason = "too many edits"
        self.counts[reason or ""] += 1
        return None

    def _state(self, text: str) -> State | None:
        if len(text) > _CHARACTERS_OF_TOKEN * self.setting.limit_state or has_secret(text):
            return None
        state = (START, *self.tokenizer.encode(text), END)
        return state if len(state) <= self.setting.limit_state else None


class _Step(NamedTuple):
    state: State
    edits: list[Edit]
    fingerprint: int


def _plain(state: State, explicit: Sequence[Edit], fingerprint: int) -> Mined:
    return Mined(Instance(state, tuple(implicit_from_explicit(state, explicit))), Kind.HISTORY, fingerprint)


def _reason(text: str | None) -> str | None:
    return "binary or too large" if text is None else rejected_text(text)


def _has_repeat(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Do two hunks do the same?"""
    signatures = [of for of in (signature(lines, hunk) for hunk in hunks if len(hunk.new) < 4) if of]
    return len(set(signatures)) < len(signatures)
