"""Onyx: `configure terminal`, where each command is in force at once, and `configuration write`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lab.switch_writes import onyx_lines
from lab.switch_writes.driver import Driver
from lab.switch_writes.outcome import Call, Outcome, RefusedError
from lab.switch_writes.terminal import CONFIG, ENABLE, EXEC, Login, chosen_ports

_UNKNOWN = '% Unrecognized command "{}".\nType "?" for help.'
_FILE = r"[a-zA-Z0-9_.-]{1,64}"
_PORT = "Eth"
_SHOWN = {
    "show running-config": False,
    "show configuration running": False,
    "show configuration": True,
}  # whether it is what was saved
_LONGEST = 60  # letters of a word that are said again


class Onyx(Driver):
    """One switch."""

    bouncing = (*Driver.bouncing, "mtu", "pfc")
    disk_full = "% Could not save configuration: no space left on device"
    entering = ("enable", "configure terminal")
    leaving = ("exit",)
    dangerous = ("reload", "configuration switch-to", "configuration text", "no roce", "roce")

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.logins: dict[str, Login] = {}

    def native(self) -> dict[str, Any]:
        switch = self.state.switch
        return onyx_lines.native_of(switch.settings, [port.name for port in switch.ports])

    # ---- what is typed

    def run(self, call: Call) -> Outcome:
        login = self.logins.setdefault(call.session, Login())
        line = " ".join(call.line.split())
        return replace(self._answer(login, line), prompt=self.prompt(login))

    def refusal(self, call: Call, error: RefusedError) -> Outcome:
        login = self.logins.setdefault(call.session, Login())
        return Outcome(f"{error.words}\n", "", 1, prompt=self.prompt(login))

    def prompt(self, login: Login) -> str:
        """leaf001 [standalone: master] (config interface ethernet 1/1) #"""
        name = f"{self.state.switch.name} [standalone: master]"
        if login.mode in (EXEC, ENABLE):
            return f"{name} {'>' if login.mode == EXEC else '#'} "
        return f"{name} (config{login.label}) # "

    def place(self, session: str) -> str:
        login = self.logins.get(session)
        return f"config{login.label}" if login and login.mode == CONFIG else ""

    def hang_up(self, session: str) -> None:
        self.logins.pop(session, None)

    def _answer(self, login: Login, line: str) -> Outcome:
        if not line or line.startswith("!"):
            return Outcome(reads=True)
        if login.mode == EXEC:
            if line not in ("enable", "en"):
                raise self._unknown(line)
            login.mode = ENABLE
            return Outcome(reads=True)
        moved = self._moved(login, line)
        if moved is not None:
            return moved
        saved = re.fullmatch(rf"configuration write(?: to (?P<file>{_FILE})(?: no-switch)?)?"
                             "|write memory", line, re.ASCII)  # fmt: skip
        if saved is not None:
            self.state.save(f"file {saved['file']}" if saved["file"] else "saved")
            return Outcome()
        if line in _SHOWN:
            config = self.state.kept["saved"] if _SHOWN[line] else self.state.config
            text = onyx_lines.running_config(config, self.state.ports())
            return Outcome(text, reads=True)
        if login.mode != CONFIG:
            raise self._unknown(line)
        switched = re.fullmatch("configuration switch-to (.+)", line)
        return self._switch_to(switched[1]) if switched else self._change(login, line)

    def _moved(self, login: Login, line: str) -> Outcome | None:
        """Commands that only lead somewhere."""
        if line == "reload" or line.startswith("reload "):
            self.state.reboot()
            return Outcome(hung_up=True)
        if line in ("configure terminal", "conf t", "configure") and login.mode == ENABLE:
            login.mode = CONFIG
        elif line == "exit" and login.mode == CONFIG and login.label:
            login.leave()
        elif line in ("exit", "no configure", "end") and login.mode == CONFIG:
            login.mode = ENABLE
            login.leave()
        elif line == "disable" and login.mode == ENABLE:
            login.mode = EXEC
        elif line != "enable":
            return None
        return Outcome(reads=True)

    def _switch_to(self, name: str) -> Outcome:
        """Another file becomes the active one, and is loaded: the switch restarts."""
        found = self.state.kept.get(f"file {name}")
        if found is None:
            raise RefusedError(f"% Configuration file {name[:_LONGEST]} was not found")
        self.state.kept["saved"] = found
        self.state.reboot()
        return Outcome(hung_up=True)

    def _change(self, login: Login, line: str) -> Outcome:
        state = self.state
        state.let_the_other_write()
        made = onyx_lines.editing(state.ports(), state.config, state.healthy.settings)
        no, bare = line.startswith("no "), line.removeprefix("no ")
        match = re.fullmatch(r"interface ethernet ([0-9/, -]+?)(?: ([a-z].*))?", bare, re.ASCII)
        if match is not None:
            made.chosen = chosen_ports(match[1], made.ports, _PORT)
            if not match[2]:
                login.chosen, login.label = made.chosen, f" interface ethernet {match[1].strip()}"
                return Outcome(reads=True)
            rest, no = match[2].removeprefix("no "), no or match[2].startswith("no ")
            self._do(made, rest, line, no=no, at_ports=True)
        elif login.chosen:
            made.chosen = login.chosen
            self._do(made, bare, line, no=no, at_ports=True)
        else:
            made.chosen = list(range(len(made.ports)))  # what is global here is on all ports
            self._do(made, bare, line, no=no, at_ports=False)
        return Outcome()

    def _do(
        self, made: onyx_lines.Editing, text: str, line: str, *, no: bool, at_ports: bool
    ) -> None:
        if not onyx_lines.take(made, text, no=no, at_ports=at_ports):
            raise self._unknown(line)
        switch = self.state.switch
        for port, setting in zip(switch.ports, made.settings, strict=True):
            if setting.speed_mbps > port.width * switch.model.lane_gbps * 1000:
                raise RefusedError(f"% Speed is not supported on {port.name}")
        self.state.put(made.config())

    def _unknown(self, line: str) -> RefusedError:
        return RefusedError(_UNKNOWN.format(line.split(maxsplit=1)[0][:_LONGEST]))

    # ---- from outside

    def reboot(self) -> None:
        self.logins.clear()

    def native_changes(self, before: Any, after: Any) -> Iterator[dict[str, Any]]:
        for name in before:
            if before[name] != after[name]:
                yield {"key": name, "before": _plain(before[name]), "after": _plain(after[name])}

    def follow(self, native: Any, before: Any, after: Any) -> Any:
        """A fault may take PFC from a port."""
        made = {**native, "on": set(native["on"]), "priorities": set(native["priorities"])}
        names = [port.name for port in after.ports]
        for name, was, now in zip(names, before.settings, after.settings, strict=True):
            if was.pfc != now.pfc:
                made["on"] = made["on"] | {name} if now.pfc else made["on"] - {name}
        return made


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, set) else value
