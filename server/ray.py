"""The service on Ray Serve: replicas of the same app, behind one address.

    python -m server.ray [--replicas 2]        a try on one machine; takes the options of `python -m server`
    serve deploy deploy/ray-serve.yaml         on a cluster; `args` in the file are the settings

A stream is one long request, so it stays with its replica. When the replica ends, its clients connect again by themselves.
"""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

# Before it is loaded: it would report to its makers, and nothing leaves the machine.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
import ray
from fastapi import FastAPI
from ray import serve

from model.inference.bundle import Bundle, BundleError
from server.app import create_app
from server.bundles import load_predictor
from server.logs import set_up_logs
from server.ray_board import find_board, report_to_board
from server.settings import Settings, read_settings, settings_from

_log = logging.getLogger(__name__)

NAME = "likewise"  # of the application and of its deployment
_ROOM_FOR_REQUESTS = 64  # beside the streams


@serve.ingress()
class Replica:
    """One copy of the service. Ray builds the app in the process that runs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __serve_build_asgi_app__(self) -> FastAPI:
        set_up_logs(self._settings.log_level)
        predictor = load_predictor(self._settings.bundle, self._settings)
        app = create_app(predictor, self._settings)
        replica = serve.get_replica_context().replica_id.unique_id
        app.state.engine.export_metrics = _export_all
        self._reporting = asyncio.create_task(report_to_board(app.state.engine, replica))
        _log.info(
            "ready",
            extra={"replica": replica, "bundle": predictor.bundle.sha256, "provider": predictor.provider},
        )
        return app


async def _export_all() -> bytes:
    """Write the metrics of all replicas."""
    text: bytes = await find_board().export.remote()
    return text


def build(arguments: Mapping[str, Any]) -> Any:
    """Build the application for `serve deploy`: it can be reached from other machines unless `host` says otherwise."""
    return build_application(settings_from({"host": "0.0.0.0", **arguments}))


def build_application(settings: Settings, **options: Any) -> Any:
    """Build the application. A deployment's options in the file that is deployed replace these."""
    deployment = serve.deployment(
        Replica,
        name=NAME,
        max_ongoing_requests=settings.limit_connections + _ROOM_FOR_REQUESTS,
        max_surge_percent=50,  # a new replica is ready before an old one ends
        graceful_shutdown_wait_loop_s=0.5,
        graceful_shutdown_timeout_s=10.0,
        health_check_period_s=5.0,
        health_check_timeout_s=30.0,
        logging_config={"enable_access_log": False},
        **options,
    )
    return deployment.bind(settings)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m server.ray",
        description="The Likewise inference service as replicas on Ray, to try it on one machine.",
        epilog="It also takes the options of python -m server, which python -m server --help lists.",
    )
    parser.add_argument(
        "--replicas", type=int, default=2, help="processes that serve the app (default: %(default)s)"
    )
    options, others = parser.parse_known_args(arguments)
    try:
        settings = read_settings(others)
        Bundle.load(settings.bundle).require_tokenizer()
    except (BundleError, ValueError) as error:
        print(f"server.ray: {error}", file=sys.stderr)
        return 2
    set_up_logs(settings.log_level)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    # Replicas wait for work most of the time: a fraction of a core each, so that a small machine can hold them.
    ray.init(include_dashboard=False, log_to_driver=False)
    try:
        serve.start(http_options={"host": settings.host, "port": settings.port})
        application = build_application(
            settings, num_replicas=options.replicas, ray_actor_options={"num_cpus": 0.1}
        )
        serve.run(application, name=NAME, route_prefix="/", logging_config={"enable_access_log": False})
        address = f"http://{settings.host}:{settings.port}"
        print(json.dumps({"event": "ready", "address": address, "pid": os.getpid()}), flush=True)
        stopped.wait()
    finally:
        serve.shutdown()
        ray.shutdown()
    return 0


if __name__ == "__main__":
    # Import this module by its name: replicas cannot import the class from __main__.
    from server.ray import main as run

    sys.exit(run())
