"""`python -m lsp` speaks the language server protocol over stdin and stdout; `python -m lsp forget` forgets recordings."""

import logging
import sys


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
