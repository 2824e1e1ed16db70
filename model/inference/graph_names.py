"""The names of the graphs, and of their inputs and outputs: export writes them, the runtime reads them.

A bundle keeps its graphs for years. A name here may only change together with the format of bundles.
"""

from model.features.slot_positions import EDIT_FEATURES

ENCODE, STEP, CONTENT = "encode", "step", "content"
GRAPHS = (ENCODE, STEP, CONTENT)

# The state
STATE = "state"
MASK = "mask"  # additive, (1, columns)
STATE_HIDDENS = "state_hiddens"
STATE_KEYS = "state_keys"
STATE_VALUES = "state_values"
_ENCODED_PREFIXES = ("state_", "copy_")  # of outputs of ENCODE that depend on the state alone

# Caches: a graph reads the rows of past edits and writes the rows of new ones.
EDIT_HIDDENS = "edit_hiddens"
_PAST, _NEW, _ROW = "past.", "new.", "row."

# The position
ALIVE = "alive"
BUCKETS = "buckets"
POSITION_SCORES = "position_scores"
BECAUSE = "because"

# The content
CONTEXTS = "contexts"
REPLAYED = "replayed"
REPLAYED_KINDS = "replayed_kinds"
SOURCES = "sources"
CONTENT_SCORES = "content_scores"

# Steps of several histories in one run. Each history has its own encoded state and caches; the graph puts them side by side.
SIZES_TOGETHER = (8, 4, 2)  # histories in one run; there is a graph for each
STATE_INDEX = "state_index"  # (B, columns) into the columns of all states, one after another
EDIT_INDEX = "edit_index"  # (B, edits) into the edits of all histories
ROW_INDEX = "row_index"  # (B, rows)
AGES = "ages"  # (B, new, rows) from one; zero for padding

# The features of new edits, by field of EditFeatures. One is known to graphs by its first name.
EDIT_INPUTS = {name: name for name in EDIT_FEATURES} | {"explicit_positions": "places"}


def together(size: int) -> str:
    """Name the graph that steps so many histories."""
    return f"{STEP}_{size}"


def of_history(name: str, number: int) -> str:
    """Name the input or output of one history in a graph that steps several."""
    return f"{name}.{number}"


def is_encoded(name: str) -> bool:
    """Tell whether an output of ENCODE depends on the state alone, and is an input of the other graphs."""
    return name.startswith(_ENCODED_PREFIXES)


def past_of(cache: str) -> str:
    """Name the input that reads a cache."""
    return _PAST + cache


def new_of(cache: str) -> str:
    """Name the output that writes the new rows of a cache."""
    return _NEW + cache


def row_of(name: str) -> str:
    """Name the output of STEP that is an input of CONTENT: a part of the newest row."""
    return _ROW + name


def is_row(name: str) -> bool:
    return name.startswith(_ROW)


def cache_of(past: str) -> str | None:
    """Give the cache that an input reads; None when it reads none."""
    return past.removeprefix(_PAST) if past.startswith(_PAST) else None


def row_name(row: str) -> str:
    """Give the name of a part of a row from its input or output."""
    return row.removeprefix(_ROW)
