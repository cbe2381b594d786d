"""Healthy hosts, read once for all situations."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.harness.fleets import Reading, evidence_of
from situations.by_text import Fleet

Healthy = Callable[[str, int], dict[str, Reading]]


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Healthy:
    """So many hosts of a model, as the runner reads them; each read once, whoever asks first."""
    base = tmp_path_factory.getbasetemp()
    # The processes of one run share the folder above their own.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "healthy-hosts"
    folder.mkdir(exist_ok=True)

    def one(model: str, number: int) -> dict[str, Reading]:
        file = folder / f"{model}-{number}"
        with (folder / f"{model}-{number}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                found = evidence_of(folder / f"{model}-{number}-answers", [MODELS[model](number)])
                file.write_bytes(pickle.dumps(found))
        known: dict[str, Reading] = pickle.loads(file.read_bytes())
        return known

    def read(model: str, count: int) -> dict[str, Reading]:
        return {k: v for number in range(1, count + 1) for k, v in one(model, number).items()}

    return read


@pytest.fixture
def fleet(tmp_path: Path) -> Callable[[dict[str, Reading]], Fleet]:
    """A snapshot of these hosts."""
    return lambda hosts: Fleet(tmp_path / "store-of-fleet", hosts)


@pytest.fixture(scope="module")
def lasting_fleet(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[dict[str, Reading]], Fleet]:
    """The same, for fleets of which several tests ask."""
    return lambda hosts: Fleet(tmp_path_factory.mktemp("fleet") / "store", hosts)
