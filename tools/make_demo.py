"""Make the fabric that `railwright demo` shows.

    python -m tools.make_demo           parse its evidence anew: a table or a parser has changed
    python -m tools.make_demo --read    read its hosts anew, as root: a probe or a host has changed

32 hosts that are not there, read by the real runner and ingested as `collect` does it. What is
wrong with them is written here; what must be said about it is written in tests/test_demo.py.
"""

import shutil
import sys
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.fleets import evidence_of, snapshot_of
from lab.fleet import HostModel, hgx_h100
from lab.fleet.faults import Injection, all_faults, places
from railwright.demo import ARCHIVE, unpack
from railwright.model.merge import merge
from railwright.store.snapshot import REVISIONS, Snapshot, load

STARTED, NAME = 1794694500.0, "2026-11-14T2215Z"
# Host number -> the declared fault of lab/fleet/faults that it has, and where. Each has cost
# somebody a training run.
FAULTS = {
    4: ("narrow_link", "mlx5_3"),  # known, and decided about: waivers.toml
    7: ("narrow_link", "mlx5_1"),
    12: ("acs_redirect", "mlx5_4"),
    19: ("trusts_vlan_tags", "mlx5_3"),
    23: ("wanted_parameter_waits", "mlx5_5"),
    26: ("small_mtu", "mlx5_0"),
}
SILENT = 29
AWAY = 30
SITE = """# What this fabric is meant to be. It lies in the store, so every verb finds it.
profile = "roce-lossless"

[fabric]
mtu = 9000
max_read_request = 4096
dcbx_owner = "host"
rdma_netns_mode = "shared"

[[class]]
name = "hgx"
compute_nics = 8
gpus = 8
port_rate_gbps = 400
numa_nodes = 2

[[role]]
role = "compute"
devices = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"]

[[role]]
role = "storage"
devices = ["mlx5_8", "mlx5_9"]

[[nic]]
psid = "MT_0000000838"
firmware = "28.43.2026"
parameters = { PCI_WR_ORDERING = "per_mkey(0)", ROCE_CC_PRIO_MASK_P1 = 255 }

[out_of_service]
"{away}" = "RMA 4711, second power supply"
"""
# It must not end before the demonstration does.
WAIVERS = """[[waive]]
rule = "pcie-link-narrow"
subjects = ["{host}:0000:5b:00.0"]
reason = "riser is on order"
owner = "kim"
expires = 2099-12-31
"""


def _host(number: int) -> HostModel:
    host = hgx_h100(number)
    if number not in FAULTS:
        return host
    name, device = FAULTS[number]
    fault = all_faults()[name]
    place = next(one for one in places(host, fault.at) if one.name == device)
    return Injection(fault, place).changed(host)


def _hosts() -> list[HostModel]:
    return [_host(number) for number in range(1, 33) if number not in (SILENT, AWAY)]


def read(store: Path) -> Snapshot:
    """A snapshot of the hosts as they answer today."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        evidence = evidence_of(Path(name), _hosts())
    silent, away = hgx_h100(SILENT).name, hgx_h100(AWAY).name
    return snapshot_of(
        store,
        evidence,
        gone=(silent, away),
        out_of_service={away: "site: RMA 4711, second power supply"},
        started=STARTED,
    )


def parse_again(store: Path) -> Snapshot:
    """The snapshot that is there, with the facts that today's parsers find in its evidence."""
    with tempfile.TemporaryDirectory() as name:
        old = load(unpack(Path(name) / "old") / NAME)
        # Facts of another version are not believed: merging makes them anew.
        return merge(store, [replace(old, run={**old.run, REVISIONS: {}})], {})


def make(store: Path, *, anew: bool) -> None:
    """The store with its one snapshot, its site file and its waivers."""
    snapshot = read(store) if anew else parse_again(store)
    snapshot.path.rename(store / NAME)
    away, known = hgx_h100(AWAY).name, hgx_h100(4).name
    (store / "site.toml").write_text(SITE.replace("{away}", away))
    (store / "waivers.toml").write_text(WAIVERS.replace("{host}", known))


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nobody's name, and a time that is always the same."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = int(STARTED)
    return info


def main() -> None:
    """Write the archive of the package."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        make(store, anew="--read" in sys.argv)
        with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
            for path in sorted(store.rglob("*")):
                archive.add(path, path.relative_to(store), recursive=False, filter=_plain)
        shutil.rmtree(store)
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
