"""Live hosts: models behind real sshd, whose files follow their state."""

import os
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lab import sshd_fleet
from lab.fleet.model import HostModel
from lab.fleet.render import Said
from lab.fleet.tree import Entry, Memory
from lab.live import watching
from lab.live.files import (
    REAL,
    REAL_PROGRAMS,
    SOCKET,
    STAMP,
    WATCHED,
    WRITABLE,
    Places,
    put,
    rendered,
    rewrite,
    write_all,
)
from lab.live.machine import HostMachine
from lab.live.names import nearest
from lab.live.part import Hub, LabError, Part, Status
from lab.live.sockets import listen
from lab.live.writers import in_processes
from lab.sshd_fleet import LAB, Fleet, Host
from lab.writes import Record

FLEET = "rwv"  # namespaces of live labs are called so
_SET_AT_RUN_TIME = "proc/sys/"
LOG = "writes.jsonl"  # in the hosts' folder
_BETWEEN_LOOKS_S = 0.5  # at what was written to a host's files
_BETWEEN_FLAPS_S = 5.0


@dataclass
class _Live:
    """A machine and the namespaces that it runs in."""

    machine: HostMachine
    host: Host
    listener: socket.socket | None = None
    due: float | None = None  # when it starts again, by time.monotonic()
    seen: watching.Seen = field(default_factory=watching.Seen)
    shown: tuple[Memory, dict[str, str]] | None = None  # its files, and those that are watched
    looked: float = 0.0
    flapped: float = 0.0


class Hosts(Part):
    """Many of them on one hub."""

    name = "hosts"

    def __init__(self, machines: Sequence[HostMachine], seconds_to_boot: float = 2.0) -> None:
        self._machines = list(machines)
        self._seconds_to_boot = seconds_to_boot
        self._live: dict[str, _Live] = {}
        self._fleet: Fleet | None = None

    # ---- up and down

    def prepare(self, folder: Path) -> Hub:
        """The hub and the hosts' places on it; nothing runs yet."""
        hosts = [_host(number, one, folder) for number, one in enumerate(self._machines, 1)]
        self._live = {
            one.name: _Live(one, host) for one, host in zip(self._machines, hosts, strict=True)
        }
        self._fleet = sshd_fleet.prepare(FLEET, hosts, folder)
        log = folder / LOG
        for one in self._machines:
            one.state.defers_restarts = True
            one.state.tell_to(partial(_record, log))
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
                   tuple(fault.words for fault in one.machine.faults))
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

    def _now(self, one: _Live) -> Memory:
        """The host's files, what was written since taken in."""
        self._notice(one)
        return _rendered(one.machine) if one.shown is None else one.shown[0]

    def _first_look(self, one: _Live) -> None:
        """What files there are before anybody can have written one."""
        root = self.fleet.open_root(one.host)
        if root is not None:
            one.seen.stats = watching.stats(self._places(one, root))
            os.close(root)

    def _notice(self, one: _Live) -> None:
        """Take in what was written on the host, and put back what it may not write."""
        one.looked = time.monotonic()
        root = self.fleet.open_root(one.host)
        if root is None:
            return
        try:
            self._take_in(one, self._places(one, root))
        finally:
            os.close(root)

    def _take_in(self, one: _Live, places: Places) -> None:
        state = one.machine.state
        if one.shown is None:
            one.machine.model()
            self._look_anew(one, places, _rendered(one.machine))
        assert one.shown is not None
        shown, names = one.shown
        took = False
        for name, path, content in list(watching.written_attributes(places, shown, names)):
            state.write_file(path, content)
            now = state.read_file(path)
            if now is not None and now.strip() == content.strip():
                shown.entries[name] = shown.entries[name]._replace(content=content)
            else:
                put(places, name, shown.entries[name])
            took = True
        stats = watching.stats(places)
        before = one.seen.stats
        for name in sorted(stats.keys() | before.keys()) if before is not None else ():
            assert before is not None
            if stats.get(name) != before.get(name):
                took = self._take_file(one, places, name, shown) or took
        if before is None or stats != before:
            one.seen.stats = watching.stats(places)
        if took:
            self._rewrite(one, places, shown)

    def _take_file(self, one: _Live, places: Places, name: str, shown: Memory) -> bool:
        """One file of the host's own layer; whether it was taken in."""
        content, path, state = watching.content(places, name), f"/{name}", one.machine.state
        if content is None:
            done = state.remove_file(path)
            one.seen.own.pop(path, None)
            shown.entries.pop(name, None)
            return done.code == 0
        if isinstance(content, str):
            done = state.link_file(path, content)
        else:
            done = state.write_file(path, content)
        if done.code == 0 and state.overlay.files.get(path) == content:
            one.seen.own[path] = content
            return True
        entry = shown.entries.get(name)  # the disk is full, or it was ignored: as it was
        if entry is not None:
            put(places, name, entry)
        else:
            Path(places.path(name)).unlink(missing_ok=True)
        return False

    def _rewrite(self, one: _Live, places: Places, old: Memory) -> int:
        """Let the files follow the state; what the host wrote itself stays as it is."""
        new = _rendered(one.machine)
        for path, content in one.seen.own.items():
            if one.machine.state.overlay.files.get(path) == content:
                name = path.lstrip("/")
                old.entries.pop(name, None)
                if name in new.entries:
                    old.entries[name] = new.entries[name]
        count = len(rewrite(places, old, new))
        self._look_anew(one, places, new)
        return count

    def _look_anew(self, one: _Live, places: Places, shown: Memory) -> None:
        names = watching.watched(one.machine.model(), shown)
        one.shown = shown, names
        try:
            Path(places.path(WATCHED)).write_text(watching.lines(names))
            if places.runs:
                one.seen.stats = watching.stats(places)
            os.utime(places.path(STAMP))
        except OSError:  # it ends just now
            return

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
            if flaps and now - one.flapped >= _BETWEEN_FLAPS_S:
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

    def _state(self, one: _Live) -> str:
        if one.due is not None:
            return "booting"
        process = self.fleet.processes.get(one.host.number)
        return "up" if process is not None and process.poll() is None else "ended"

    def _found(self, name: str) -> _Live:
        if name not in self._live:
            raise LabError(f"No host is called {name}. {nearest(name, self._live)}".rstrip())
        return self._live[name]

    def _places(self, one: _Live, root: int | None = None) -> Places:
        """`root` is a handle of the root folder of a host that runs."""
        base = self.fleet.base(one.host)
        inside = None if root is None else Path(f"/proc/self/fd/{root}")
        return Places(base / "t", base / "u", inside)

    def _show(self, one: _Live, was: Memory, forgets: str = "") -> int:
        """Let the host's files follow its state, and those below `forgets` in any case."""
        root = self.fleet.open_root(one.host)
        try:
            for name in [n for n in was.entries if forgets and n.startswith(forgets)]:
                del was.entries[name]
            return self._rewrite(one, self._places(one, root), was)
        finally:
            if root is not None:
                os.close(root)


def _rendered(machine: HostMachine) -> Memory:
    """A host's files: as its model says, and where a tool lies or is busy, as that tool says."""
    model, state = machine.model(), machine.state
    others = {program: state.model(program) for program in state.lying()}
    return rendered(model, others, tuple(_busy(machine, model)))


def _busy(machine: HostMachine, model: HostModel) -> Iterator[Said]:
    """What firmware tools answer while another one has the card."""
    if not any(one.kind == "busy" for one in machine.state.misbehaviours):
        return
    for nic in model.nics:
        if machine.state.misbehaves("busy", nic.name, use=False):
            words = "-E- Failed to open the device: Semaphore locked\n"
            yield Said(f"mlxconfig -d {nic.address} -e query", words, "", 3)
            yield Said(f"flint -d {nic.address} query", "", words, 1)
            yield Said(f"mlxfwreset -d {nic.address} query", words, "", 1)


def _record(log: Path, record: Record) -> None:
    with log.open("a") as file:
        file.write(record.line())


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
