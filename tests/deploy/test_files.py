"""The files of deploy/, read as their programs read them. No container engine is needed."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.settings import Settings, settings_from

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def test_the_settings_of_the_cluster_are_settings_of_the_service() -> None:
    (application,) = read("ray-serve.yaml")["applications"]
    settings = settings_from(application["args"])
    assert settings.has_users
    assert settings.limit_connections == 128
    (deployment,) = application["deployments"]
    assert deployment["max_ongoing_requests"] > settings.limit_connections
    assert deployment["max_surge_percent"] > 0


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(ValueError, match="unknown settings: bundel"):
        settings_from({"bundel": "x"})


def test_the_composed_service_has_settings_that_exist_and_writes_nothing() -> None:
    service = read("compose.yaml")["services"]["likewise"]
    names = {f"LIKEWISE_{field.name.upper()}" for field in fields(Settings)}
    assert set(service["environment"]) <= names
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])


def test_files_that_are_mounted_exist() -> None:
    services = read("compose.yaml")["services"]
    made_by_the_operator = {"./users"}
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            if source.startswith("./") and source not in made_by_the_operator:
                assert (DEPLOY / source).exists(), source


def test_the_image_runs_without_root_and_tells_its_health() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER 10001$", text, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK .*healthz", text, re.MULTILINE)
    assert "[cpu]" in text
    assert "train]" not in text
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    assert all((ROOT / name).exists() for line in copied for name in line.split())
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert all(f"!{name}" in ignored for line in copied for name in line.split())


def test_prometheus_scrapes_the_service() -> None:
    (job,) = read("prometheus.yaml")["scrape_configs"]
    assert job["static_configs"][0]["targets"] == ["likewise:8377"]
