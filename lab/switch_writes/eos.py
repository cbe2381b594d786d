"""EOS: configuration sessions, their commit and its timer, and `configure terminal`.

A session is a copy of the running configuration; a commit puts the copy in its place, and what
others have changed since it began is lost (EOS User Manual, Configure Session). Only one commit
timer runs at a time.
"""

import copy
import difflib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lab.switch_writes import eos_lines, troubles
from lab.switch_writes.driver import Driver
from lab.switch_writes.eos_lines import Editing
from lab.switch_writes.eos_text import running_config
from lab.switch_writes.outcome import Call, Config, Outcome, RefusedError
from lab.switch_writes.terminal import CONFIG, ENABLE, EXEC, Login, chosen_ports

INVALID = eos_lines.INVALID
_INCOMPLETE = "% Incomplete command"
_MOST_PENDING = 5
_DAY = 86_400.0  # after which a session is gone
_IN_PROMPT = 6  # letters of a session's name
_PORT = "Ethernet"
_SESSION_NAME = r"[a-zA-Z0-9_.-]{1,64}"


@dataclass
class Session:
    """A configuration session."""

    name: str
    state: str  # pending, pendingCommitTimer, completed, aborted
    config: Config
    begun: float
    before: Config | None = None  # what a commit timer goes back to
    due: float = 0.0


class Eos(Driver):
    """One switch."""

    disk_full = (
        "% Error copying system:/running-config to flash:startup-config (No space left on device)"
    )
    entering = ("enable", "configure terminal")
    leaving = ("end",)
    dangerous = ("configure replace", "reload", "write erase")

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.logins: dict[str, Login] = {}
        self.sessions: dict[str, Session] = {}

    def native(self) -> dict[str, Any]:
        switch = self.state.switch
        return eos_lines.native_of(switch.settings, [port.name for port in switch.ports])

    # ---- what is typed

    def run(self, call: Call) -> Outcome:
        login = self.logins.setdefault(call.session, Login())
        line = " ".join(call.line.split())
        self._forget()
        outcome = self._answer(login, line)
        return replace(outcome, prompt=self.prompt(login))

    def refusal(self, call: Call, error: RefusedError) -> Outcome:
        login = self.logins.setdefault(call.session, Login())
        return Outcome(f"{error.words}\n", "", 1, prompt=self.prompt(login))

    def prompt(self, login: Login) -> str:
        """leaf001(config-s-rw-if-Et1/1)#"""
        name = self.state.switch.name
        if login.mode == EXEC:
            return f"{name}>"
        if login.mode == ENABLE:
            return f"{name}#"
        parts = ["config", *(["s", login.session[:_IN_PROMPT]] if login.session else []),
                 *([login.label] if login.label else [])]  # fmt: skip
        return f"{name}({'-'.join(parts)})#"

    def hang_up(self, session: str) -> None:
        self.logins.pop(session, None)

    def place(self, session: str) -> str:
        login = self.logins.get(session)
        return self.prompt(login).partition("(")[2].rstrip(")#") if login else ""

    def _answer(self, login: Login, line: str) -> Outcome:
        if not line:
            return Outcome(reads=True)
        if line.startswith("show "):
            return self._show(login, line)
        if login.mode == EXEC:
            return self._in_exec(login, line)
        if login.mode == ENABLE:
            return self._in_enable(login, line)
        return self._in_config(login, line)

    def _in_exec(self, login: Login, line: str) -> Outcome:
        if line in ("enable", "en"):
            login.mode = ENABLE
            return Outcome(reads=True)
        raise RefusedError(INVALID)

    def _in_enable(self, login: Login, line: str) -> Outcome:
        if line in ("disable", "enable", "en"):
            login.mode = EXEC if line == "disable" else ENABLE
            return Outcome(reads=True)
        if line in ("configure", "configure terminal", "conf t", "config t", "config"):
            login.mode, login.session = CONFIG, ""
            login.leave()
            return Outcome(reads=True)
        if line in ("write", "write memory", "wr", "copy running-config startup-config"):
            self.state.save()
            return Outcome("Copy completed successfully.\n")
        if line == "copy startup-config running-config":
            self.state.put(self.state.kept["saved"])
            return Outcome("Copy completed successfully.\n")
        if line in ("reload", "reload now"):
            self.state.reboot()
            login.mode = EXEC
            return Outcome(hung_up=True)
        match = re.fullmatch(
            rf"(?P<no>no )?conf(?:ig|igure)? session(?: (?P<name>{_SESSION_NAME}))?"
            "(?: (?P<verb>.+))?",
            line, re.ASCII,
        )  # fmt: skip
        if match is None:
            raise RefusedError(_INCOMPLETE if line in ("copy", "no") else INVALID)
        return self._session(login, match["name"] or "", match["verb"] or "", no=bool(match["no"]))

    # ---- sessions

    def _session(self, login: Login, name: str, verb: str, *, no: bool) -> Outcome:
        if no:
            return self._drop(name)
        if verb == "abort":
            return self._abort(self._known(name))
        if verb.startswith("commit"):
            return self._commit(login, self._known(name), verb)
        if verb:
            raise RefusedError(INVALID)
        name = name or f"sess-{len(self.sessions) + 1}"
        known = self.sessions.get(name)
        if known is None or known.state in ("completed", "aborted"):
            waiting = [one for one in self.sessions.values() if one.state == "pending"]
            if len(waiting) >= _MOST_PENDING:
                raise RefusedError("% Maximum number of pending sessions has been reached. "
                                   "Please commit or abort previous sessions before creating a new "
                                   "one.")  # fmt: skip
            self.sessions[name] = Session(name, "pending", self._copy(), self.state.clock())
        elif known.state == "pendingCommitTimer":
            raise RefusedError(f"% Session {name} is pending commit timer")
        login.mode, login.session = CONFIG, name
        login.leave()
        return Outcome()

    def _copy(self) -> Config:
        config = self.state.config
        return Config(config.settings, copy.deepcopy(config.native))

    def _known(self, name: str) -> Session:
        found = self.sessions.get(name)
        if found is None or found.state in ("completed", "aborted"):
            raise RefusedError(f"% Cannot find session {name}")
        return found

    def _drop(self, name: str) -> Outcome:
        if name not in self.sessions or self.sessions[name].state == "pendingCommitTimer":
            raise RefusedError(f"% Cannot delete session {name}")
        del self.sessions[name]
        return Outcome()

    def _abort(self, session: Session) -> Outcome:
        """A commit that waits for its confirmation is taken back."""
        if session.before is not None:
            self.state.put(session.before)
        session.state, session.before = "aborted", None
        return Outcome()

    def _commit(self, login: Login, session: Session, verb: str) -> Outcome:
        match = re.fullmatch(r"commit(?: timer (\d{1,2}):(\d{1,2}):(\d{1,2}))?", verb, re.ASCII)
        if match is None:
            raise RefusedError(INVALID if verb != "commit timer" else _INCOMPLETE)
        wait = match[1] and int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
        is_again = session.state == "pendingCommitTimer"
        others = [one.name for one in self.sessions.values()
                  if one.state == "pendingCommitTimer" and one is not session]  # fmt: skip
        if others:
            raise RefusedError(f"% Commit failed: session {others[0]} is pending commit timer")
        if not is_again:
            self.state.let_the_other_write()
            session.before = self.state.config
            self.state.put(session.config)
        if wait:
            session.state, session.due = "pendingCommitTimer", self.state.clock() + wait
        else:
            session.state, session.before = "completed", None
        if login.mode == CONFIG:
            login.mode, login.session = ENABLE, ""
            login.leave()
        return Outcome()

    def _forget(self) -> None:
        """Sessions that nobody has committed for a day."""
        now = self.state.clock()
        for name, one in list(self.sessions.items()):
            if one.state == "pending" and now - one.begun > _DAY:
                del self.sessions[name]

    # ---- lines

    def _in_config(self, login: Login, line: str) -> Outcome:
        is_top = not login.label
        if line in ("end", "exit") and (line == "end" or is_top):
            login.mode, login.session = ENABLE, ""
            login.leave()
            return Outcome(reads=True)
        if line == "exit":
            self._up(login)
            return Outcome(reads=True)
        if login.session and line.split()[:1] in (["commit"], ["abort"]):
            session = self._known(login.session)
            if line != "abort":
                return self._commit(login, session, line)
            login.mode, login.session = ENABLE, ""
            login.leave()
            return self._abort(session)
        if not login.session and re.fullmatch(rf"configure session( {_SESSION_NAME})?", line):
            return self._session(login, line[18:], "", no=False)
        editing = self._editing(login)
        self._take(login, editing, line)
        if login.session:
            if not self.state.misbehaves(troubles.IGNORED):
                self._known(login.session).config = editing.config()
        elif editing.config() != self.state.config:
            self.state.put(editing.config())
        return Outcome()

    def _editing(self, login: Login) -> Editing:
        config = self._known(login.session).config if login.session else self.state.config
        return Editing(
            self.state.ports(), list(config.settings), self.state.healthy.settings,
            copy.deepcopy(config.native), login.chosen, login.profile, login.queue,
        )  # fmt: skip

    def _up(self, login: Login) -> None:
        if login.queue >= 0:
            login.queue = -1
            login.label = login.label.rpartition("-txq")[0]
        else:
            login.leave()

    def _take(self, login: Login, editing: Editing, line: str) -> None:
        """A line where one is; where it is none there, where one was before that."""
        if not line or line.startswith("!"):
            return
        if self._enter(login, editing, line):
            return
        places = ["queue"] if login.queue >= 0 else []
        places += ["interface"] if login.chosen else []
        for place in (*places, "global"):
            if eos_lines.take(editing, place, line):
                self._stay(login, place)
                self._possible(editing)
                return
        raise RefusedError(f"{INVALID} (at token 1: '{line.split(maxsplit=1)[0][:40]}')")

    def _stay(self, login: Login, place: str) -> None:
        if place == "global":
            login.leave()
        elif place == "interface" and login.queue >= 0:
            self._up(login)

    def _possible(self, editing: Editing) -> None:
        switch = self.state.switch
        for port, setting in zip(switch.ports, editing.settings, strict=True):
            if setting.speed_mbps > port.width * switch.model.lane_gbps * 1000:
                raise RefusedError(f"% Speed not supported on {port.name}")

    def _enter(self, login: Login, editing: Editing, line: str) -> bool:
        """interface, qos profile, tx-queue: lines that lead somewhere."""
        match = re.fullmatch(r"interface (?:[Ee]t[a-z]* ?)([0-9/, -]+)", line, re.ASCII)
        if match is not None:
            login.chosen = chosen_ports(match[1], editing.ports, _PORT)
            login.label, login.profile, login.queue = f"if-Et{match[1].strip()}", "", -1
            return True
        match = re.fullmatch(rf"(no )?qos profile ({_SESSION_NAME})", line, re.ASCII)
        if match is not None:
            self._profile(login, editing, match)
            return True
        match = re.fullmatch(r"(?:uc-)?tx-queue ([0-7])", line, re.ASCII)
        if match is not None and (login.profile or login.chosen):
            login.queue = int(match[1])
            login.label = f"{login.label.rpartition('-txq')[0] or login.label}-txq-{match[1]}"
            return True
        return False

    def _profile(self, login: Login, editing: Editing, match: re.Match[str]) -> None:
        name = match[2]
        if match[1]:
            if name in editing.native["bound"].values():
                raise RefusedError(f"% Profile {name} is in use")
            editing.native["profiles"].pop(name, None)
            login.leave()
            return
        editing.native["profiles"].setdefault(name, {})
        login.leave()
        login.profile, login.label = name, f"qos-profile-{name}"

    # ---- what only shows

    def _show(self, login: Login, line: str) -> Outcome:
        bare, _, tail = line.partition(" | ")
        names: dict[str, Callable[[], str]] = {
            "show running-config": lambda: self._text(self.state.config),
            "show startup-config": lambda: self._text(self.state.kept["saved"]),
            "show running-config diffs": self._unsaved,
            "show configuration sessions": lambda: self._list(as_json=tail == "json"),
            "show configuration sessions detail": lambda: self._list(as_json=tail == "json"),
            "show session-config": lambda: self._text(self._known(login.session).config),
            "show session-config diffs": lambda: self._changes(self._known(login.session)),
        }
        named = re.fullmatch(rf"show session-config named ({_SESSION_NAME})( diffs)?", bare)
        if named is not None:
            one = self._known(named[1])
            return Outcome(self._changes(one) if named[2] else self._text(one.config), reads=True)
        if bare not in names or login.mode == EXEC:
            raise RefusedError(INVALID)
        return Outcome(names[bare](), reads=True)

    def _lines(self, config: Config) -> list[str]:
        return running_config(config, self.state.ports(), self.state.switch.name)

    def _text(self, config: Config) -> str:
        return "\n".join(self._lines(config)) + "\n"

    def _unsaved(self) -> str:
        return self._difference(
            (self.state.kept["saved"], "flash:/startup-config"),
            (self.state.config, "system:/running-config"),
        )

    def _changes(self, session: Session) -> str:
        return self._difference(
            (self.state.config, "system:/running-config"),
            (session.config, f"session:/{session.name}-session-config"),
        )

    def _difference(self, old: tuple[Config, str], new: tuple[Config, str]) -> str:
        found = difflib.unified_diff(
            self._lines(old[0]), self._lines(new[0]), old[1], new[1], lineterm=""
        )
        return "".join(f"{line}\n" for line in found)

    def _list(self, *, as_json: bool) -> str:
        if as_json:
            found = {one.name: {"state": one.state, "instances": {}, "commitUser": "",
                                "description": "", "completedTime": 0.0}
                     for one in self.sessions.values()}  # fmt: skip
            told = {"sessions": found, "maxSavedSessions": 1, "maxOpenSessions": _MOST_PENDING}
            return json.dumps(told, indent=4) + "\n"
        lines = ["Maximum number of completed sessions: 1",
                 f"Maximum number of pending sessions: {_MOST_PENDING}", "",
                 "  Name           State                Time left",
                 "  -------------- -------------------- ---------"]  # fmt: skip
        for one in self.sessions.values():
            left = int(one.due - self.state.clock())
            clock = f"{left // 3600:02d}:{left // 60 % 60:02d}:{left % 60:02d}"
            when = clock if one.state == "pendingCommitTimer" else ""
            lines.append(f"  {one.name:<14} {one.state:<20} {when}".rstrip())
        return "\n".join(lines) + "\n"

    # ---- from outside

    def tick(self, now: float) -> Iterator[str]:
        for one in self.sessions.values():
            if one.state == "pendingCommitTimer" and now >= one.due:
                self._abort(one)
                yield f"commit timer of session {one.name} has run out: rolled back"

    def reboot(self) -> None:
        self.logins.clear()
        self.sessions.clear()
