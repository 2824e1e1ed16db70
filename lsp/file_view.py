"""The view of an open file that its session gives to the predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lsp.document import Document
from lsp.suggestions import Suggestion

if TYPE_CHECKING:  # it brings the tokenizer with it
    from model.editing.recorder import Recorder


class FileView(NamedTuple):
    """One open file as it is now: its session ends the question before it changes any of these."""

    document: Document
    recorder: "Recorder"
    shown: Suggestion | None
    dismissed: Sequence[Suggestion]
