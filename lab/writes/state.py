"""The state of one host: its model, and on top of it what was written since."""

import posixpath
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.system_model import Service
from lab.writes import attributes, registry, script
from lab.writes.assemble import Overlay, assembled
from lab.writes.events import booted
from lab.writes.find import names_of, value_of
from lab.writes.link import flap
from lab.writes.misbehaviour import KINDS, Misbehaviour, used
from lab.writes.outcome import KernelError, Outcome, RefusedError, refused
from lab.writes.record import Record, content_words

LARGEST_INPUT = 1 << 20  # of standard input that a tool looks at
MANY_NESTED = 8  # a second writer may provoke another one
SILENT = Outcome("", "ssh: connect to host: No route to host\n", 255)


@dataclass
class _Open:
    """A record that is being made."""

    changes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    subjects: set[str] = field(default_factory=set)


class HostState:
    """A host, and everything that tools, files and boots have made of it."""

    def __init__(
        self,
        model: HostModel,
        *,
        clock: Callable[[], float] = time.time,
        tell: Callable[[Record], None] | None = None,
    ) -> None:
        self._base = model
        self._clock = clock
        self._tell = tell
        self.overlay = Overlay()
        self.services: dict[str, Service] = {}
        self.misbehaviours: list[Misbehaviour] = []
        self.log: list[Record] = []
        self.boots = 0
        self.uptime_s = 0.0  # that it claims when it has restarted
        self.up = True
        self.timers: dict[str, tuple[float, str]] = {}  # unit -> when, and what it runs
        self.defers_restarts = False
        self.restarts = ""  # reboot, power cycle: asked for by a tool, and not done yet
        self._open: list[_Open] = []
        self._program = ""  # the tool that runs
        self._models: dict[str, HostModel] = {}

    # ---- what it is

    @property
    def name(self) -> str:
        """Its host name."""
        return self._base.name

    @property
    def base(self) -> HostModel:
        """The host without what was written."""
        return self._base

    def model(self, program: str = "") -> HostModel:
        """The host as it is now; with `program`, as a tool whose read-back lies shows it."""
        lies = program if program in self.lying() else ""
        if lies not in self._models:
            made = assembled(self._base, self.overlay, self, lies)
            if any(one.kind == "no_reset_level" for one in self.misbehaviours):
                made = replace(made, nics=tuple(self._without_levels(nic) for nic in made.nics))
            self._models[lies] = made
        return self._models[lies]

    def _without_levels(self, nic: Nic) -> Nic:
        """A card whose firmware offers live patches only, where that was ordered."""
        names = {nic.name, nic.netdev, nic.address}
        ordered = [one.at for one in self.misbehaviours if one.kind == "no_reset_level"]
        if not any(not at or at in names for at in ordered):
            return nic
        return replace(nic, flash=replace(nic.flash, reset_level=0, reset_levels=(0,)))

    def lying(self) -> set[str]:
        """Programs whose answers are not what is in force."""
        return {one.program for one in self.overlay.lies.values()}

    def rebase(self, model: HostModel) -> None:
        """The host under the writes is another one now; what changed there counts."""
        if model == self._base:
            return
        self.overlay.forget_changed(self._base, model)
        self._base = model
        self.changed()

    def tell_to(self, tell: Callable[[Record], None]) -> None:
        """Who hears of each record."""
        self._tell = tell

    def changed(self) -> None:
        """The model has to be made anew."""
        self._models.clear()

    # ---- what people do

    def run(self, argv: Sequence[str], stdin: str = "") -> Outcome:
        """A command line of this host, as root."""
        if not self.up:
            return SILENT
        words = tuple(str(word) for word in argv)
        with self._recorded("command", words) as done:
            outcome = registry.run(self, words, stdin[:LARGEST_INPUT])
            done.append(outcome)
        return done[-1]

    def write_file(self, path: str, content: bytes | str) -> Outcome:
        """What `cat > PATH` does; also to an attribute of /sys or /proc/sys."""
        raw = content.encode() if isinstance(content, str) else content
        return self._file(("write", path), path, raw)

    def remove_file(self, path: str) -> Outcome:
        """What `rm PATH` does."""
        return self._file(("remove", path), path, None)

    def link_file(self, path: str, target: str) -> Outcome:
        """What `ln -sf TARGET PATH` does."""
        return self._file(("link", path, target), path, target)

    def read_file(self, path: str) -> bytes | None:
        """A file of the host's; None where there is none."""
        return attributes.content_of(self, posixpath.normpath(path))

    def reboot(self, *, warm: bool = True) -> None:
        """A restart of the host: of its kernel, or of its power supplies."""
        with self._recorded("event", ("reboot" if warm else "power cycle",)) as done:
            booted(self, warm=warm)
            done.append(Outcome())

    def power_cycle(self) -> None:
        """Its power was really off."""
        self.reboot(warm=False)

    def restart(self, *, warm: bool = True) -> None:
        """A tool of the host asks for it: now, or where a live host has to be ended, soon."""
        if self.defers_restarts:
            self.restarts = "reboot" if warm else "power cycle"
        else:
            booted(self, warm=warm)

    def tick(self) -> bool:
        """Time passes: timers run out, links that flap come and go; whether anything changed."""
        ran = self.run_timers()
        return any([ran, *(flap(self, netdev) for netdev in sorted(self.overlay.flapping))])

    def set_timer(self, unit: str, seconds: float, line: str) -> None:
        """Run a command line when so many seconds have passed; `systemctl stop` takes it back."""
        self.timers[unit] = (self._clock() + seconds, line)

    def run_timers(self) -> bool:
        """Those whose time has come."""
        due = [unit for unit, (when, _) in self.timers.items() if when <= self._clock()]
        for unit in due if self.up else ():
            line = self.timers.pop(unit)[1]
            with self._recorded("event", (f"{unit}.timer", line)) as done:
                done.append(script.run_line(self, line))
        return bool(due) and self.up

    # ---- misbehaviour

    def misbehave(self, kind: str, at: str = "", value: str = "", times: int = 0) -> Misbehaviour:
        """Order it; KeyError with the kinds that there are."""
        if kind not in KINDS:
            raise KeyError(f"no misbehaviour is called {kind}: {', '.join(KINDS)}")
        if kind.startswith("second_writer") and not value:
            raise ValueError(f"{kind} wants the command that the other one runs")
        if kind == "busy" and at and not any(at in names for names in self._all_names()):
            raise ValueError(f"{self.name} has no {at}")
        one = Misbehaviour(kind, at, value, times)
        self.misbehaviours.append(one)
        self.changed()
        return one

    def behave(self) -> list[str]:
        """No misbehaviour any more; those that there were."""
        words = [one.words for one in self.misbehaviours]
        self.misbehaviours = []
        self.overlay.flapping.clear()
        self.overlay.lies.clear()
        self.overlay.false_files.clear()
        self.up = True
        self.changed()
        return words

    def misbehaves(self, kind: str, subject: str = "", *, use: bool = True) -> Misbehaviour | None:
        """Whether it does at this subject; uses it up where it happens only so often."""
        for place, one in enumerate(self.misbehaviours):
            if one.kind == kind and self._fits(one, subject):
                if use:
                    left = used(one)
                    self.misbehaviours[place : place + 1] = [left] if left else []
                    self.note(f"misbehaved: {one.words}")
                return one
        return None

    def _fits(self, one: Misbehaviour, subject: str) -> bool:
        if not one.at or one.at == subject:
            return True
        if subject.startswith("/"):
            return subject.startswith(one.at)
        names = names_of(self.model(), subject)
        return one.at in names

    def _all_names(self) -> list[set[str]]:
        return [names_of(self.model(), nic.name) for nic in self.model().nics]

    # ---- for the tools

    def set(self, subject: str, name: str, value: Any, layer: str = "runtime") -> bool:
        """Change a field of the model; whether it is so now.

        `layer`: runtime (gone at a boot), kept (in a flash).
        """
        self.writing(subject)
        if self.misbehaves("set_ignored", subject):
            return False
        before = value_of(self.model(), subject, name)
        if self.misbehaves("lying_read_back", subject):
            self.overlay.lie((subject, name), self._program, value)
        else:
            self.overlay.put(layer, (subject, name), value)
            self.overlay.lies.pop((subject, name), None)
            self.tell_change(f"{subject} {name}", before, value)
        self.changed()
        return True

    def force(self, subject: str, name: str, value: Any) -> None:
        """What follows from a write, whatever was ordered."""
        before = value_of(self.model(), subject, name)
        self.overlay.put("runtime", (subject, name), value)
        self.tell_change(f"{subject} {name}", before, value)
        self.changed()

    def base_value(self, subject: str, name: str) -> Any:
        """A field of the host under the writes."""
        return value_of(self._base, self.overlay.unmoved(subject), name)

    def writing(self, subject: str) -> None:
        """A write there begins: a second writer may come first."""
        if self._open:
            self._open[-1].subjects.add(subject)
        if len(self._open) < MANY_NESTED:
            other = self.misbehaves("second_writer", subject)
            if other is not None:
                self._other(other)

    def _other(self, other: Misbehaviour) -> None:
        words = tuple(shlex.split(other.value))
        program = self._program
        with self._recorded("other", words) as done:
            done.append(registry.run(self, words, ""))
        self._program = program

    def begin(self, program: str) -> None:
        """The tool that runs from now on."""
        self._program = program

    def tell_change(self, what: str, before: Any, after: Any) -> None:
        """For the record of what runs now."""
        if not self._open:
            return
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            for key in before.keys() | after.keys():
                self.tell_change(f"{what}.{key}", before.get(key), after.get(key))
            return
        changes = self._open[-1].changes
        first = changes[what][0] if what in changes else before
        changes[what] = (first, after)
        if first == after:
            del changes[what]

    def note(self, words: str) -> None:
        """For the record of what runs now."""
        if self._open and words not in self._open[-1].notes:
            self._open[-1].notes.append(words)

    def put_file(self, path: str, content: bytes | str | None) -> None:
        """A file of the disk; KernelError where it cannot be written."""
        self.writing(path)
        if self.misbehaves("disk_full", path, use=content is not None) and content is not None:
            raise KernelError("ENOSPC")
        if self.misbehaves("set_ignored", path):
            return
        before = self.read_file(path)
        self.overlay.files[path] = content
        self.tell_change(path, content_words(before), content_words(content))
        self.changed()

    def nic(self, word: str) -> Nic | None:
        """A card's function by its netdev."""
        return next((n for n in self.model().nics if n.netdev == word and not n.in_guest), None)

    def netdev(self, word: str) -> Netdev | None:
        """Any network device by its name."""
        model = self.model()
        return next((n for n in (*model.nics, *model.netdevs) if n.netdev == word), None)

    # ---- inside

    def _file(self, argv: tuple[str, ...], path: str, content: bytes | str | None) -> Outcome:
        if not self.up:
            return SILENT
        clean = posixpath.normpath(path) if path.startswith("/") else ""
        is_attribute = clean.startswith(("/sys/", "/proc/"))
        with self._recorded("attribute" if is_attribute else "file", argv) as done:
            try:
                self._put(clean, content, is_attribute)
                done.append(Outcome())
            except KernelError as error:
                done.append(Outcome("", f"{path}: {error.words}\n", 1))
            except RefusedError as error:
                done.append(error.outcome)
        return done[-1]

    def _put(self, path: str, content: bytes | str | None, is_attribute: bool) -> None:
        if path in ("", "/") or "\0" in path:
            raise KernelError("ENOENT")
        self.begin("attribute")
        if is_attribute:
            attributes.write(self, path, content)
        elif content is None and self.read_file(path) is None:
            raise KernelError("ENOENT")
        else:
            self.put_file(path, content)

    @contextmanager
    def _recorded(self, kind: str, argv: tuple[str, ...]) -> Iterator[list[Outcome]]:
        """Collect what changes meanwhile; one record if anything did, or if it was a write."""
        opened = _Open()
        self._open.append(opened)
        done: list[Outcome] = []
        try:
            yield done
        except RecursionError:  # a script of the host that runs itself
            done.append(refused("too many levels of recursion\n").outcome)
        finally:
            self._open.pop()
        self._write_record(kind, argv, done[-1], opened)
        after = [s for s in sorted(opened.subjects) if len(self._open) < MANY_NESTED]
        for subject in after if kind in ("command", "file", "attribute") else ():
            other = self.misbehaves("second_writer_after", subject)
            if other is not None:
                self._other(other)

    def _write_record(
        self, kind: str, argv: tuple[str, ...], outcome: Outcome, opened: _Open
    ) -> None:
        touched = opened.changes or opened.notes or opened.subjects
        if kind == "command" and not touched and not registry.is_write(argv):
            return
        changes, note = dict(opened.changes), "; ".join(opened.notes)
        words = tuple(word[:4096] for word in argv[:1000])
        record = Record(self._clock(), self.name, kind, words, outcome.code, changes, note)
        self.log.append(record)
        if self._tell is not None:
            self._tell(record)

    def service(self, name: str) -> Service | None:
        """A unit as it is now, by its name without .service."""
        return next((one for one in self.model().kernel.services if one.name == name), None)

    def set_service(self, service: Service) -> None:
        """A unit, in another state."""
        before = self.services.get(service.name) or self.service(service.name)
        self.writing(service.name)
        if self.misbehaves("set_ignored", service.name):
            return
        self.services[service.name] = service
        told = None if before is None else f"{before.active} {before.file}"
        self.tell_change(f"{service.name}.service", told, f"{service.active} {service.file}")
        self.changed()

    def restarted_services(self) -> None:
        """At a boot: what is enabled runs."""
        for name, one in list(self.services.items()):
            runs = one.file == "enabled"
            was = next((s for s in self._base.kernel.services if s.name == name), one)
            sub = (was.sub if was.active == "active" else "running") if runs else "dead"
            state = "active" if runs else "inactive"
            self.services[name] = replace(one, active=state, sub=sub)
        self.changed()
