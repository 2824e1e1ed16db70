"""The tiny bundle, read once."""

from pathlib import Path

import pytest

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return Bundle.load(TINY_BUNDLE)


@pytest.fixture(scope="session")
def predictor(bundle: Bundle) -> Predictor:
    return Predictor(bundle, "cpu")
