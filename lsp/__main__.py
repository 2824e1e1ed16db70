"""`likewise-lsp` speaks the language server protocol over stdin and stdout; `likewise-lsp forget` forgets recordings."""

import os
import sys

# The current folder is the user's project. It leaves the path before any other import: a numpy.py in it must not run.
# Behind the standard library stand the interpreter's own folders; they stay, and so does the folder of our packages.
if not os.path.samefile(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.curdir):
    for path in sys.path[:]:
        if path == os.path.dirname(os.__file__):
            break
        if path == "" or (os.path.exists(path) and os.path.samefile(path, os.curdir)):
            sys.path.remove(path)

import logging


def main() -> int:
    if sys.argv[1:2] == ["forget"]:
        from lsp.forget import main as forget

        return forget(sys.argv[2:])
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # These write whole messages into the log, and with them the user's text.
    for name in ("pygls", "websockets", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from lsp.server import create_server
    from lsp.transport import run

    run(create_server())
    return 0


if __name__ == "__main__":
    sys.exit(main())
