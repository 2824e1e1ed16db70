"""A user's own bundle is loaded while the service runs; a damaged one is refused."""

import asyncio
import gc
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import weakref
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from model.inference.bundle import DEFAULT, Bundle, BundleError, seal
from model.inference.personal import write_current
from model.inference.predictor import Predictor
from server import bundles
from server.app import create_app
from server.bundles import BundleWatch, find_own, load_first
from server.settings import Settings

_TINY = Path(__file__).parent.parent / "data" / "tiny_bundle"


def _add_bundle(folder: Path, name: str) -> Path:
    shutil.copytree(_TINY, folder / name / "bundle")
    seal(folder / name / "bundle", name)
    return folder / name / "bundle"


def test_a_named_bundle_is_loaded_and_a_damaged_one_refused(tmp_path: Path) -> None:
    settings, loaded = Settings(own_bundles=tmp_path, device="cpu"), list[str]()

    async def replace(predictor: Predictor) -> None:
        loaded.append(predictor.bundle.name)

    watch = BundleWatch(settings, DEFAULT, replace)
    _add_bundle(tmp_path, "one")
    asyncio.run(watch.look())
    assert loaded == []  # it is there, but nobody named it
    write_current(tmp_path, "one")
    asyncio.run(watch.look())
    asyncio.run(watch.look())
    assert loaded == ["one"]
    (_add_bundle(tmp_path, "two") / "config.json").write_text("{}")
    write_current(tmp_path, "two")
    asyncio.run(watch.look())
    assert loaded == ["one"]


def test_a_bundle_that_the_operator_chose_is_the_one(tmp_path: Path) -> None:
    _add_bundle(tmp_path, "one")
    write_current(tmp_path, "one")
    assert find_own(Settings(own_bundles=tmp_path)) == tmp_path / "one" / "bundle"
    assert find_own(Settings(own_bundles=tmp_path, bundle=_TINY)) is None
    assert load_first(Settings(own_bundles=tmp_path, bundle=_TINY, device="cpu")).bundle.directory == _TINY


def test_the_shipped_bundle_stands_in_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "DEFAULT", _TINY)
    settings = Settings(own_bundles=tmp_path, bundle=_TINY, device="cpu")
    (_add_bundle(tmp_path, "one") / "weights.safetensors").write_bytes(b"")
    write_current(tmp_path, "one")
    assert load_first(settings).bundle.sha256 == Bundle.load(_TINY).sha256
    (tmp_path / "broken").mkdir()
    with pytest.raises(BundleError):
        load_first(Settings(own_bundles=tmp_path, bundle=tmp_path / "broken", device="cpu"))


def _read_model(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address}/model", timeout=30) as answer:
        read: dict[str, Any] = json.loads(answer.read())
        return read


def test_a_running_service_changes_its_bundle_and_its_streams_connect_again(tmp_path: Path) -> None:
    own = tmp_path / "bundles"
    _add_bundle(own, "one")
    _add_bundle(own, "two")
    write_current(own, "one")
    environment = os.environ | {
        "LIKEWISE_OWN_BUNDLES": str(own),
        "LIKEWISE_PORT": "0",
        "LIKEWISE_DEVICE": "cpu",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "server"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        address = json.loads(process.stdout.readline())["address"]
        model = _read_model(address)
        assert model["name"] == "one"
        bundle = Bundle.load(own / "one" / "bundle")
        state = [1, *bundle.require_tokenizer().encode("x = 1\n"), 2]
        opening = {"type": "open", "document": "a.py", "version": 1, "bundle": bundle.sha256, "state": state}
        with connect(address.replace("http", "ws") + "/stream", proxy=None) as stream:
            stream.send(json.dumps(opening))
            assert json.loads(stream.recv(timeout=60))["type"] == "opened"
            write_current(own, "two")
            with pytest.raises(ConnectionClosedError, match="service restart"):
                stream.recv(timeout=60)
        deadline = time.monotonic() + 60
        while _read_model(address)["name"] != "two":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_a_name_that_cannot_be_read_means_the_shipped_bundle(tmp_path: Path) -> None:
    (tmp_path / "current").write_bytes(b"\xff\n")
    assert find_own(Settings(own_bundles=tmp_path)) is None


def test_a_bundle_that_was_replaced_gives_its_memory_back() -> None:
    settings = Settings(bundle=_TINY, device="cpu")
    app = create_app(load_first(settings), settings, watch=BundleWatch)
    before = weakref.ref(app.state.engine.predictor)
    with TestClient(app) as client:
        assert client.portal is not None
        gc.disable()  # the service freezes what it has at the start: a cycle would never be collected
        try:
            client.portal.call(app.state.engine.replace, load_first(settings))
            assert before() is None
        finally:
            gc.enable()
