"""Instances from the versions of a file, in the two settings: the product's and the paper's."""

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
from training.sources.filters import change_fingerprint, check_change, check_text, has_secret
from training.sources.git import FileVersions, Modification
from training.trajectories.excerpts import ExcerptCutter, grow_excerpt
from training.trajectories.hunks import Hunk, hunk_signature, hunks_between, lines_of
from training.trajectories.mining_setting import MiningSetting
from training.trajectories.trajectory import Trajectory, instance_from_trajectory

_NEW_CODE_EDITS = 20  # a lone hunk with more insertions than this, and hardly a deletion, is new code
_AFTER_OTHER_EDITS = 0.3  # share of the refactorings that come after unrelated real edits
_VERSIONS = 4  # of a file in one trajectory at most
_CHARACTERS_OF_TOKEN = 12  # a text with more characters for each token of the limit need not be tokenized


class MinedInstance(NamedTuple):
    """An instance, its kind, and a number that is equal for equal changes."""

    instance: Instance
    kind: Kind
    fingerprint: int


class InstanceMaker(Protocol):
    """Makes instances of versions of files; counts what it leaves out and why."""

    counts: Counter[str]

    def make(self, versions: FileVersions) -> Iterator[MinedInstance]: ...


def instance_maker_for(setting: MiningSetting, tokenizer: Tokenizer, seed: int) -> InstanceMaker:
    return (PaperInstanceMaker if setting.name == "paper" else ProductInstanceMaker)(setting, tokenizer, seed)


class ProductInstanceMaker:
    """Excerpts of files of any length, hunks in a realistic order, stop, and refactorings of the same files."""

    def __init__(self, setting: MiningSetting, tokenizer: Tokenizer, seed: int) -> None:
        self.setting = setting
        self.tokenizer = tokenizer
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self._cutter = ExcerptCutter(tokenizer, setting)
        self._seen: set[int] = set()

    def make(self, versions: FileVersions) -> Iterator[MinedInstance]:
        reasons = [_check_version(text) for text in versions.texts]
        for number, modification in enumerate(versions.modifications):
            reason = reasons[number] or reasons[number + 1]
            if reason is not None:
                self.counts[reason] += 1
                continue
            texts: list[str] = []
            for text in versions.texts[number : number + _VERSIONS]:
                if text is None:
                    break
                texts.append(text)
            yield from self._make_from_commit(modification, texts)

    def _make_from_commit(self, modification: Modification, texts: list[str]) -> Iterator[MinedInstance]:
        lines = lines_of(texts[0])
        hunks = hunks_between(lines, lines_of(texts[1]))
        if hunks is None:
            self.counts["too many edits"] += 1
            return
        fingerprint = change_fingerprint(lines, hunks)
        reason = check_change(lines, hunks) or ("duplicate" if fingerprint in self._seen else None)
        if reason is not None:
            self.counts[reason] += 1
            return
        self._seen.add(fingerprint)
        self.counts["changes used"] += 1
        random = Random(f"{self.seed}:{modification.commit}:{modification.path}")
        trajectories = self._cutter.cut(texts, hunks, random)
        if _has_repeat(lines, hunks):
            # Repeats are what the product is for: they are cut twice, in another order and through other windows.
            trajectories += self._cutter.cut(texts, hunks, random)
        for number, trajectory in enumerate(trajectories):
            mined = self._make_instance(trajectory, fingerprint ^ number)
            if mined is not None and self._thins_out(trajectory, mined.instance, random):
                self.counts["new code or single hunk"] += 1
            elif mined is not None:
                yield mined
        yield from self._make_refactorings(texts[1], trajectories, random)

    def _make_instance(self, trajectory: Trajectory, fingerprint: int) -> MinedInstance | None:
        if has_secret(trajectory.text) or any(has_secret(change.text) for change in trajectory.changes):
            self.counts["secret"] += 1
            return None
        instance = instance_from_trajectory(trajectory, self.tokenizer, self.setting.limit_edits)
        if instance is None:
            return None
        # No model can know where the first edit goes: it is given.
        given = max(1, instance.conditioning)
        return MinedInstance(instance._replace(conditioning=given), trajectory.kind, fingerprint)

    def _thins_out(self, trajectory: Trajectory, instance: Instance, random: Random) -> bool:
        """Decide at random to drop a trajectory that says little about the next edit."""
        if len(trajectory.changes) > 1:
            return False
        inserted = sum(edit.content != DELETE for edit in instance.edits)
        is_new_code = inserted > max(_NEW_CODE_EDITS, 0.9 * len(instance.edits))
        return random.random() >= self.setting.keep_single * (
            self.setting.keep_new_code if is_new_code else 1.0
        )

    def _make_refactorings(
        self, text: str, trajectories: Sequence[Trajectory], random: Random
    ) -> Iterator[MinedInstance]:
        several: Sequence[Trajectory | None] = trajectories or [None]
        for trajectory in several:
            if random.random() >= self.setting.refactorings:
                continue
            is_after = trajectory is not None and random.random() < _AFTER_OTHER_EDITS
            before = trajectory if is_after else None
            refactoring = self._refactor_after(before, random) if before is not None else None
            refactoring = refactoring or self._refactor(text, random)
            mined = (
                self._make_instance(refactoring, random.getrandbits(63)) if refactoring is not None else None
            )
            if mined is not None:
                yield mined

    def _refactor(self, text: str, random: Random) -> Trajectory | None:
        """A refactoring of a window anywhere in the text."""
        lines = lines_of(text)
        at = random.randrange(len(lines))
        limit = self.setting.limit_state - 2
        window = grow_excerpt(lines, (at, at), (0, len(lines)), limit, self._cutter.count_tokens, random)
        return refactor("".join(lines[slice(*window)]), random) if window is not None else None

    def _refactor_after(self, before: Trajectory, random: Random) -> Trajectory | None:
        """A refactoring after real edits, which are given: the newest intent counts, not the oldest."""
        changed = sum(len(change.text) + change.end - change.start for change in before.changes)
        if changed > 4 * self.setting.limit_edits:  # in characters: the refactoring must have room
            return None
        refactoring = refactor(before.texts()[-1], random)
        if refactoring is None:
            return None
        given = len(before.changes) + refactoring.conditioning
        changes = before.changes + refactoring.changes
        return refactoring._replace(text=before.text, changes=changes, conditioning=given)


class PaperInstanceMaker:
    """As in the paper: whole files within the limit; plain token differences, left to right, of successive versions."""

    def __init__(self, setting: MiningSetting, tokenizer: Tokenizer, seed: int) -> None:
        self.setting = setting
        self.tokenizer = tokenizer
        self.counts: Counter[str] = Counter()
        self._seen: set[int] = set()

    def make(self, versions: FileVersions) -> Iterator[MinedInstance]:
        state: State = ()
        explicit: list[Edit] = []
        fingerprint = 0
        for old, new in pairwise(versions.texts):
            difference = self._compare(old, new)
            if explicit and (
                difference is None or len(explicit) + len(difference.edits) > self.setting.limit_edits
            ):
                yield _make_plain(state, explicit, fingerprint)
                explicit = []
            if difference is None:
                continue
            if not explicit:
                state, fingerprint = difference.state, difference.fingerprint
            explicit = explicit + difference.edits
        if explicit:
            yield _make_plain(state, explicit, fingerprint)

    def _compare(self, old: str | None, new: str | None) -> "_Difference | None":
        """One change of a file; None, and a count, when it is left out."""
        reason = _check_version(old) or _check_version(new)
        if reason is None and old is not None and new is not None:
            before, after = self._encode(old), self._encode(new)
            if before is None or after is None:
                reason = "too large"
            else:
                lines = lines_of(old)
                hunks = hunks_between(lines, lines_of(new)) or []
                fingerprint = change_fingerprint(lines, hunks)
                reason = check_change(lines, hunks) or ("duplicate" if fingerprint in self._seen else None)
                if reason is None:
                    edits = edits_between(before, after)
                    if len(edits) <= self.setting.limit_edits:
                        self._seen.add(fingerprint)
                        self.counts["changes used"] += 1
                        return _Difference(before, edits, fingerprint)
                    reason = "too many edits"
        self.counts[reason or ""] += 1
        return None

    def _encode(self, text: str) -> State | None:
        if len(text) > _CHARACTERS_OF_TOKEN * self.setting.limit_state or has_secret(text):
            return None
        state = (START, *self.tokenizer.encode(text), END)
        return state if len(state) <= self.setting.limit_state else None


class _Difference(NamedTuple):
    state: State
    edits: list[Edit]
    fingerprint: int


def _make_plain(state: State, explicit: Sequence[Edit], fingerprint: int) -> MinedInstance:
    return MinedInstance(
        Instance(state, tuple(implicit_from_explicit(state, explicit))), Kind.HISTORY, fingerprint
    )


def _check_version(text: str | None) -> str | None:
    return "binary or too large" if text is None else check_text(text)


def _has_repeat(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Do two hunks do the same?"""
    signatures = [of for of in (hunk_signature(lines, hunk) for hunk in hunks if len(hunk.new) < 4) if of]
    return len(set(signatures)) < len(signatures)
