import subprocess
import sys

_HEAVY = ("torch", "onnxruntime", "numpy", "tokenizers", "pydantic", "websockets")


def test_nothing_heavy_is_imported_to_answer_initialize() -> None:
    code = f"import sys, lsp.server; print([name for name in {_HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
