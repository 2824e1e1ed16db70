"""A Ray cluster of two nodes on this machine, and the service on it as deploy/ray-serve.yaml describes it."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import ray
import yaml
from ray.cluster_utils import Cluster

FILE = Path(__file__).resolve().parents[2] / "deploy" / "ray-serve.yaml"
_DEPLOYED_SECONDS = 120.0  # on a busy machine


class ServiceOnRay:
    """The service on a running cluster."""

    def __init__(self, folder: Path, dashboard: str, replicas: int, **arguments: Any) -> None:
        self._folder = folder
        self._dashboard = dashboard
        self._replicas = replicas
        self._arguments = arguments
        self._files = 0
        self.token = ""
        self.port = find_free_port()
        self.address = f"http://127.0.0.1:{self.port}"

    def write_file(self, **arguments: Any) -> Path:
        """Write the shipped file with settings of this test: nothing else of it is changed."""
        described = yaml.safe_load(FILE.read_text(encoding="utf-8"))
        described["proxy_location"] = "HeadOnly"  # both nodes have the same address here
        described["http_options"] = {"host": "127.0.0.1", "port": self.port}
        (application,) = described["applications"]
        application["args"] = {
            **application["args"],
            "host": "127.0.0.1",
            "device": "cpu",
            **self._arguments,
            **arguments,
        }
        if "users" not in {**self._arguments, **arguments}:
            del application["args"]["users"]
        (deployment,) = application["deployments"]
        del deployment["autoscaling_config"]
        deployment["num_replicas"] = self._replicas
        deployment["max_ongoing_requests"] = application["args"]["limit_connections"] + 64
        deployment["ray_actor_options"] = {"num_cpus": 1}
        self._files += 1
        path = self._folder / f"serve-{self._files}.yaml"
        path.write_text(yaml.safe_dump(described), encoding="utf-8")
        return path

    def deploy(self, path: Path) -> None:
        """Run the command of the README."""
        command = [
            str(Path(sys.executable).with_name("serve")),
            "deploy",
            str(path),
            "--address",
            self._dashboard,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def wait_until_served(self, bundle: str) -> None:
        """Wait until all replicas, and no others, serve a bundle."""
        deadline = time.monotonic() + _DEPLOYED_SECONDS
        while time.monotonic() < deadline:
            states = self.read_replicas()
            running = [each for each in states if each["state"] == "RUNNING"]
            if len(running) == len(states) == self._replicas and self._find_bundles() == {bundle[:12]}:
                return
            time.sleep(1.0)
        raise AssertionError(f"not served in time: {self.read_replicas()}")

    def read_replicas(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(self._make_request(), timeout=30) as response:
            details = json.load(response)
        application = details["applications"].get("likewise", {})
        if application.get("status") == "DEPLOY_FAILED":
            raise AssertionError(application["message"])
        deployments = application.get("deployments", {})
        replicas: list[dict[str, Any]] = deployments["likewise"]["replicas"] if deployments else []
        return replicas

    def _make_request(self) -> urllib.request.Request:
        return urllib.request.Request(f"{self._dashboard}/api/serve/applications/")

    def _find_bundles(self) -> set[str]:
        """Find the bundles of the replicas that report metrics."""
        try:
            text = self.get("/metrics").decode()
        except OSError:
            return set()
        lines = [line for line in text.splitlines() if line.startswith("likewise_model_info{")]
        return {line.split('bundle="')[1].split('"')[0] for line in lines}

    def get(self, path: str) -> bytes:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(self.address + path, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            body: bytes = response.read()
        return body

    @property
    def megabytes(self) -> dict[str, float]:
        """Resident memory by kind of process: replicas, the proxy, and the rest of Ray."""
        result = {"replicas": 0.0, "proxy": 0.0, "rest of Ray": 0.0}
        for process in psutil.Process().children(recursive=True):
            try:
                title, memory = " ".join(process.cmdline()), process.memory_info().rss / 1e6
            except psutil.Error:
                continue
            kind = (
                "replicas" if "ServeReplica" in title else "proxy" if "ProxyActor" in title else "rest of Ray"
            )
            result[kind] += memory
        return result


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def two_nodes(folder: Path, replicas: int = 2, **arguments: Any) -> Iterator[ServiceOnRay]:
    """Start two nodes, and stop them with everything on them."""
    # The test speaks to the dashboard itself, without Ray's token.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    # One proxy for both nodes: it must not prefer the replica beside it.
    os.environ["RAY_SERVE_PROXY_PREFER_LOCAL_NODE_ROUTING"] = "0"
    port = find_free_port()
    node = {"num_cpus": 3, "object_store_memory": 100_000_000}
    cluster = Cluster(
        initialize_head=True, head_node_args={**node, "include_dashboard": True, "dashboard_port": port}
    )
    try:
        cluster.add_node(**node)
        ray.init(address=cluster.address, log_to_driver=False)
        yield ServiceOnRay(folder, f"http://127.0.0.1:{port}", replicas, **arguments)
    finally:
        ray.shutdown()
        cluster.shutdown()
