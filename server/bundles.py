"""The bundle that the service runs: the one that the operator chose, else the user's own, else the shipped one.

A user's own bundle is loaded when it is named in the user's data folder, without a restart. One that fails its check is
refused, and the old one goes on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from model.editing.edits import END, START
from model.inference.bundle import DEFAULT, Bundle, BundleError, OldBundleError
from model.inference.personal import find_current
from model.inference.predictor import Predictor
from server.settings import Settings

_log = logging.getLogger(__name__)


def load_predictor(path: Path, settings: Settings) -> Predictor:
    """Load a bundle and run it once: the first run allocates, and no user should wait for it."""
    bundle = Bundle.load(path)
    bundle.require_tokenizer()
    predictor = Predictor(bundle, settings.device, together=settings.together)
    predictor.open((START, END))
    return predictor


def load_first(settings: Settings) -> Predictor:
    """Load the bundle to begin with. The shipped one stands in for a user's own that cannot be used."""
    path = find_own(settings) or settings.bundle
    try:
        return load_predictor(path, settings)
    except BundleError as error:
        if path == settings.bundle and not isinstance(error, OldBundleError):
            raise
        _log.warning("bundle refused", extra={"detail": f"{error}. The shipped bundle is used until then."})
        return load_predictor(DEFAULT, settings)


def find_own(settings: Settings) -> Path | None:
    """The user's own bundle; None when there is none, or the operator chose another one."""
    return find_current(settings.own_bundles) if settings.bundle == DEFAULT else None


class BundleWatch:
    """Notices when the user's own bundle changes, and loads the new one."""

    def __init__(
        self, settings: Settings, loaded: Path, replace: Callable[[Predictor], Awaitable[None]]
    ) -> None:
        """`loaded`: the folder of the bundle in use."""
        self._settings, self._replace = settings, replace
        self._seen = None if loaded == DEFAULT else loaded

    async def look(self) -> None:
        """Load the user's own bundle if it has changed since the last look."""
        if self._settings.bundle != DEFAULT:
            return
        own = find_own(self._settings)
        if own == self._seen:
            return
        self._seen = own
        try:
            predictor = await asyncio.to_thread(load_predictor, own or DEFAULT, self._settings)
        except (BundleError, RuntimeError, ValueError) as error:
            _log.warning("bundle refused", extra={"detail": f"{error}. The bundle in use goes on."})
            return
        await self._replace(predictor)
        _log.info(
            "bundle loaded", extra={"bundle": predictor.bundle.sha256, "bundle_name": predictor.bundle.name}
        )
