"""Program: show the synthetic tasks of the paper.

python -m training.synthetic --table          the paper's table of the tasks, its computed columns beside ours
python -m training.synthetic --task Flip11    a few instances of one task
"""

import argparse
import json
import sys
from collections.abc import Sequence

from model.editing.edits import states
from training.paper.instances import draw_instances
from training.paper.properties import compute_properties
from training.paper.tasks import text_from_state

_COLUMNS = (("epr", 13), ("acd", 13), ("pomp", 15))  # with their widths


def _print_table(rows: Sequence[dict[str, str | float]]) -> None:
    print(
        f"{'task':21}{'pattern':18}{'replacement':27}{'EPR (paper)':>13}{'ACD (paper)':>13}{'POMP (paper)':>15}"
    )
    for row in rows:
        columns = "".join(f"{row[c]:g} ({row['paper_' + c]:g})".rjust(width) for c, width in _COLUMNS)
        print(f"{row['name']:21}{row['pattern']:18}{row['replacement']:27}{columns}")


def _print_instances(name: str, count: int, seed: int) -> None:
    for instance in draw_instances(name, "train", count=count, seed=seed):
        print(*(text_from_state(state) for state in states(instance)), sep="\n", end="\n\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.synthetic", description="the paper's synthetic tasks"
    )
    parser.add_argument("--table", action="store_true", help="the properties of all tasks beside the paper's")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.add_argument("--task", help="print instances of this task, one state a line")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.task:
        try:
            _print_instances(options.task, options.count, options.seed)
        except ValueError as error:
            parser.error(str(error))
    elif options.table or options.json:
        rows = compute_properties(options.seed)
        print(json.dumps(rows, indent=2)) if options.json else _print_table(rows)
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
