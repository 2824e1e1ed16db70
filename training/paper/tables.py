"""The numbers that the paper reports (tables 1, 2 and 3): accuracies in per cent, and properties of the tasks."""

from typing import NamedTuple

COLUMNS = ("E", "IR", "IA-v", "IA-vg", "IA-a", "IA-ag")

_TABLE = """
Append1                 100.0  100.0  100.0   99.9   99.9   99.9
ContextAppend11         100.0   98.6   99.5   99.9   99.5   99.9
ContextAppend13         100.0   98.6   99.8   99.9   99.8  100.0
ContextAppend31          99.5   76.9   98.3   98.0   98.5   98.5
ContextAppend33          99.6   76.3   98.9   99.2   98.9   98.9
ContextAppend52          99.2   74.6   99.0   99.2   99.1   99.3
ContextReverse31         99.4   72.6   97.3   97.9   97.5   98.1
ContextReverse51         99.0   59.5   96.5   96.5   96.1   95.2
Delete2                 100.0   99.9   99.9   99.9   99.9   99.9
Flip11                   99.7   82.8   98.9   99.3   98.8   98.8
Flip33                   98.7   76.8   98.9   98.8   98.2   98.3
Replace2                100.0   99.7  100.0  100.0   99.9  100.0
Surround11              100.0   91.2   99.7   99.8   99.8   99.8
Surround33               99.6   79.5   99.5   99.6   99.5   99.6
MetaAppend1              99.9   13.9   83.4   84.1   84.7   83.0
MetaContextAppend11      99.5    2.5   92.8   95.8   95.2   96.3
MetaContextAppend13     100.0   73.5   98.3   99.1   98.6   98.9
MetaContextAppend31      95.7   18.0   92.5   93.1   91.6   94.3
MetaContextAppend33      99.3   73.3   98.1   98.1   97.7   97.5
MetaContextAppend52      97.2   63.0   97.7   97.5   97.8   97.5
MetaContextReverse31     95.3   14.4   92.4   93.0   91.1   94.4
MetaContextReverse51     94.7   22.6   91.6   93.0   92.2   92.4
MetaDelete2             100.0   94.9   99.5   99.5   99.4   99.8
MetaFlip11               99.1   10.0   86.9   48.1   85.8   92.4
MetaFlip33               97.5   73.9   97.4   96.9   97.6   96.3
MetaReplace2             99.8   93.7   99.7   98.6   98.3   98.5
MetaSurround11           99.6   12.1   96.5   98.1   96.9   98.5
MetaSurround33           99.1   74.9   99.1   99.1   99.1   99.0
Append3                     -      -  100.0  100.0   99.9  100.0
MultiTask                50.0   43.2      -      -      -   53.7
"""


def _read() -> dict[tuple[str, str], float]:
    result = {}
    for line in _TABLE.split("\n")[1:-1]:
        task, *cells = line.split()
        for model, cell in zip(COLUMNS, cells, strict=True):
            if cell != "-":
                result[model, task] = float(cell)
    return result


ACCURACIES = _read()  # by model and task
REAL = {"IA-ag": 61.1, "IR": 55.5, "E": 51.0}  # section 5.2: edits of real code, subtoken by subtoken
TASKS = tuple(line.split()[0] for line in _TABLE.split("\n")[1:-1])


class TaskProperties(NamedTuple):
    """The computed columns of the paper's table 2."""

    edits_per_replacement: float
    average_context_displacement: float
    pomp: float


PROPERTIES = {
    "Append1": TaskProperties(1, 0, 100.0),
    "ContextAppend11": TaskProperties(1, 2, 100.0),
    "ContextAppend13": TaskProperties(3, 3, 100.0),
    "ContextAppend31": TaskProperties(3, 4, 100.0),
    "ContextAppend33": TaskProperties(9, 7, 99.7),
    "ContextAppend52": TaskProperties(10, 8.5, 37.6),
    "ContextReverse31": TaskProperties(3, 4, 100.0),
    "ContextReverse51": TaskProperties(5, 6, 37.6),
    "Delete2": TaskProperties(2, 0, 100.0),
    "Flip11": TaskProperties(2, 3, 100.0),
    "Flip33": TaskProperties(18, 10, 11.8),
    "Replace2": TaskProperties(4, 0, 100.0),
    "Surround11": TaskProperties(2, 1, 100.0),
    "Surround33": TaskProperties(18, 6, 11.8),
    "MetaAppend1": TaskProperties(1, 0, 100.0),
    "MetaContextAppend11": TaskProperties(1, 2, 100.0),
    "MetaContextAppend13": TaskProperties(3, 3, 100.0),
    "MetaContextAppend31": TaskProperties(3, 4, 95.9),
    "MetaContextAppend33": TaskProperties(9, 7, 95.9),
    "MetaContextAppend52": TaskProperties(10, 8.5, 11.9),
    "MetaContextReverse31": TaskProperties(3, 4, 95.9),
    "MetaContextReverse51": TaskProperties(5, 6, 11.9),
    "MetaDelete2": TaskProperties(2, 0, 100.0),
    "MetaFlip11": TaskProperties(2, 3, 100.0),
    "MetaFlip33": TaskProperties(18, 10, 9.2),
    "MetaReplace2": TaskProperties(4, 0, 100.0),
    "MetaSurround11": TaskProperties(2, 1, 100.0),
    "MetaSurround33": TaskProperties(18, 6, 9.2),
}
