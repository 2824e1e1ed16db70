"""The service on a real cluster of two nodes: people type while replicas are killed and replaced."""

import functools
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("ray")

import ray

from model.inference.bundle import DEFAULT, Bundle
from model.inference.predictor import Predictor
from server.users import add_user, revoke_user
from tests.ray.acceptance import kill_one_replica, make_other_bundle, run_typing, update
from tests.ray.cluster import ServiceOnRay, two_nodes

SESSIONS = 10
SECONDS = 10.0


class Served(NamedTuple):
    service: ServiceOnRay
    predictor: Predictor
    file: Path
    users: Path
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("ray")
    predictor = Predictor(Bundle.load(DEFAULT), "cpu")
    users = folder / "users"
    token = add_user(users, "anna")
    with two_nodes(folder, bundle=str(DEFAULT), users=str(users), limit_user_connections=64) as service:
        service.token = token
        file = service.write_file()
        service.deploy(file)
        service.wait_until_served(predictor.bundle.sha256)
        yield Served(service, predictor, file, users, token)


def test_replicas_are_on_both_nodes_and_export_their_metrics_apart(served: Served) -> None:
    replicas = served.service.read_replicas()
    assert len({each["node_id"] for each in replicas}) == 2
    text = served.service.get("/metrics").decode()
    assert all(f'replica="{each["replica_id"]}"' in text for each in replicas)
    assert text.count("# TYPE likewise_sessions gauge") == 1


def test_only_users_come_in_and_their_text_is_in_no_log(served: Served) -> None:
    secret = "hunter2hunter2"
    body = json.dumps({"text": f"a = {secret}\n", "edits": [{"start": 0, "end": 1, "text": secret}]}).encode()
    request = urllib.request.Request(
        served.service.address + "/predict", body, {"Content-Type": "application/json"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 401
    request.add_header("Authorization", f"Bearer {served.token}")
    with urllib.request.urlopen(request, timeout=30) as response:
        assert "suggestions" in json.load(response)
    folder = Path(ray._private.worker._global_node.get_logs_dir_path())
    logs = [path for path in folder.rglob("*") if path.is_file()]
    assert any("likewise" in path.name for path in logs)
    for path in logs:
        assert secret not in path.read_text(encoding="utf-8", errors="replace"), path.name
        assert served.token not in path.read_text(encoding="utf-8", errors="replace"), path.name


def test_after_a_kill_every_session_has_right_answers_again(served: Served) -> None:
    sha256 = served.predictor.bundle.sha256
    figures = run_typing(
        served.service,
        served.predictor,
        SESSIONS,
        SECONDS,
        lambda: kill_one_replica(served.service, sha256),
        every_seconds=1.0,
    )
    figures.tell("kill -9")
    assert figures.wrong == 0
    for typist in figures.typists:
        assert typist.right_times[0] < figures.happened
        assert typist.right_times[-1] > figures.over


def test_another_bundle_is_deployed_without_a_gap_and_so_is_the_first_again(
    served: Served, tmp_path: Path
) -> None:
    other = make_other_bundle(tmp_path / "other")
    second = served.service.write_file(bundle=str(other.directory))
    for file, bundle in ((second, other.sha256), (served.file, served.predictor.bundle.sha256)):
        figures = run_typing(
            served.service,
            served.predictor,
            SESSIONS,
            SECONDS,
            functools.partial(update, served.service, file, bundle),
            every_seconds=1.0,
        )
        figures.tell("another bundle")
        assert figures.wrong == 0
        assert not [reason for typist in figures.typists for _, reason in typist.problems]
        assert all(typist.bundles[-1] == bundle for typist in figures.typists)


def test_a_revoked_user_is_out_on_all_replicas(served: Served) -> None:
    revoke_user(served.users, "anna")
    refused = 0
    for _ in range(200):
        try:
            served.service.get("/model")
            refused = 0
        except urllib.error.HTTPError as error:
            refused += error.code == 401
        if refused == 20:
            return
    pytest.fail("a replica still serves a user who was revoked")
