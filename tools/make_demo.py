"""Make the archive that `railwright demo` unpacks: two snapshots of one fabric, a day apart.

    python -m tools.make_demo           parse its evidence anew: a table or a parser has changed
    python -m tools.make_demo --read    read its hosts anew, as root: a probe or a host has changed

The hosts are read by the real runner and the switches answer as their systems do; all of it is
ingested as `collect` does it. Tables are in the archive because to make them takes 12 s of CPU.
"""

import json
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import duckdb

from lab.fleet.fabric import Fabric, Routing, answers
from lab.fleet.fabric.plan import CABLING, cabling
from lab.fleet.model import HostModel
from lab.harness.fleets import Reading, evidence_of
from railwright.demo import ARCHIVE, LATEST, unpack
from railwright.model.finish import finish
from railwright.model.merge import merge
from railwright.model.revision import revisions
from railwright.schema.table import tables
from railwright.store.build import Building
from railwright.store.duck import quote
from railwright.store.evidence import Answer
from railwright.store.snapshot import REVISIONS, Snapshot, load, seal, snapshots
from tools.demo_fabric import (
    AWAY,
    DOWN_BEFORE,
    HOSTS,
    KNOWN,
    NEW_TODAY,
    RETRANSMITS,
    SILENT,
    fabric_of,
    healthy,
    hosts_of,
)

DAY_S = 86_400.0
STARTED = {"2026-11-13T2215Z": 1794608100.0, LATEST: 1794694500.0}
TOOK_S = 41.0
REASON = "RMA 4711, second power supply"
# Level and order decide the size: half of it is what hosts have in common. Groups of some 16 MB, as
# `collect` writes them, are what verbs have memory for.
_PACKED = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 19, ROW_GROUP_SIZE 2048"
_PLAIN = "FORMAT parquet, COMPRESSION uncompressed"  # the archive packs both days together
SITE = f"""# What this fabric is meant to be. It lies in the store, so every verb finds it.
profile = "roce-lossless"
cabling = "{CABLING}"

[fabric]
mtu = 9000
switch_mtu = 9216
max_read_request = 4096
dcbx_owner = "host"
rdma_netns_mode = "shared"
oversubscription = 1.0

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
parameters = {{ PCI_WR_ORDERING = "per_mkey(0)", ROCE_CC_PRIO_MASK_P1 = 255 }}

[out_of_service]
"{{away}}" = "{REASON}"
"""
CONTROLLER = "192.0.2.10"
# None of them may end before the demonstration does.
WAIVERS = """[[waive]]
rule = "pcie-link-narrow"
subjects = ["{known}:0000:5b:00.0"]
reason = "riser is on order"
owner = "kim"
expires = 2099-12-31

[[accept_gap]]
system = "sonic"
fact = "link_pause"
reason = "global pause is off in our port template"
owner = "kim"

[[accept_gap]]
system = "cumulus"
fact = "link_pause"
reason = "global pause is off in our port template"
owner = "kim"
"""


def _readings() -> dict[str, dict[str, Reading]]:
    """What the hosts say on each day: they are read once, and those that have changed twice."""
    found = {}
    awake = [number for number in range(1, HOSTS + 1) if number not in (SILENT, AWAY)]
    changed = sorted({*NEW_TODAY, RETRANSMITS[0], DOWN_BEFORE[0]})
    for name, numbers in ((LATEST, awake), (min(STARTED), changed)):
        fabric = fabric_of(earlier=name != LATEST)
        hosts = hosts_of(fabric, numbers)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            read = evidence_of(Path(folder), hosts)
        read = {host.name: _over_ssh(read[host.name], host) for host in hosts}
        merged = {**found.get(LATEST, {}), **read}
        found[name] = {
            host: one if name == LATEST else one.moved(-DAY_S) for host, one in merged.items()
        }
    return found


def _over_ssh(reading: Reading, host: HostModel) -> Reading:
    """As if a controller had read it over ssh, through the host's default route."""
    route = next(one for one in host.routes if one.destination == "default")
    (address,) = [
        text.partition("/")[0]
        for netdev in (*host.netdevs, *host.nics)
        if netdev.netdev == route.netdev
        for text in netdev.addresses
        if "." in text
    ]
    back = {"dst": CONTROLLER, "from": address, "gateway": route.gateway, "dev": route.netdev}
    said = {
        "ssh_session": f"SSH_CONNECTION={CONTROLLER} 51234 {address} 22\n",
        "ssh_route": json.dumps([back]),
    }
    answers = tuple(
        replace(one, status="ok", reason="", stdout=said[one.probe].encode(), packed=b"")
        if one.probe in said
        else one
        for one in reading.answers
    )
    return replace(reading, answers=answers)


def _add_host(building: Building, name: str, reading: Reading, started: float) -> None:
    for answer in reading.answers:
        building.add_answer(replace(answer, target=name))
    building.add_host({**reading.host, "target": name})
    said = {"status": "reached", "words": "", "root": "root", "root_reason": ""}
    building.add_target(
        {"target": name, **said, "started": started, "duration_s": 2.25, "attempts": 1}
    )


def _add_switches(building: Building, fabric: Fabric, started: float) -> None:
    routing = Routing(fabric)
    for switch in fabric.switches:
        for said in answers(fabric, switch, routing):
            building.add_answer(
                Answer(
                    switch.name, said.probe, said.command, "ok", argv=said.command.split(),
                    exit_code=0, stdout=said.text.encode(), started=started,
                )
            )  # fmt: skip
        row = {"target": switch.name, "status": "reached", "words": "", "started": started}
        building.add_target({**row, "duration_s": 3.5, "attempts": 1})


def _read(store: Path, name: str, readings: dict[str, Reading]) -> Snapshot:
    """A snapshot of one day."""
    fabric, started = fabric_of(earlier=name != LATEST), STARTED[name]
    silent, away = fabric.host_name(SILENT - 1), fabric.host_name(AWAY - 1)
    systems = {switch.name: switch.system for switch in fabric.switches}
    names = dict.fromkeys(sorted([*readings, silent, away, *systems]), "")
    names[away] = f"site: {REASON}"
    head = {
        "started": started, "asked_by": "demo", "via": "ssh", "become": False,
        "switches": list(systems), "switch_systems": systems,
    }  # fmt: skip
    building = Building(store, head, names)
    for host, reading in readings.items():
        _add_host(building, host, reading, started)
    _add_switches(building, fabric, started)
    for host in (silent, away):
        row = {"target": host, "status": "silent", "words": "no answer", "started": started}
        building.add_target({**row, "duration_s": 10.0, "attempts": 2})
    building.close()
    return finish(building.folder)


def _parsed_again(store: Path, old: Snapshot) -> Snapshot:
    """The snapshot with the facts that today's parsers find in its evidence."""
    # Facts of another version are not believed: merging makes them anew.
    made = merge(store, [replace(old, run={**old.run, REVISIONS: {}})], {})
    return replace(made, run={**old.run, REVISIONS: revisions()})


def _small(made: Snapshot, name: str) -> None:
    """The same as small as it gets, under its own name and with the times of its day."""
    path = made.path.parent / name
    (path / "facts").mkdir(parents=True)
    (path / "evidence").mkdir()
    parts = quote(str(made.path / "evidence" / "*.parquet"))
    with duckdb.connect() as database:
        database.execute("SET threads = 1")  # the order of rows, and so the size, stay the same
        database.execute(
            f"COPY (FROM read_parquet({parts}) ORDER BY probe, instance, target) "
            f"TO {quote(str(path / 'evidence/part-00000-000.parquet'))} ({_PACKED})"
        )
        for table in tables():
            file = f"facts/{table}.parquet"
            database.execute(
                f"COPY (FROM read_parquet({quote(str(made.path / file))})) "
                f"TO {quote(str(path / file))} ({_PLAIN})"
            )
    kept = {key: value for key, value in made.run.items() if key not in ("files", "digest")}
    seal(path, {**kept, "demo": True, "finished": STARTED[name] + TOOK_S})
    shutil.rmtree(made.path)


def make(store: Path, *, anew: bool) -> None:
    """The store with its two snapshots, its site file, its cabling plan and its waivers."""
    if anew:
        for name, readings in _readings().items():
            _small(_read(store, name, readings), name)
    else:
        with tempfile.TemporaryDirectory() as folder:
            for path in snapshots(unpack(Path(folder) / "old")):
                _small(_parsed_again(store, load(path)), path.name)
    fabric = healthy()
    away, known = fabric.host_name(AWAY - 1), fabric.host_name(KNOWN - 1)
    (store / "site.toml").write_text(SITE.replace("{away}", away))
    (store / "waivers.toml").write_text(WAIVERS.replace("{known}", known))
    (store / CABLING).write_text(cabling(fabric))


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nobody's name, and a time that is always the same."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = int(STARTED[LATEST])
    return info


def _in_order(paths: Iterable[Path], store: Path) -> list[Path]:
    """The same file of both days side by side: what they have in common is packed once."""
    return sorted(paths, key=lambda path: (path.relative_to(store).parts[1:], path))


def main() -> None:
    """Write the archive of the package."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        make(store, anew="--read" in sys.argv)
        with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
            for path in _in_order((p for p in store.rglob("*") if p.is_file()), store):
                archive.add(path, path.relative_to(store), filter=_plain)
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
