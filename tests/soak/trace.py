"""Everything that both processes open and connect to while a user edits, seen by strace.

    python -m tests.soak.trace --minutes 10

Ends with "only loopback, and no file of the workspace", or says what else was touched. Needs strace, and Linux.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

from tests.lsp.test_replay import Developer
from tests.soak.plain_editor import PlainEditor

_CALLS = "trace=connect,bind,sendto,sendmsg,open,openat,creat,execve,rename,unlink"
_KEYS_EACH_SECOND = 20
_LOOPBACK = re.compile(r'inet_addr\("127\.|inet_pton\(AF_INET6, "::1"|AF_UNIX|AF_UNSPEC|NULL')
_ADDRESS = re.compile(r"\b(?:connect|bind|sendto|sendmsg)\(.*sa_family=")


async def edit(folder: Path, minutes: float) -> Path:
    """Edit some files of a workspace under strace. Returns the trace."""
    workspace, data, trace = folder / "workspace", folder / "data", folder / "trace"
    workspace.mkdir()
    data.mkdir()
    for name in ("a.py", "b.py", "secret.env", "other.py", "server.py", "lsp.py", "numpy.py", "package.json"):
        (workspace / name).write_text("def total(items):\n    return sum(items)\n" * 10)
    (workspace / ".git").mkdir()
    (workspace / ".git" / "config").write_text("[core]\n")
    command = (
        "strace",
        "-f",
        "-qq",
        "-y",
        "-s",
        "200",
        "-e",
        _CALLS,
        "-o",
        str(trace),
        sys.executable,
        "-P",
        "-m",
        "lsp",
    )
    editor = PlainEditor(data, {"push": True, "record": True}, command=command, workspace=workspace)
    developer = Developer(1)
    await editor.start()
    uris = [(workspace / name).as_uri() for name in ("a.py", "b.py", "secret.env")]
    for uri in uris:
        editor.open(uri, "def total(items):\n    return sum(items)\n" * 10)
    until, uri, answers = time.monotonic() + 60 * minutes, uris[0], 0
    while time.monotonic() < until:
        if developer.random.random() < 0.05:
            uri = developer.random.choice(uris)
            editor.notify("textDocument/didFocus", {"textDocument": {"uri": uri}})
        changes = developer.changes(editor.documents[uri].text)
        if changes:
            editor.change(uri, *changes)
        if developer.random.random() < 0.05:
            editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
            await editor.wait()
        await asyncio.sleep(1 / _KEYS_EACH_SECOND)
    answers = editor.notices
    await editor.stop()
    print(f"{sum(each.version - 1 for each in editor.documents.values())} changes, {answers} answers")
    return trace


def find_strangers(trace: Path, workspace: Path) -> list[str]:
    """Find the calls that leave the machine or touch the workspace."""
    strangers, count = [], 0
    where = re.escape(str(workspace))
    touching = re.compile(
        rf'"{where}/|<{where}>, "[^/]'
    )  # by its whole path, or from the folder in which we run
    for line in trace.read_text(errors="replace").splitlines():
        count += 1
        is_remote = _ADDRESS.search(line) is not None and _LOOPBACK.search(line) is None
        if is_remote or touching.search(line):
            strangers.append(line)
    print(f"{count} calls")
    return strangers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.trace")
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = asyncio.run(edit(Path(folder), options.minutes))
        strangers = find_strangers(trace, Path(folder) / "workspace")
    print("only loopback, and no file of the workspace" if not strangers else "\n".join(strangers))
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main())
