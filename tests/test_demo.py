"""`railwright demo`: what it shows is what was put into the fabric, and it needs nothing."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

from railwright.demo import ARCHIVE, unpack
from railwright.model.remake import work_on
from railwright.store.lookup import find

MOST_BYTES = 3_000_000
MOST_CPU_S = 60.0  # a gross regression; the figure itself is in docs/figures.md (bench.check)
# Written by hand from the faults in tools/make_demo.py: what is found, its state, and its cause.
FOUND = {
    # Eight lanes carry 252 Gb/s, and the port has 400.
    ("pcie-link-narrow", "ember-h007:0000:29:00.0"): ("open", None),
    ("pcie-below-port-rate", "ember-h007:0000:29:00.0"): ("implied", "pcie-link-narrow"),
    ("pcie-link-narrow", "ember-h004:0000:5b:00.0"): ("waived", "waived"),
    ("pcie-below-port-rate", "ember-h004:0000:5b:00.0"): (
        "waived",
        "waived",
    ),  # it follows from the other
    ("acs-redirect", "ember-h012:0000:98:00.0"): ("open", None),
    # That one of its ports is set up differently is why the host differs from its peers.
    ("intent-trust", "ember-h019:mlx5_3/1"): ("open", None),
    ("host-config-differs", "ember-h019"): ("implied", "intent-trust"),
    ("firmware-parameter-pending", "ember-h023:0000:a9:00.0"): ("open", None),
    ("host-config-differs", "ember-h023"): ("implied", "firmware-parameter-pending"),
    # 1500 bytes leave 1024 for RDMA.
    ("intent-mtu", "ember-h026:mlx5_0/1"): ("open", None),
    ("rdma-mtu-small", "ember-h026:mlx5_0/1"): ("implied", "intent-mtu"),
    ("rdma-mtu-differs", "ember-h026:mlx5_0/1"): ("implied", "intent-mtu"),
    ("host-config-differs", "ember-h026"): ("implied", "intent-mtu"),
}
# facts/predict.md, section 1: 392.06 on the wire less 229.86 of Gen5 x8, or less 370.26 with 1024 bytes.
COSTS = {"pcie-link-narrow": 162.2, "intent-mtu": 21.8}
UNKNOWN = {("ember-h029", "not reached: silent", "open")}
AWAY = {("ember-h030", "not reached: silent", "out of service")}


def railwright(*words: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", *words], capture_output=True, text=True, **options
    )


def shown_by_the_readme() -> list[str]:
    """The lines of its first screen, each up to where it is cut."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    block = text.split("$ railwright demo\n")[1].split("```")[0]
    found = [line.partition("…")[0].rstrip() for line in block.splitlines()]
    assert len(found) > 20
    return [line for line in found if line]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


def test_it_is_small_and_of_this_version(store: Path) -> None:
    assert ARCHIVE.stat().st_size < MOST_BYTES
    snapshot = find(store, None)
    assert snapshot.name == "2026-11-14T2215Z"
    assert list(snapshot.files()), "run: python -m tools.make_demo"
    assert work_on(snapshot) is None, (
        "tables would be rebuilt first; run: python -m tools.make_demo"
    )


def test_what_is_found_is_what_was_put_in(store: Path) -> None:
    done = railwright("check", "--store", str(store), "--format", "json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["profile"] == "roce-lossless"
    found = {
        (one["rule"], one["subject"]): (
            one["state"],
            "waived" if one["waiver"] else one["cause"],
        )
        for one in told["findings"]
    }
    assert found == FOUND
    costs = {one["rule"]: one["cost_gbps"] for one in told["findings"] if one["state"] == "open"}
    assert {rule: cost for rule, cost in costs.items() if cost is not None} == COSTS
    unknown = {(one["target"], one["why"], one["state"]) for one in told["inconclusive"]}
    assert unknown == UNKNOWN | AWAY
    assert [
        one["id"] for one in told["rules"] if one["trouble"] not in ("", "not run (no baseline)")
    ] == []


def test_the_walk(tmp_path: Path) -> None:
    """Three commands and what they print; nothing stays, and what the user has set does not matter."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = railwright(
        "demo",
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(temporary),
             "RAILWRIGHT_SITE": "/nowhere", "RAILWRIGHT_WAIVERS": "/nowhere"},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.returncode == 0, done.stderr
    assert spent < MOST_CPU_S
    typed = [line for line in done.stdout.splitlines() if line.startswith("$ ")]
    assert typed[0].startswith(f"$ export RAILWRIGHT_STORE={temporary}/railwright-demo-")
    assert typed[1:] == [
        "$ railwright check",
        "$ railwright explain pcie-link-narrow --subject ember-h007:0000:29:00.0",
        "$ railwright show ember-h007",
    ]
    for line in shown_by_the_readme():
        assert line in done.stdout
    assert "Traceback" not in done.stderr
    assert list(temporary.iterdir()) == []
    assert list(tmp_path.iterdir()) == [temporary]


def test_it_can_be_kept_to_go_on_by_hand(tmp_path: Path) -> None:
    done = railwright("demo", "--keep", "kept", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"$ export RAILWRIGHT_STORE={tmp_path / 'kept'}\n" in done.stdout
    by_hand = railwright("facts", "--store", "kept", cwd=tmp_path)
    assert "ember-h" in by_hand.stdout
    again = railwright("demo", "--keep", "kept", cwd=tmp_path)
    assert again.returncode == 2
    assert "is there and not empty" in again.stderr


@pytest.mark.root
def test_it_needs_neither_root_nor_a_network(tmp_path: Path) -> None:
    """Without a single capability, on a machine that has no interface but its own."""
    bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    done = subprocess.run(
        ["unshare", "--net", *bare, sys.executable, "-m", "railwright", "demo"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "$ railwright show ember-h007" in done.stdout


def test_a_parameter_is_named_as_mlxconfig_prints_it(store: Path) -> None:
    for name, value in (("PCI_WR_ORDERING", r"per_mkey\(0\)"), ("ROCE_CC_PRIO_MASK_P1", "255")):
        subject = f"ember-h023:0000:a9:00.0:{name}"
        done = railwright(
            "explain", "intent-parameter", "--subject", subject, "--store", str(store)
        )
        assert done.returncode == 0, done.stderr
        assert f"{subject}: ok" in done.stdout
        row = rf"0000:a9:00\.0 +{name.removesuffix('_P1')} +[01] +-1 +{value} "
        assert re.search(row, done.stdout), done.stdout
