"""A predictor has no more threads than were asked for."""

import subprocess
import sys
from pathlib import Path

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"
_COUNT = """
import sys
import psutil
from model.inference.bundle import Bundle
from training.personal.predictor import open_predictor

bundle = Bundle.load(sys.argv[1])
before = psutil.Process().num_threads()
predictor = open_predictor(bundle, int(sys.argv[2]))
predictor.open((1, *bundle.require_tokenizer().encode("x = 1\\n" * 50), 2))
print(psutil.Process().num_threads() - before)
"""


def _count_added_threads(threads: int) -> int:
    command = [sys.executable, "-c", _COUNT, str(_TINY), str(threads)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_one_thread_adds_none() -> None:
    assert _count_added_threads(1) == 0
    assert _count_added_threads(2) == 1
