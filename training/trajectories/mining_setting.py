"""The settings of mining: the product's and the paper's."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class MiningSetting:
    """The limits and shares by which instances are cut from histories."""

    name: str = "product"
    limit_state: int = 768  # tokens of the initial state
    limit_edits: int = 64
    large_hunk: int = 40  # edits; a larger hunk is mostly new code
    keep_new_code: float = 0.3  # share kept of the trajectories that only write new code
    # Share of the trajectories of one hunk that is kept: they say nothing about the next one.
    keep_single: float = 0.6
    chain: float = 0.25  # chance to go on with the file's next change, where it falls into the window
    refactorings: float = 0.5  # synthetic refactorings for each trajectory of the history

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


PRODUCT = MiningSetting()
PAPER = MiningSetting(name="paper", limit_state=1000, limit_edits=100, chain=1.0, refactorings=0.0)
SETTINGS = {setting.name: setting for setting in (PRODUCT, PAPER)}
# How two versions are compared decides the labels where a difference can be told in several ways.
DIFFERENCES = {
    "product": "difflib without autojunk: lines first, then lexical tokens in each hunk",
    "paper": "difflib without autojunk: subtokens of the whole file, left to right",
}
