"""The extension finds an installed Likewise by the name of one module."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_extensions_probe_finds_this_installation(tmp_path: Path) -> None:
    source = (ROOT / "clients" / "vscode" / "src" / "python.ts").read_text(encoding="utf-8")
    probe = re.search(r"export const PROBE = `(.*?)`;", source, re.DOTALL)
    assert probe is not None
    command = [sys.executable, "-P", "-c", probe[1], "pygls", "no-such-distribution"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == {
        "version": list(sys.version_info[:2]),
        "hasLikewise": True,
        "missing": ["no-such-distribution"],
    }
