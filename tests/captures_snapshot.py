"""One snapshot of the shared captures alone, built through the front door.

    python -m tests.captures_snapshot STORE

makes it in STORE (`railwright import --kind` per capture, then `railwright merge`) and prints what
became of each capture. docs/captures-review.md is its review by hand. The captures are outputs that
others published; they are read where they are and are no part of the repository.
"""

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from railwright.collect import runner
from railwright.collect.probe import probes
from railwright.collect.saved import Saved, import_saved, kinds
from railwright.model.merge import merge
from railwright.schema.table import NOT_A_PROBE, tables
from railwright.store.snapshot import Snapshot

CAPTURES = Path(__file__).parents[2] / "shared" / "captures"
TREE = CAPTURES / "sysfs-infiniband" / "gpud-h100"
ARCHIVE = CAPTURES / "sysfs-infiniband" / "procfs-fixtures.ttar"

# Folder -> the parser of its command.
PARSERS = {
    "dmesg": "dmesg",
    "eos-show": "eos_show",
    "ethtool": "ethtool",
    "ethtool-S": "ethtool_statistics",
    "ethtool-i": "ethtool_driver",
    "ethtool-m": "ethtool_module",
    "flint": "flint",
    "ibstat": "infiniband",
    "lldp": "lldpctl",
    "lspci": "lspci",
    "nccl-log": "nccl_log",
    "nccl-tests": "nccl_tests",
    "onyx-show": "onyx_show",
    "perftest": "perftest",
    "sonic-config-db": "sonic_config_db",
}
# Files of /sys and /proc: read with the runner's own code, as every file probe does.
TREES = "sysfs-infiniband"
# Commands that no parser knows, and why.
WITHOUT_PARSER = {
    "ibnetdiscover": "a map of an InfiniBand subnet: no probe asks a subnet manager",
    "ibswinfo": "sensors of an InfiniBand switch: no probe reads those",
    "k8s-crd": "schemas of custom resources: they say what may be asked for, not what is",
    "k8s-objects": "what operators were asked for; of Kubernetes only node objects are read",
    "nvidia-smi": "nvlink --status: NVLink is no part of the fabric that is checked",
    "perfquery": "counters by LID; the kernel's own of the host's ports are read instead",
}

# The machine that a file came from, where the file's name says more or less than that.
MACHINES = {
    "carbide-flint_query": "carbide",
    "carbide-lldp_query": "carbide",
    "gpud-a10-nn": "gpud-a10",
    "gpud-a100-nn": "gpud-a100",
    "gpud-h100-host-vvv": "gpud-h100-lspci",
    "gpud-kmsg-peermem": "gpud-kmsg",
    "superbench-topo-aware": "superbench",
}
# What the interface was called there, as far as the answers say.
INTERFACES = {"newrushbolt-bnxt_en-00_sfp_10gsr85": "eth2"}
RUNS = ("nccl_log", "nccl_tests", "perftest")  # whose instance is the name of the run

# Nobody says when the captures were made: one time for all, so that none is the later one.
READ_AT = 1_767_225_600.0  # 2026-01-01
# The bytes of `config` were put through a text encoding by whoever packed the archive.
SPOILT = ("pci_config",)


class Capture(NamedTuple):
    """One answer to import, and whose it is."""

    file: Path
    kind: str
    target: str
    instance: str = ""


def _instance(kind: str, stem: str) -> str:
    if kind in RUNS:
        return stem
    if kind.startswith("ethtool") and stem.startswith("newrushbolt"):
        return INTERFACES.get(stem, "eth0")
    return ""


def saved_outputs() -> Iterator[Capture]:
    """Every file that is a command's output."""
    for folder, kind in PARSERS.items():
        for file in sorted((CAPTURES / folder).iterdir()):
            stem = file.stem.removesuffix("_config_db")
            target = MACHINES.get(stem, stem)
            yield Capture(file, kind, target, _instance(kind, stem))


def _unpack(archive: Path, folder: Path) -> None:
    """A ttar archive: paths, each with its number of lines and the lines, or with a link."""
    lines = iter(archive.read_text("utf-8", "surrogateescape").split("\n"))
    path = folder
    for line in lines:
        word, _, rest = line.partition(": ")
        if word == "Directory":
            (folder / rest).mkdir(parents=True, exist_ok=True)
        elif word == "Path":
            path = folder / rest
        elif word == "SymlinkTo":
            path.symlink_to(rest)
        elif word == "Lines":
            body = "".join(next(lines) + "\n" for _ in range(int(rest)))
            body = body.removesuffix("EOF\n").replace("NULLBYTE", "\0")  # EOF: no newline there
            path.write_text(body, "utf-8", "surrogateescape", "\n")


def trees(folder: Path) -> Iterator[Capture]:
    """The answers of the file probes on the trees, written below `folder`."""
    _unpack(ARCHIVE, folder)
    classes = folder / "gpud" / "sys" / "class"
    classes.mkdir(parents=True)
    (classes / "infiniband").symlink_to(TREE)
    roots = {"procfs": folder / "fixtures", "gpud-h100-sysfs": folder / "gpud"}
    for target, root in roots.items():
        for name, probe in probes().items():
            if not probe.files or probe.each != "host" or name in SPOILT:
                continue
            answer = runner.read_files(runner.Machine(str(root)), probe.request(), {})
            if answer:
                file = folder / f"{target}-{name}"
                file.write_bytes(answer)
                yield Capture(file, name, target)


def _import(capture: Capture, store: Path) -> Snapshot:
    saved = Saved(capture.kind, capture.target, capture.instance, READ_AT)
    return import_saved([capture.file], saved, store)


def build(store: Path, scratch: Path) -> tuple[Snapshot, list[Capture]]:
    """The snapshot, and the captures that the front door does not take."""
    every = [*saved_outputs(), *trees(scratch / "trees")]
    # What a log says is compared line by line in test_captures.py, before any line of it is dropped.
    taken = [one for one in every if one.kind in kinds() and one.kind not in RUNS]
    # A snapshot is named after the minute: two processes need a store each.
    stores = [scratch / f"store-{number}" for number in range(len(taken))]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(_import, taken, stores))
    return merge(store, parts, {}), [capture for capture in every if capture not in taken]


def counts(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """target -> table -> rows, of the tables that probes fill."""
    found: dict[str, dict[str, int]] = {}
    with snapshot.database() as database:
        for name, table in tables().items():
            if table.fed_by in NOT_A_PROBE:
                continue
            query = f'SELECT target, count(*) FROM "{name}" GROUP BY ALL ORDER BY ALL'
            for target, rows in database.execute(query).fetchall():
                found.setdefault(target, {})[name] = rows
    return found


def main(store: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        snapshot, left_out = build(store, Path(scratch))
    rows = counts(snapshot)
    columns = "target, probe, instance, status, reason, dropped, bytes"
    with snapshot.database() as database:
        answers = database.execute(f"SELECT {columns} FROM probe_result ORDER BY ALL").fetchall()
    for answer in answers:
        print(*answer, sep=" | ")
    for target, found in sorted(rows.items()):
        print(target, found)
    print(f"{snapshot.path}; not taken: {sorted({capture.kind for capture in left_out})}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
