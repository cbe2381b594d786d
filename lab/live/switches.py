"""Live switches: a fabric's models behind one real sshd, whose answers follow its state."""

import base64
import binascii
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import switch_sshd
from lab.fleet.fabric.model import Fabric, Switch
from lab.fleet.fabric.routes import Routing
from lab.fleet.fabric.typed import WAYS, files, typed
from lab.fleet.faults.switch_places import faults_of
from lab.fleet.model import HostModel
from lab.live.fabric import FabricHosts, FabricState, StruckFabric
from lab.live.names import nearest
from lab.live.part import Hub, LabError, Part, Status
from lab.live.sockets import listen
from lab.sshd_fleet import LAB
from lab.switch_ask import SOCKET
from lab.switch_sshd import Ground, Site
from lab.switch_writes import TROUBLES as WRITE_TROUBLES
from lab.switch_writes import Outcome, SwitchState, Trouble, possible

FIRST_ADDRESS = "10.88.240."
MOST = 250
SECONDS_TO_BOOT = 5.0
# What a CLI on a terminal is like: (prompt, line that ends its pager, other lines of a session).
_CLI = {
    "eos": ("{name}>", "terminal length 0", "terminal width 32767"),
    "onyx": (
        "{name} [standalone: master] > ",
        "no cli session paging enable",
        "cli session terminal width 999",
    ),
}
_TOOLS = {
    "sonic": (
        "show",
        "sonic-db-dump",
        "vtysh",
        "sudo",
        "config",
        "pfcwd",
        "systemctl",
        "systemd-run",
        "reboot",
    ),
    "cumulus": ("nv", "vtysh", "sudo", "reboot"),
}
_BANNER = "This switch is a program. Use is recorded.\n"
TROUBLES = ("hangs", "floods")
WRITES = "switch-writes.jsonl"  # in the folder of the hub: a line for each write
_BETWEEN_TICKS_S = 1.0
# What both ends of a cable see: where a write changes it, other machines answer otherwise too.
_SEEN = ("admin_up", "speed_mbps", "speed_asked_mbps", "fec", "fec_asked", "lldp", "up")


@dataclass
class SwitchMachine:
    """A switch, by its name, and how it misbehaves apart from its settings."""

    name: str
    system: str
    address: str
    trouble: str = ""  # hangs, floods
    at: str = ""  # the command that does; of a CLI also `login`
    due: float | None = None  # when it answers again, by time.monotonic()

    def shown(self, fabric: Fabric, routing: Routing) -> switch_sshd.Switch:
        """What sshd must know to answer as the fabric is."""
        model = fabric.named(self.name)
        way = WAYS[self.system]
        said = switch_sshd.Switch(
            self.name, way, typed(fabric, model, routing), files=files(model),
            address=self.address, port=switch_sshd.SSH_PORT, asks=True,
        )  # fmt: skip
        if way == "terminal":
            said.settings = self._settings(model)
            return said
        said.tools = _TOOLS[self.system]
        if self.trouble == "hangs":
            said.hangs = (self.at,)
        elif self.trouble == "floods":
            said.floods = (self.at,)
        return said

    def _settings(self, model: Switch) -> dict[str, object]:
        prompt, pager_off, other = _CLI[self.system]
        return {
            "prompt": prompt.format(name=model.name), "banner": _BANNER,
            "pager_off": [pager_off], "session": [other], "trouble": self.trouble, "at": self.at,
        }  # fmt: skip


class Switches(Part):
    """All switches of a fabric on one hub.

    `show_host` shows a host of the fabric as it is now, and gives how many files were changed.
    """

    name = "switches"

    def __init__(
        self,
        state: FabricState,
        show_host: Callable[[HostModel], int] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        switches = state.healthy.switches
        if len(switches) > MOST:
            raise LabError(f"A lab has at most {MOST} switches, not {len(switches)}.")
        self.state = state
        self._machines = {
            one.name: SwitchMachine(one.name, one.system, f"{FIRST_ADDRESS}{number}")
            for number, one in enumerate(switches, 1)
        }
        self._hosts = FabricHosts(state.healthy, show_host)
        self._texts = dict(texts or {})
        self._hub: Hub | None = None
        self._site: Site | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._listeners: list[tuple[socket.socket, str]] = []
        self._noted: dict[str, int] = {}  # of each switch, how much of its log is in the file
        self._ticked = 0.0

    # ---- up and down

    def up(self, hub: Hub) -> Iterator[str]:
        """One sshd for all."""
        self._hub = hub
        fabric = self.state.now()
        routing = Routing(fabric)
        shown = [one.shown(fabric, routing) for one in self._machines.values()]
        root = LAB / "rootfs"
        ground = Ground(hub.namespace, root, root / "etc/ssh/ssh_host_ed25519_key", LAB / "key.pub")
        self._site, self._process = switch_sshd.up(hub.folder / "switches", shown, ground)
        for name in self._machines:
            listener = socket.socket(socket.AF_UNIX)
            listen(listener, self._site.folder / name / SOCKET)
            self._listeners.append((listener, name))
        yield f"{len(shown)} switches answer"

    def down(self) -> None:
        """End the sshd and what it started; addresses go with the hub."""
        for listener, _ in self._listeners:
            listener.close()
        self._listeners.clear()
        if self._process is not None:
            switch_sshd.down(self._process)
            self._process = None
        if self._site is not None:
            shutil.rmtree(self._site.folder, ignore_errors=True)
            self._site = None

    # ---- state

    def status(self) -> list[Status]:
        """Every switch."""
        return [
            Status(one.name, one.system, self._state(one),
                   (*(f.words for f in self.state.faults if f.switch == one.name),
                    *(t.words for t in self._troubles(one.name)),
                    *((f"{one.trouble} at {one.at}",) if one.trouble else ())))
            for one in self._machines.values()
        ]  # fmt: skip

    def _troubles(self, name: str) -> list[Trouble]:
        state = self.state.writes.get(name)
        return state.troubles if state else []

    def _state(self, one: SwitchMachine) -> str:
        if self._process is None or self._process.poll() is not None:
            return "ended"  # one sshd answers for all
        return "up" if one.due is None else "booting"

    def machine(self, name: str) -> SwitchMachine:
        """A switch by its name."""
        if name not in self._machines:
            raise LabError(f"No switch is called {name}. {nearest(name, self._machines)}".rstrip())
        return self._machines[name]

    def faults(self, machine: str = "") -> dict[str, str]:
        """Fault -> where it strikes and which rule is to find it."""
        if machine:
            self.machine(machine)
        found = faults_of(self.state.healthy, machine)
        told = {name: f"{'/'.join(found[name].at)} {found[name].rule}" for name in sorted(found)}
        return told | (possible(self._machines[machine].system) if machine else WRITE_TROUBLES)

    def strike(self, machine: str, fault: str, at: str = "", *, earlier: bool = False) -> str:
        """Put a fault into a switch or at the other end of one of its cables."""
        if fault in possible(self.machine(machine).system):
            self.state.writer(machine).order(fault, at)
            return f"{machine}: {fault} from now on: {WRITE_TROUBLES[fault]}"
        struck = self.state.strike(machine, fault, at, earlier=earlier)
        changed = self.show()
        rule = struck.injection.fault.rule
        return f"{machine}: {struck.words}; {changed} files changed; {rule} should find it"

    def put(self, struck: StruckFabric) -> int:
        """A fault whose place is known; how many files it changed."""
        self.state.put(struck)
        return self.show()

    def heal(self, machine: str = "") -> str:
        """Take all faults out of a switch, or out of the fabric."""
        chosen = [self.machine(machine)] if machine else list(self._machines.values())
        words = [one.words for one in self.state.heal(machine)]
        for one in chosen:
            words += [one.trouble] if one.trouble else []
            state = self.state.writes.get(one.name)
            words += state.heal() if state else []
            one.trouble = one.at = ""
        changed = self.show()
        who = machine or "all switches"
        return f"{who}: healed of {', '.join(words) or 'nothing'}; {changed} files changed"

    def misbehave(self, machine: str, trouble: str, at: str) -> None:
        """A command that never ends, or never stops printing; until it is healed."""
        if trouble not in TROUBLES:
            raise LabError(f"A switch {' or '.join(TROUBLES)}, and nothing else.")
        one = self.machine(machine)
        one.trouble, one.at = trouble, at
        self.show()

    def show(self) -> int:
        """Let the answers follow the state: only files that differ are replaced."""
        return self._show(self._machines)

    def _show(self, names: Collection[str], *, with_hosts: bool = True) -> int:
        fabric = self.state.now()
        changed = self._hosts.follow(fabric) if with_hosts else 0
        if self._site is not None:
            routing = Routing(fabric)
            for one in map(self.machine, names):
                changed += len(self._site.put(one.shown(fabric, routing)))
        return changed

    def reboot(self, machine: str) -> str:
        """Its address is gone until `tick` finds that it is time; faults and counters stay.

        What was written to it and not saved is lost.
        Where the sshd that answers for all switches has ended, it is started again.
        """
        one = self.machine(machine)
        if self._site is not None and self._state(one) == "ended":
            self._process = switch_sshd.serve(self._site)
        state = self.state.writes.get(machine)
        if state is not None:
            state.reboot()
            self._written(state, self._seen(state, ()))
        return self._away(one)

    def _away(self, one: SwitchMachine) -> str:
        if one.due is None:
            self._address("del", one)
            one.due = time.monotonic() + SECONDS_TO_BOOT
        return f"{one.name}: reboots, and answers in {SECONDS_TO_BOOT:g} s"

    def tick(self) -> None:
        """Give back the addresses of switches whose time has come; do what writes put off."""
        if time.monotonic() >= self._ticked + _BETWEEN_TICKS_S:
            self._ticked = time.monotonic()
            for state in self.state.writes.values():
                seen = self._seen(state)
                if state.tick():
                    self._written(state, seen)
        for one in self._machines.values():
            if one.due is not None and time.monotonic() >= one.due:
                one.due = None
                self._address("add", one)

    # ---- writes

    def listeners(self) -> Iterator[tuple[socket.socket, str]]:
        """One in the folder of each switch."""
        yield from self._listeners

    def write(self, machine: str, wish: dict[str, Any]) -> dict[str, Any]:
        """A command that was typed on a switch; what its tool prints."""
        one, session = self.machine(machine), str(wish.get("session", ""))
        state = self.state.writer(machine)
        if wish.get("left"):
            state.driver.hang_up(session)
            return {}
        seen, boots = self._seen(state), state.boots
        command = wish["line"] if "line" in wish else [str(word) for word in wish["words"]]
        outcome = state.run(command, files=_files(wish.get("files", {})), session=session)
        self._written(state, seen, is_read=outcome.reads)
        if state.boots != boots:
            self._away(one)
        return _said(outcome)

    def _seen(self, state: SwitchState, settings: Collection[Any] | None = None) -> object:
        """What other machines see of a switch."""
        chosen = state.config.settings if settings is None else settings
        fields = tuple(tuple(getattr(one, name) for name in _SEEN) for one in chosen)
        return fields, frozenset(state.down), frozenset(state.bounces)

    def _written(self, state: SwitchState, seen: object, *, is_read: bool = False) -> None:
        """Note a write, and let the answers follow it: only where others see it, those of all."""
        name = state.switch.name
        new = state.log[self._noted.get(name, 0) :]
        self._noted[name] = len(state.log)
        if self._hub is not None and new:
            with (self._hub.folder / WRITES).open("a", encoding="utf-8") as log:
                log.writelines(json.dumps(entry) + "\n" for entry in new)
        if seen != self._seen(state):
            self.show()
        elif not is_read:
            self._show([name], with_hosts=False)

    def _address(self, verb: str, one: SwitchMachine) -> None:
        if self._hub is None:
            raise LabError("The switches are not up.")
        subprocess.run(
            ["ip", "-n", self._hub.namespace, "addr", verb, f"{one.address}/32", "dev",
             self._hub.bridge],
            check=True,
        )  # fmt: skip

    # ---- for the user

    def ssh_config(self) -> str:
        """`Host` blocks."""
        return self._site.ssh_blocks() if self._site is not None else ""

    def collect_arguments(self) -> list[str]:
        """Read all switches, by their systems."""
        by_system: dict[str, list[str]] = {}
        for one in self._machines.values():
            by_system.setdefault(one.system, []).append(one.name)
        return [
            word
            for system, names in by_system.items()
            for word in ("--switches", f"{','.join(names)}={system}")
        ]

    def files(self) -> dict[str, str]:
        """The site file and the cabling plan."""
        return self._texts

    @property
    def folder(self) -> Path:
        """Where the files of the switches that are up lie."""
        if self._site is None:
            raise LabError("The switches are not up.")
        return self._site.folder


def _files(given: Any) -> dict[str, bytes]:
    """Of a switch, as they were sent."""
    try:
        return {str(name): base64.b64decode(text) for name, text in dict(given).items()}
    except (ValueError, TypeError, binascii.Error) as error:
        raise LabError(f"The files of the command cannot be read: {error}") from error


def _said(outcome: Outcome) -> dict[str, Any]:
    return {"stdout": outcome.stdout, "stderr": outcome.stderr, "code": outcome.code,
            "prompt": outcome.prompt, "hung_up": outcome.hung_up}  # fmt: skip


@contextmanager
def running(switches: Switches, hub: Hub) -> Iterator[Switches]:
    """Live switches for the length of a block, without a keeper."""
    try:
        for _ in switches.up(hub):
            pass
        yield switches
    finally:
        switches.down()
