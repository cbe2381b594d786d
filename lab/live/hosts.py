"""Live hosts: models behind real sshd, whose files follow their state."""

import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lab import sshd_fleet
from lab.fleet.model import HostModel
from lab.fleet.tree import Entry
from lab.live import watching
from lab.live.files import (
    REAL,
    REAL_PROGRAMS,
    SOCKET,
    WATCHED,
    WRITABLE,
    Places,
    rendered,
    write_all,
)
from lab.live.following import Following, Live, record
from lab.live.machine import HostMachine
from lab.live.names import nearest
from lab.live.part import Hub, LabError, Part, Status
from lab.live.sockets import listen
from lab.live.writers import in_processes
from lab.sshd_fleet import LAB, Fleet, Host

FLEET = "rwv"  # namespaces of live labs are called so
_SET_AT_RUN_TIME = "proc/sys/"
LOG = "writes.jsonl"  # in the hosts' folder
_BETWEEN_LOOKS_S = 0.5  # at what was written to a host's files
_BETWEEN_FLAPS_S = 5.0


class Hosts(Following, Part):
    """Many of them on one hub."""

    name = "hosts"

    def __init__(self, machines: Sequence[HostMachine], seconds_to_boot: float = 2.0) -> None:
        self._machines = list(machines)
        self._seconds_to_boot = seconds_to_boot
        self._live: dict[str, Live] = {}
        self._fleet: Fleet | None = None

    # ---- up and down

    def prepare(self, folder: Path) -> Hub:
        """The hub and the hosts' places on it; nothing runs yet."""
        hosts = [_host(number, one, folder) for number, one in enumerate(self._machines, 1)]
        self._live = {
            one.name: Live(one, host) for one, host in zip(self._machines, hosts, strict=True)
        }
        self._fleet = sshd_fleet.prepare(FLEET, hosts, folder)
        log = folder / LOG
        for one in self._machines:
            one.state.defers_restarts = True
            one.state.tell_to(partial(record, log))
        (folder / "hosts").write_text("".join(f"{name}\n" for name in self._live))
        return Hub(self._fleet.hub, "br0", self._fleet.name, folder)

    @property
    def fleet(self) -> Fleet:
        """What the hosts run on."""
        if self._fleet is None:
            raise LabError("The hosts are not up.")
        return self._fleet

    def up(self, hub: Hub) -> Iterator[str]:
        """Write every host's files and start it; two write while the others start."""
        del hub  # it is the fleet's own
        fleet = self.fleet
        live = list(self._live.values())
        jobs = [partial(_write, self._places(one), one.machine.model()) for one in live]
        for number, _ in enumerate(in_processes(jobs)):
            one = live[number]
            one.listener = socket.socket(socket.AF_UNIX)
            listen(one.listener, fleet.base(one.host) / "t/keeper")
            sshd_fleet.start(fleet, one.host, one.machine.model().uptime_s)
            yield f"{number + 1} of {len(live)} hosts started"
        sshd_fleet.wait_until_up(fleet)
        for one in live:
            self._first_look(one)
        yield f"{len(self._live)} hosts answer"

    def down(self) -> None:
        """End them, and remove the hub."""
        for one in self._live.values():
            if one.listener is not None:
                one.listener.close()
                one.listener = None
        if self._fleet is not None:
            sshd_fleet.down(self._fleet)
            self._fleet = None

    # ---- state

    def status(self) -> list[Status]:
        """Every host."""
        return [
            Status(name, one.machine.kind, self._state(one),
                   one.machine.troubles)
            for name, one in self._live.items()
        ]  # fmt: skip

    def machine(self, name: str) -> HostMachine:
        """A host by its name."""
        return self._found(name).machine

    def faults(self, machine: str = "") -> dict[str, str]:
        """Fault -> where it strikes and which rule is to find it."""
        chosen = [self._found(machine)] if machine else list(self._live.values())
        found = {fault.name: fault for one in chosen for fault in one.machine.possible()}
        return {name: f"{found[name].at:8} {found[name].rule}" for name in sorted(found)}

    def strike(self, machine: str, fault: str, at: str = "", *, earlier: bool = False) -> str:
        """Put a fault into a host."""
        one = self._found(machine)
        was = self._now(one)
        struck = one.machine.strike(fault, at, earlier=earlier)
        count = self._show(one, was)
        finds = f"{struck.injection.fault.rule} should find it"
        return f"{machine}: {struck.words}; {_files(count)}; {finds}"

    def heal(self, machine: str) -> str:
        """Take all faults out of a host."""
        one = self._found(machine)
        was = self._now(one)
        words = one.machine.heal()
        count = self._show(one, was)
        return f"{machine}: healed of {', '.join(words) or 'nothing'}; {_files(count)}"

    def reboot(self, machine: str) -> str:
        """End the host now; `tick` starts it again when it is time."""
        return self._restart(machine, warm=True)

    def power_cycle(self, machine: str) -> str:
        """The same, and its cards lose their power."""
        return self._restart(machine, warm=False)

    def _restart(self, machine: str, *, warm: bool) -> str:
        one = self._found(machine)
        if one.due is not None:
            return f"{machine}: boots already"
        was = self._now(one)
        sshd_fleet.stop(self.fleet, one.host)
        for name in ("run", "tmp"):  # these a host forgets
            shutil.rmtree(self.fleet.base(one.host) / "u" / name, ignore_errors=True)
        one.machine.reboot(warm=warm)
        self._show(one, was, forgets=_SET_AT_RUN_TIME)
        if not one.machine.state.up:
            return f"{machine}: does not come back"
        one.due = time.monotonic() + self._seconds_to_boot
        return f"{machine}: reboots, and starts in {self._seconds_to_boot:g} s"

    # ---- writes

    def run(self, machine: str, argv: Sequence[str], stdin: str = "") -> tuple[str, str, int]:
        """A command line of the host's own."""
        one = self._found(machine)
        was = self._now(one)
        done = one.machine.state.run(argv, stdin)
        self._show(one, was)
        return done.stdout, done.stderr, done.code

    def sync(self, machine: str) -> None:
        """Look at what was written to the host's files."""
        self._notice(self._found(machine))

    def order(self, machine: str, kind: str, at: str = "", value: str = "", times: int = 0) -> str:
        """Order it."""
        one = self._found(machine)
        was = self._now(one)
        try:
            ordered = one.machine.state.misbehave(kind, at, value, times)
        except (KeyError, ValueError) as error:
            raise LabError(f"{machine}: {error.args[0]}") from error
        return f"{machine}: {ordered.words}; {_files(self._show(one, was))}"

    def behave(self, machine: str) -> str:
        """Take all of it out."""
        one = self._found(machine)
        was = self._now(one)
        words = one.machine.state.behave()
        return (
            f"{machine}: no more {', '.join(words) or 'of nothing'}; {_files(self._show(one, was))}"
        )

    def rebase(self, healthy: HostModel) -> int:
        """A host that is another now, its own faults aside; how many files were changed."""
        one = self._found(healthy.name)
        was = self._now(one)
        one.machine.healthy = healthy
        return self._show(one, was)

    def tick(self) -> None:
        """Start the hosts whose time has come; call it now and then, from one thread."""
        now = time.monotonic()
        for name, one in self._live.items():
            state = one.machine.state
            if one.due is not None and now >= one.due:
                one.due = None
                sshd_fleet.start(self.fleet, one.host, one.machine.model().uptime_s)
            elif state.restarts:
                self._restart(name, warm=state.restarts == "reboot")
        self._look(now)

    def _look(self, now: float) -> None:
        """At the host that waited longest; the links that flap come and go."""
        up = [one for one in self._live.values() if self._state(one) == "up"]
        longest = min(up, key=lambda one: one.looked, default=None)
        if longest is not None and now - longest.looked >= _BETWEEN_LOOKS_S:
            self._notice(longest)
        for one in up:
            flaps = one.machine.state.overlay.flapping
            timers = one.machine.state.timers.values()
            runs_out = any(when <= time.time() for when, _ in timers)
            if runs_out or (flaps and now - one.flapped >= _BETWEEN_FLAPS_S):
                one.flapped = now
                was = self._now(one)
                one.machine.state.tick()
                self._show(one, was)

    def listeners(self) -> Iterator[tuple[socket.socket, str]]:
        """What the hosts' own programs ask through, and whose it is."""
        for name, one in self._live.items():
            if one.listener is not None:
                yield one.listener, name

    # ---- for the user

    def ssh_config(self) -> str:
        """`Host` blocks."""
        return self.fleet.ssh_config.read_text()

    def collect_arguments(self) -> list[str]:
        """Read all hosts."""
        return ["-f", str(self.fleet.folder / "hosts")] if self._live else []

    # ---- inside

    def _state(self, one: Live) -> str:
        if one.due is not None:
            return "booting"
        process = self.fleet.processes.get(one.host.number)
        return "up" if process is not None and process.poll() is None else "ended"

    def _found(self, name: str) -> Live:
        if name not in self._live:
            raise LabError(f"No host is called {name}. {nearest(name, self._live)}".rstrip())
        return self._live[name]


def _host(number: int, machine: HostMachine, folder: Path) -> Host:
    tree = folder / "o" / str(number) / "t"
    real = tuple((LAB / "rootfs/usr/bin" / name, f"/{REAL}/{name}") for name in REAL_PROGRAMS)
    return Host(number, tree=tree, alias=machine.name, mounts=((tree / "keeper", SOCKET), *real),
                writable=WRITABLE)  # fmt: skip


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'} changed"


def _write(places: Places, host: HostModel) -> None:
    files = rendered(host)
    names = watching.watched(host, files)
    files.entries[WATCHED] = Entry(watching.lines(names).encode())
    write_all(places, files)


@contextmanager
def running(machines: Sequence[HostMachine], folder: Path) -> Iterator[Hosts]:
    """Live hosts for the length of a block, without a keeper."""
    hosts = Hosts(machines, seconds_to_boot=0)
    try:
        for _ in hosts.up(hosts.prepare(folder)):
            pass
        yield hosts
    finally:
        hosts.down()
