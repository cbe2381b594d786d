"""The whole lab at once, read in one run and held to the truth, column by column.

    python -m bench.lab_whole [HOSTS [RAILS [SWITCHES [GUESTS]]]]     64 8 12 4 by default, as root

At least two guests: alone on its rails, one has no neighbor to be compared.

`lab up` with Slurm; `railwright collect` as its last line proposes. Hosts and switches must be as
their models are, guests as their kernels say; Slurm must give the same facts of the hosts as ssh.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.figures import write_section
from lab.fleet.fabric import Fabric, Switch
from lab.guest import GuestMachine, Guests
from lab.guest.model import MOST_RAILS, Guest
from lab.harness import comparing, guest_kernel, switch_truth
from lab.harness.facts import facts as facts_of
from lab.harness.facts import statuses
from lab.live import client
from lab.live.cluster import cluster
from lab.live.options import Options, machines
from lab.live.place import Place
from lab.live.traces import traces
from railwright.schema.table import tables
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

WANTED = (64, 8, 12, 4)
HOSTS_UP_S = 60.0
_BESIDE_THE_FACT = {"target", "read_at"}


def _rows(snapshot: Snapshot, table: str, target: str) -> list[dict[str, object]]:
    with snapshot.database() as database:
        found = database.execute(f'FROM "{table}" WHERE target = ?', [target])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def host_differences(snapshot: Snapshot, options: Options) -> Iterator[str]:
    """Every column of every table that probes of a host fill."""
    with snapshot.database() as database:
        facts = comparing.Facts(database)
        for one in machines(options):
            for words in (
                *comparing.fact_differences(
                    facts, one.name, one.healthy, comparing.OF_A_LIVE_KERNEL
                ),
                *comparing.derived_differences(facts, one.name, one.healthy),
                *comparing.disagreements(facts, one.name),
                *comparing.answer_differences(facts, one.name, one.healthy),
            ):
                yield f"{one.name}: {words}"


def _refused(
    check: switch_truth.Check, rows: switch_truth.Rows, fabric: Fabric, switch: Switch
) -> Iterator[str]:
    try:
        check(rows, fabric, switch)
    except (AssertionError, KeyError) as error:
        yield f"{switch.name}: {check.__name__}: {type(error).__name__}: {error}"


def switch_differences(snapshot: Snapshot, options: Options) -> Iterator[str]:
    """The checks of lab/harness/switch_truth.py, of every switch."""
    fabric = cluster(options.hosts, options.rails, options.switches).fabric
    names = [name for name in tables() if name.startswith("switch") and name != "switch_place"]
    for switch in fabric.switches:
        rows = {name: _rows(snapshot, name, switch.name) for name in names}
        known = {name: found for name, found in rows.items() if found}
        for check in switch_truth.CHECKS:
            yield from _refused(check, known, fabric, switch)


def guest_differences(snapshot: Snapshot, kernels: dict[str, guest_kernel.Kernel]) -> Iterator[str]:
    """What was read beside what the kernel says, read once more by other means."""
    for name, kernel in kernels.items():
        for table in guest_kernel.TABLES:
            columns = {column.name for column in tables()[table].columns} - _BESIDE_THE_FACT
            try:
                found, expected = guest_kernel.compared(
                    table, columns, _rows(snapshot, table, name), kernel
                )
            except AssertionError as error:
                yield f"{name}: {error}"
                continue
            if found != expected:
                yield f"{name}: {table}: expected {expected}, got {found}"


def _guests(place: Place, hub: str, options: Options) -> list[GuestMachine]:
    rails = min(options.rails, MOST_RAILS)
    chosen = [Guest(number + 1, rails) for number in range(options.guests)]
    guests = Guests("", place.fleet / "guests", hub, chosen, own_hub=False)
    return [guests.machine(guest) for guest in chosen]


def _heard(guests: list[GuestMachine]) -> None:
    """Until every guest has heard all others on every rail: what arrives later would differ."""
    for one in guests:
        wanted = one.guest.rails * (len(guests) - 1)
        one.run(
            f"for try in $(seq 300); do [ $(lldpcli -f keyvalue show neighbors | "
            f"grep -c chassis.name=) -ge {wanted} ] && exit 0; sleep 1; done; exit 1", seconds=900
        )  # fmt: skip


def _collect(place: Place, words: list[str], store: Path) -> tuple[Snapshot, float]:
    """At the hub, as `lab run` does it."""
    began = time.monotonic()
    command = [
        sys.executable, "-m", "lab", "--folder", str(place.folder), "run", "--",
        sys.executable, "-m", *words, "--store", str(store), "--state-from", "none",
    ]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):  # 3: a virtual machine cannot open its cards, for one
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    return find(store, None), time.monotonic() - began


@dataclass
class Shown:
    """What one lab showed."""

    seconds: dict[str, float] = field(default_factory=dict)  # what -> how long
    not_reached: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    slurm_equal: bool = False
    left: list[str] = field(default_factory=list)

    def is_well(self, hosts: int) -> bool:
        """Whether all is as wanted; the bar of a minute is one for 64 hosts."""
        late = hosts >= WANTED[0] and self.seconds["hosts up"] > HOSTS_UP_S
        wrong = self.not_reached or self.differences or self.left
        return not late and not wrong and self.slurm_equal


def show(options: Options, folder: Path) -> Shown:
    """Up, read, compare, down."""
    shown, place = Shown(), Place(folder / "live")
    began = time.monotonic()

    def tell(words: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {words}", file=sys.stderr, flush=True)
        if words.endswith(" hosts answer"):
            shown.seconds["hosts up"] = time.monotonic() - began

    keeper = client.start(place, options, tell)
    try:
        shown.seconds["all up"] = time.monotonic() - began
        said = client.ask(place, {"do": "status"})
        seen = traces(place, said["hub"].removesuffix("hub"))
        _read(place, options, said, shown)
    finally:
        began = time.monotonic()
        client.end(place)
        keeper.wait()
        shown.seconds["down"] = time.monotonic() - began
    shown.left = seen.left()
    return shown


def _read(place: Place, options: Options, said: dict[str, list[str]], shown: Shown) -> None:
    """Everything by ssh, the hosts once more through Slurm."""
    store = place.folder.parent
    guests = _guests(place, str(said["hub"]), options)
    _heard(guests)
    snapshot, shown.seconds["collect"] = _collect(place, said["collect"], store / "ssh")
    kernels = {one.guest.name: guest_kernel.read(one) for one in guests}
    shown.not_reached = sorted(
        f"{name}: {status}" for name, status in statuses(snapshot).items() if status != "reached"
    )
    shown.differences = [
        *host_differences(snapshot, options),
        *switch_differences(snapshot, options),
        *guest_differences(snapshot, kernels),
    ]
    through = ["railwright", "collect", "-w", "@slurm:gpu", "--via", "slurm", "--timeout", "600"]
    by_slurm, shown.seconds["collect through Slurm"] = _collect(place, through, store / "slurm")
    names = [one.name for one in machines(options)]
    shown.slurm_equal = _read_facts(by_slurm, names) == _read_facts(snapshot, names)


def _read_facts(snapshot: Snapshot, names: list[str]) -> dict[str, list[tuple[object, ...]]]:
    """Without what is derived: that of a host's link is of its switch, too."""
    found = facts_of(snapshot, names)
    return {name: rows for name, rows in found.items() if tables()[name].fed_by != "derived"}


def main() -> None:
    given = tuple(int(word) for word in sys.argv[1:])
    size = (*given, *WANTED[len(given) :])
    hosts, rails, switches, guests = size
    options = Options(hosts, (), rails, switches, guests=guests, slurm=True)
    with tempfile.TemporaryDirectory(prefix="railwright-lab-", dir="/dev/shm") as name:
        shown = show(options, Path(name))
    for line in (*shown.not_reached, *shown.differences[:40], *shown.left):
        print(f"  {line}")
    times = {what: f"{seconds:.0f} s" for what, seconds in shown.seconds.items()}
    rows = [
        (f"up: {hosts} hosts", times["hosts up"], f"{HOSTS_UP_S:.0f} s"),
        (f"up: {switches} switches, Slurm and {guests} guests, too", times["all up"], "-"),
        ("collect, all machines in one run", times["collect"], "-"),
        ("machines that were not reached", str(len(shown.not_reached)), "0"),
        (
            "differences from models and kernels, column by column",
            str(len(shown.differences)),
            "0",
        ),
        ("collect through Slurm", times["collect through Slurm"], "-"),
        ("the same facts of the hosts through Slurm", str(shown.slurm_equal), "True"),
        ("down", times["down"], "-"),
        ("processes, namespaces, mounts, files left", str(len(shown.left)), "0"),
    ]
    for row in rows:
        print("  ".join(row))
    if size == WANTED:
        write_section("The whole lab", "`python -m bench.lab_whole`: `lab up --hosts 64 --rails 8 "
                      "--switches 12 --guests 4 --slurm`.", rows)  # fmt: skip
    sys.exit(0 if shown.is_well(hosts) else 1)


if __name__ == "__main__":
    main()
