"""A switch that can be written to: what runs, what is saved, what is pending, and who wrote what.

    state = SwitchState(fabric.named("leaf001"))
    state.run("config interface mtu Ethernet0 9100")      Outcome(stdout, stderr, code)
    state.order("write_disk_full")                        from now on it misbehaves
    state.tick()                                          timers, by the clock that was given
    state.reboot()                                        what was not saved is gone
    state.shown(switch)                                   the switch for the renderers
    state.log                                             every write, with values before and after

It needs no lab that is up. The settings are those of `lab.fleet.fabric.setting`; the words of each
system are in a module of its own.
"""

import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.model import Switch
from lab.switch_writes import troubles
from lab.switch_writes.changes import bounced, in_force, kept_state, moved, port_changes
from lab.switch_writes.driver import Driver
from lab.switch_writes.outcome import Call, Config, HungUpError, Outcome, RefusedError
from lab.switch_writes.systems import driver_of
from lab.switch_writes.troubles import Trouble

SAVED = "saved"
SECOND = "second"  # the session of the second writer
_LONGEST_NOTE = 4_000  # characters of a file that are noted


class SwitchState:
    """One switch."""

    def __init__(
        self,
        switch: Switch,
        healthy: Switch | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.switch = replace(switch)
        self.healthy = healthy or self.switch  # what it goes back to where nothing is configured
        self.clock = clock
        self.log: list[dict[str, Any]] = []
        self.troubles: list[Trouble] = []
        self.driver: Driver = driver_of(switch.system)(self)
        self.running = Config(switch.settings, self.driver.native())
        self.kept: dict[str, Config] = {SAVED: self.running}
        self.told: Config | None = None  # what it shows although it is not so
        self.down: set[int] = set()  # ports whose link does not come back
        self.flapping: set[int] = set()
        self.bounces: set[int] = set()  # ports whose link is to be settled with the other end
        self._text = ""
        self._changes: list[dict[str, Any]] = []
        self._put = False
        self.boots = 0

    # ---- what is typed

    def run(
        self,
        command: str | Sequence[str],
        stdin: str = "",
        *,
        files: Mapping[str, bytes] | None = None,
        session: str = "",
    ) -> Outcome:
        """A command of the system's own tools; `files` holds those that its arguments name."""
        line = command if isinstance(command, str) else shlex.join(command)
        words = tuple(line.split()) if isinstance(command, str) else tuple(command)
        call = Call(words, line, stdin, files or {}, session)
        place = self.driver.place(session)
        held = b"\n".join(call.files.values()).decode("utf-8", "replace")
        outer, self._text = self._text, f"{line}\n{stdin}\n{held}"
        self._changes, self._put = [], False
        try:
            outcome = self._outcome(call)
        finally:
            self._text = outer
        if not outcome.reads:
            given = {"given": (stdin or held)[:_LONGEST_NOTE], "place": place}
            self._note(line, outcome.code, by=session, **given)
        return outcome

    def _outcome(self, call: Call) -> Outcome:
        try:
            outcome = self.driver.run(call)
        except RefusedError as error:
            return self.driver.refusal(call, error)
        except HungUpError:
            self.driver.hang_up(call.session)
            return Outcome(code=255, hung_up=True)
        if self._put and self.misbehaves(troubles.HANGS_UP):
            self.driver.hang_up(call.session)
            return Outcome(code=255, hung_up=True)
        return outcome

    def _note(self, text: str, code: int, *, by: str = "", **more: str) -> None:
        self.log.append({
            "time": self.clock(), "machine": self.switch.name, "by": by, "text": text,
            **{name: words for name, words in more.items() if words}, "code": code,
            "dangerous": self.driver.is_dangerous(text), "changes": self._changes,
            "troubles": [one.words for one in self.troubles],
        })  # fmt: skip
        self._changes = []

    # ---- for the systems

    @property
    def config(self) -> Config:
        """What the switch believes that it runs: what the next write is made on."""
        return self.told or self.running

    def ports(self) -> list[str]:
        """Names, in order."""
        return [port.name for port in self.switch.ports]

    def misbehaves(self, name: str) -> Trouble | None:
        """Whether this command is struck by a trouble."""
        found = (one for one in self.troubles if one.name == name)
        return next((one for one in found if one.strikes(self._text)), None)

    def put(self, wanted: Config, *, all_ports: bool = False, bounce: Collection[int] = ()) -> None:
        """Make this the running configuration, or do with it what was ordered."""
        self._put = True
        if self.misbehaves(troubles.IGNORED):
            return
        before = self.running
        pairs = list(zip(before.settings, wanted.settings, strict=True))
        settings = [in_force(*pair) for pair in pairs]
        if self.misbehaves(troubles.LIES):
            self.told = replace(wanted, settings=tuple(settings))
            return
        for at, (was, now) in enumerate(pairs):
            differs = [f for f in self.driver.bouncing if getattr(was, f) != getattr(now, f)]
            if was.admin_up and (differs or all_ports or at in bounce):
                settings[at] = bounced(settings[at])
                self.bounces.add(at)
            if was != now:
                self.down |= {at} if self.misbehaves(troubles.LINK_DOWN) else set()
                self.flapping |= {at} if self.misbehaves(troubles.LINK_FLAPS) else set()
        self.running, self.told = replace(wanted, settings=tuple(settings)), None
        self._changes += port_changes(self.ports(), before.settings, self.running.settings)
        self._changes += self.driver.native_changes(before.native, self.running.native)

    def save(self, name: str = SAVED) -> None:
        """Write the running configuration down; RefusedError where the disk is full."""
        if self.misbehaves(troubles.DISK_FULL):
            raise RefusedError(self.driver.disk_full)
        self.kept[name] = self.config

    def let_the_other_write(self) -> None:
        """Called before a commit: whoever was ordered to write in between does so now, once."""
        other = self.misbehaves(troubles.SECOND_WRITER)
        if other is None:
            return
        self.troubles.remove(other)
        kept = self._changes, self._put
        for command in (*self.driver.entering, *other.at.split(";"), *self.driver.leaving):
            self.run(command.strip(), session=SECOND)
        self._changes, self._put = kept

    # ---- from outside

    def order(self, name: str, at: str = "") -> Trouble:
        """From now on it misbehaves so, until it is healed."""
        there = troubles.possible(self.switch.system)
        if name not in there:
            raise ValueError(f"{self.switch.system} cannot have {name}. There: {', '.join(there)}.")
        self.troubles.append(Trouble(name, at))
        return self.troubles[-1]

    def heal(self) -> list[str]:
        """It behaves; what it did wrong until now, in words."""
        gone = [one.words for one in self.troubles]
        self.troubles, self.told = [], None
        self.down, self.flapping = set(), set()
        return gone

    def tick(self) -> bool:
        """Do what is due; whether anything was, or a link flaps."""
        self._changes = []
        done = False
        for words in self.driver.tick(self.clock()):
            self._note(words, 0, by="timer")
            done = True
        if self.flapping:
            settings = list(self.running.settings)
            for at in self.flapping:
                settings[at] = bounced(settings[at])
            self.running = replace(self.running, settings=tuple(settings))
        return done or bool(self.flapping)

    def reboot(self) -> None:
        """It starts with what was saved."""
        self.boots += 1
        self._changes = []
        before, saved = self.running, self.kept[SAVED]
        pairs = zip(saved.settings, before.settings, strict=True)
        self.running = replace(saved, settings=tuple(kept_state(*pair) for pair in pairs))
        self.told = None
        self.down, self.flapping = set(), set()
        self.driver.reboot()
        self._changes += port_changes(self.ports(), before.settings, self.running.settings)
        self._changes += self.driver.native_changes(before.native, self.running.native)
        self._note("reboot", 0, by="reboot")

    def follow(self, before: Switch, after: Switch) -> None:
        """A fault was put into the switch or taken out: what it changed is changed here too."""
        self.switch = replace(after, settings=self.switch.settings)
        for name, config in {"": self.running, **self.kept}.items():
            pairs = zip(config.settings, before.settings, after.settings, strict=True)
            settings = tuple(moved(*three) for three in pairs)
            native = self.driver.follow(config.native, before, after)
            if name:
                self.kept[name] = Config(settings, native)
            else:
                self.running = Config(settings, native)

    def shown(self, switch: Switch) -> Switch:
        """A switch of a fabric as this one is."""
        made = replace(switch, settings=self.config.settings, changed=True)
        return self.driver.shown(made, self.config, self.running)
