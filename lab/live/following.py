"""How the files of live hosts follow their state, and their state what is written to the files."""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from lab.fleet.model import HostModel
from lab.fleet.render import Said
from lab.fleet.tree import Memory
from lab.live import watching
from lab.live.files import STAMP, WATCHED, Places, put, rendered, rewrite
from lab.live.machine import HostMachine
from lab.sshd_fleet import Fleet, Host
from lab.writes import Record


@dataclass
class Live:
    """A machine and the namespaces that it runs in."""

    machine: HostMachine
    host: Host
    listener: socket.socket | None = None
    due: float | None = None  # when it starts again, by time.monotonic()
    seen: watching.Seen = field(default_factory=watching.Seen)
    shown: tuple[Memory, dict[str, str]] | None = None  # its files, and those that are watched
    looked: float = 0.0
    flapped: float = 0.0


class Following:
    """What live hosts do with files."""

    @property
    def fleet(self) -> Fleet:
        """What the hosts run on."""
        raise NotImplementedError

    def _now(self, one: Live) -> Memory:
        """The host's files, what was written since taken in."""
        self._notice(one)
        return _rendered(one.machine) if one.shown is None else one.shown[0]

    def _first_look(self, one: Live) -> None:
        """What files there are before anybody can have written one."""
        root = self.fleet.open_root(one.host)
        if root is not None:
            one.seen.stats = watching.stats(self._places(one, root))
            os.close(root)

    def _notice(self, one: Live) -> None:
        """Take in what was written on the host, and put back what it may not write."""
        one.looked = monotonic()
        root = self.fleet.open_root(one.host)
        if root is None:
            return
        try:
            self._take_in(one, self._places(one, root))
        finally:
            os.close(root)

    def _take_in(self, one: Live, places: Places) -> None:
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

    def _take_file(self, one: Live, places: Places, name: str, shown: Memory) -> bool:
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

    def _rewrite(self, one: Live, places: Places, old: Memory) -> int:
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

    def _look_anew(self, one: Live, places: Places, shown: Memory) -> None:
        names = watching.watched(one.machine.model(), shown)
        one.shown = shown, names
        try:
            Path(places.path(WATCHED)).write_text(watching.lines(names))
            if places.runs:
                one.seen.stats = watching.stats(places)
            os.utime(places.path(STAMP))
        except OSError:  # it ends just now
            return

    def _places(self, one: Live, root: int | None = None) -> Places:
        """`root` is a handle of the root folder of a host that runs."""
        base = self.fleet.base(one.host)
        inside = None if root is None else Path(f"/proc/self/fd/{root}")
        return Places(base / "t", base / "u", inside)

    def _show(self, one: Live, was: Memory, forgets: str = "") -> int:
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


def record(log: Path, record: Record) -> None:
    with log.open("a") as file:
        file.write(record.line())
