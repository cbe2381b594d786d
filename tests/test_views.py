"""`railwright facts` and `railwright show`: real runs over fake hosts, and tables made by hand.

The golden files hold views only. RAILWRIGHT_GOLDEN=write writes them anew; then read them.
"""

import dataclasses
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from lab.fleet import ACS_ON, HostModel, add_shell, build, hgx_h100
from lab.fleet.tools import BUSYBOX
from lab.harness.by_hand import STARTED, by_hand, odd_host, target, with_derived
from railwright.cli import program
from railwright.collect.probe import select
from railwright.collect.request import lone_runner
from railwright.collect.stream import MachineStream
from railwright.errors import UsageError
from railwright.model.finish import finish
from railwright.report.host import print_host
from railwright.report.overview import print_overview
from railwright.report.screen import Screen
from railwright.store.build import Building
from railwright.store.evidence import Answer
from railwright.store.snapshot import Snapshot, load

GOLDEN = Path(__file__).parent / "golden"
NOW = STARTED + 3 * 3600
PROBES = frozenset(probe.name for probe in select())
# What needs no program of the host: these answers an ordinary user gets too, or is denied.
WITHOUT_TOOLS = ("infiniband", "mlxconfig", "netdev", "pci", "pci_config", "roce_tos")

FAULTS: dict[int, dict[tuple[str, str], Any]] = {
    1: {},
    2: {
        ("0000:29:00.0", "width"): 8,
        ("0000:3a:00.0", "generation"): 4,
        ("mlx5_3", "mtu"): 1500,
        ("mlx5_5", "up"): False,
        ("mlx5_2", "parameters"): {
            "PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)"),
            "ROCE_CC_PRIO_MASK_P1": ("8", "8"),
        },
    },
    3: {
        ("0000:17:00.0", "acs"): ACS_ON,
        ("0000:17:01.0", "acs"): ACS_ON,
        ("0000:5b:00.0", "relaxed_ordering"): False,
        ("mlx5_7", "firmware"): "28.42.1000",
    },
}


# ---- a snapshot of real runs


def read_host(folder: Path, model: HostModel, *, user: str | None = None) -> bytes:
    """What the lone runner prints on a fake host."""
    root = folder / model.name
    build(root, model)
    add_shell(root)
    runner = folder / "rw.py"
    runner.write_text(lone_runner(select()))
    # Another user may not be able to reach this test's own interpreter.
    python = "/usr/bin/python3" if user else sys.executable
    command = [python, str(runner), "--root", str(root)]
    if user:
        command += [part for name in WITHOUT_TOOLS for part in ("--probe", name)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, user=user
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def add_read(building: Building, target: str, data: bytes, only: tuple[str, ...] = ()) -> None:
    """A host that answered; with `only`, the connection ended after these probes."""
    stream = MachineStream(target, None, PROBES)
    answers = [*stream.feed(data), *stream.missing()]
    for answer in answers:
        lost = bool(only) and answer.probe not in only
        building.add_answer(_missing(answer) if lost else answer)
    host = stream.host_row()
    assert host is not None
    # The kernel and the clock are this machine's own.
    host.update(kernel="5.15.0-1063-nvidia", read_at=STARTED + 4, clock_offset_s=0.2)
    building.add_host(host)
    row = stream.target_row("incomplete" if only else stream.status("answered"), "")
    row.update(started=STARTED, duration_s=3.2, attempts=1, bytes_received=len(data))
    building.add_target(row)


def _missing(answer: Answer) -> Answer:
    why = "the connection ended first"
    return dataclasses.replace(answer, status="missing", reason=why, stdout=b"", stderr=b"")


def add_silent(building: Building, target: str) -> None:
    """A host that could not be reached."""
    words = f"\x1b[31mWarning\x1b[0m: Permanently added {target}.\r\nssh: connect to host {target} "
    row = MachineStream(target, None, PROBES).target_row(
        "silent", words + "port 22: Connection timed out\r\n"
    )
    row.update(started=STARTED, duration_s=10.0, attempts=2, bytes_received=0)
    row.update(noise="Welcome to \x1b]0;evil\x07ember\n", noise_bytes=25)
    building.add_target(row)


@pytest.fixture(scope="module")
def snapshot() -> Iterator[Snapshot]:
    """Three hosts with faults, one without root, one cut off, one silent, one out of service."""
    if not BUSYBOX.exists():
        pytest.skip("needs busybox-static")
    folder = Path(tempfile.mkdtemp(prefix="railwright-views-"))
    folder.chmod(0o755)  # the host without root is read by another user
    names = {f"ember-h{number:03d}": "" for number in range(1, 8)}
    names["ember-h007"] = "drained: bad DIMM"
    try:
        building = Building(folder / "store", {"started": STARTED, "via": "import"}, names)
        for number, faults in FAULTS.items():
            data = read_host(folder, hgx_h100(number, faults))
            add_read(building, f"ember-h{number:03d}", data)
        add_silent(building, "ember-h004")
        add_read(building, "ember-h005", read_host(folder, hgx_h100(5), user="nobody"))
        cut = read_host(folder, hgx_h100(6))
        add_read(building, "ember-h006", cut, only=("infiniband", "netdev"))
        building.close()
        yield finish(building.folder)
    finally:
        shutil.rmtree(folder)


def screen(width: int = 0, encoding: str = "utf-8") -> tuple[Screen, io.BytesIO]:
    """A terminal of that width without colours; 0 is a pipe."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    console = Console(
        file=file,
        width=width or 10_000,
        force_terminal=bool(width),
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    return Screen(console), raw


def settled(snapshot: Snapshot, text: str) -> str:
    """Without what changes from run to run: where the snapshot lies and when it was named."""
    return text.replace(str(snapshot.path.parent), "STORE").replace(snapshot.name, "SNAPSHOT")


def facts_text(snapshot: Snapshot, width: int = 0) -> str:
    on, raw = screen(width)
    print_overview(on, snapshot, NOW)
    return settled(snapshot, raw.getvalue().decode())


def show_text(snapshot: Snapshot, host: str, width: int = 0, encoding: str = "utf-8") -> str:
    on, raw = screen(width, encoding)
    print_host(on, snapshot, host, NOW)
    return settled(snapshot, raw.getvalue().decode(encoding))


def assert_golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("RAILWRIGHT_GOLDEN") == "write":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.root
@pytest.mark.parametrize("width", [0, 80, 160])
def test_facts_is_as_read(snapshot: Snapshot, width: int) -> None:
    assert_golden(f"facts-{width or 'pipe'}", facts_text(snapshot, width))


@pytest.mark.root
@pytest.mark.parametrize(
    ("host", "width"),
    [
        ("ember-h001", 0),
        ("ember-h001", 80),
        ("ember-h002", 160),
        ("ember-h003", 80),
        ("ember-h004", 80),
        ("ember-h005", 80),
        ("ember-h006", 0),
        ("ember-h007", 0),
    ],
)
def test_show_is_as_read(snapshot: Snapshot, host: str, width: int) -> None:
    assert_golden(f"show-{host}-{width or 'pipe'}", show_text(snapshot, host, width))


@pytest.mark.root
@pytest.mark.parametrize("host", ["ember-h001", "ember-h002", "ember-h003", "ember-h005"])
def test_show_fits_one_screen(snapshot: Snapshot, host: str) -> None:
    for width in (80, 160):
        lines = show_text(snapshot, host, width).splitlines()
        assert len(lines) <= 64
        assert max(map(len, lines)) <= width


@pytest.mark.root
def test_facts_fit_the_terminal(snapshot: Snapshot) -> None:
    assert max(map(len, facts_text(snapshot, 80).splitlines())) <= 80


@pytest.mark.root
def test_show_on_an_ascii_terminal(snapshot: Snapshot) -> None:
    text = show_text(snapshot, "ember-h002", 80, "ascii")
    assert "|- switch 27:00.0 below 26:01.0" in text
    assert "`- 19:00.0" in text


def test_what_ascii_cannot_print() -> None:
    on, raw = screen(80, "ascii")
    on.line("a list that was cut…, two lines ⏎ in one, Zürich")
    on.heading("Zürich")
    assert raw.getvalue() == b"a list that was cut..., two lines / in one, Z?rich\nZ?rich\n"


@pytest.mark.root
def test_no_unknown_host_is_left_out(snapshot: Snapshot) -> None:
    """Written by hand: three hosts are whole, one has no root, one was cut, two were not read."""
    headings = {
        line.split(": known on ")[0]: line.split(": known on ")[1]
        for line in facts_text(snapshot).splitlines()
        if ": known on " in line
    }
    away = "1 not reached, 1 out of service"
    assert headings == {
        "Hosts": f"5 of 7 hosts; not known: {away}",
        "RDMA NICs": "3 of 7 hosts; not known: 1 mlxconfig denied, 1 mlxconfig missing, " + away,
        "RDMA ports": f"5 of 7 hosts; not known: {away}",
        "PCIe of RDMA NICs": f"3 of 7 hosts; not known: {away}, 1 pci missing, 1 pci_config denied",
        "ACS of PCIe switch ports": (
            f"3 of 7 hosts; not known: {away}, 1 pci_config denied, 1 pci_config missing"
        ),
        "Netdevs of RDMA NICs": f"5 of 7 hosts; not known: {away}",
        "GPUs": (
            "3 of 7 hosts; not known: 1 not reached, 1 nvidia_smi not asked, 1 out of service, "
            "1 pci missing"
        ),
        "LLDP neighbors of RDMA NICs": (
            f"3 of 7 hosts; not known: 1 lldpctl missing, 1 lldpctl not asked, {away}"
        ),
        "Roles of RDMA ports": (
            f"3 of 7 hosts; not known: 1 ip_address missing, 1 ip_address not asked, {away}"
        ),
        "QoS of RoCE ports": (
            f"3 of 7 hosts; not known: 1 mlnx_qos missing, 1 mlnx_qos not asked, {away}"
        ),
        "Optics of RDMA ports": (
            f"3 of 7 hosts; not known: 1 mlxlink missing, 1 mlxlink not asked, {away}"
        ),
        "GPUDirect and the kernel": (
            f"3 of 7 hosts; not known: 1 cmdline missing, 1 modules not asked, {away}"
        ),
        "Two sources that disagree": f"4 of 7 hosts; not known: {away}, 1 pci missing",
        "Firmware parameters that wait for a reset": (
            f"3 of 7 hosts; not known: 1 mlxconfig denied, {away}, 1 pci missing"
        ),
        "Firmware parameters unlike most of the same part number": (
            f"3 of 7 hosts; not known: 1 mlxconfig denied, {away}, 1 pci missing"
        ),
    }


@pytest.mark.root
def test_commands_and_their_exit_codes(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILWRIGHT_STORE", str(snapshot.path.parent))
    run = CliRunner()
    facts = run.invoke(program(), ["facts"])
    assert facts.exit_code == 3
    assert "7 targets: 4 reached, 1 incomplete, 1 not reached, 1 out of service" in facts.stdout
    assert facts.stderr.strip() == "Next: railwright show HOST"
    shown = run.invoke(program(), ["show", "ember-h001", snapshot.name])
    assert shown.exit_code == 0
    assert "mlx5_0  Gen5 x16  enp24s0np0" in shown.stdout
    assert shown.stderr.strip() == "Next: railwright evidence ember-h001"
    assert run.invoke(program(), ["show", "ember-h004"]).exit_code == 3
    assert run.invoke(program(), ["show", "ember-h006"]).exit_code == 3


@pytest.mark.root
def test_a_host_that_is_not_there(snapshot: Snapshot) -> None:
    with pytest.raises(UsageError) as caught:
        show_text(snapshot, "ember-h01")
    assert "no host or switch 'ember-h01' in snapshot" in caught.value.what
    assert "ember-h001" in caught.value.why
    assert "railwright facts" in caught.value.do


def test_a_host_may_be_named_short(tmp_path: Path) -> None:
    names = ["gpu017.site", "gpu018.site", "gpu018.lab"]
    named = by_hand(tmp_path, {"target": [target(name, "refused") for name in names]})
    assert show_text(named, "gpu017").startswith("gpu017.site: not reached, refused")
    with pytest.raises(UsageError) as caught:
        show_text(named, "gpu018")
    assert caught.value.why.startswith("Did you mean gpu018.lab or gpu018.site")


# ---- tables made by hand


def test_an_empty_snapshot(tmp_path: Path) -> None:
    building = Building(tmp_path / "store", {"started": STARTED}, {})
    building.close()
    empty = finish(building.folder)
    assert_golden("facts-empty", facts_text(empty))
    with pytest.raises(UsageError, match="no host or switch 'ember-h001'"):
        show_text(empty, "ember-h001")


def test_nothing_was_reached(tmp_path: Path) -> None:
    rows = {"target": [target(f"gpu{n:03d}", "silent", words="no route") for n in range(1, 513)]}
    text = facts_text(with_derived(tmp_path, rows))
    assert "512 targets: 0 reached, 512 not reached, 0 out of service" in text
    assert "    512  silent  gpu[001-512]  no route" in text
    assert text.count(": known on 0 of 512 hosts; not known: 512 not reached") == 15


def test_odd_hardware(tmp_path: Path) -> None:
    odd = with_derived(tmp_path, odd_host())
    assert_golden("facts-odd", facts_text(odd))
    assert_golden("show-odd", show_text(odd, "odd1"))
    assert "\x1b" not in facts_text(odd) + show_text(odd, "odd1")


def test_values_that_were_not_read_are_unknown(tmp_path: Path) -> None:
    """Every column but the keys is NULL: nothing may look like a value or like none."""
    rows = odd_host()
    keys = {"target", "pci", "device", "port", "name", "probe", "status", "instance"}
    keys |= {"out_of_service", "words", "kind"}
    bare = {
        name: [{key: value for key, value in row.items() if key in keys} for row in table]
        for name, table in rows.items()
    }
    text = facts_text(with_derived(tmp_path, bare))
    # All but "Two sources that disagree": where nothing was read, nothing differs.
    assert text.count("known on 0 of 1 host;") == 14
    for line in text.splitlines():
        assert not line.rstrip().endswith("none  odd1"), line
    assert "?" in show_text(load(tmp_path / "2026-11-14T2215Z"), "odd1")


def test_large_groups_say_who_is_missing(tmp_path: Path) -> None:
    names = [f"gpu{number:05d}" for number in range(6_000)]
    host = {"operating_system": "Ubuntu 22.04", "kernel": "5.15", "architecture": "x86_64"}
    rows = {
        "target": [target(name) for name in names],
        "host": [{"target": name, **host, **({"kernel": "6.8"} if name == "gpu00017" else {})}
                 for name in names],
    }  # fmt: skip
    large = with_derived(tmp_path, rows)
    assert "  5,999  Ubuntu 22.04  5.15    x86_64  all but gpu00017" in facts_text(large, 80)
    assert "x86_64  gpu[00000-00016,00018-05999]" in facts_text(large)
