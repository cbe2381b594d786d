"""Cumulus Linux: `nv set`, `nv unset` and `nv config`, as the NVUE reference has them.

What is set waits in a revision of one's own until `nv config apply`. With `--confirm` the switch
goes back by itself where nobody confirms in time. From 5.9 on an apply is saved by itself.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from lab.switch_writes import nvue_paths, nvue_tree, troubles
from lab.switch_writes.driver import Driver
from lab.switch_writes.nvue_paths import Path, Tree
from lab.switch_writes.outcome import Call, Config, Outcome, RefusedError

_MOST_REVISIONS = 100  # that are kept
_DEFAULT_WAIT = 600.0
_UNITS = {"s": 1, "m": 60, "h": 3600, "": 60}  # without a unit: minutes


@dataclass
class Revision:
    """One of them."""

    number: int
    state: str  # pending, applied, confirm, ...
    user: str
    at: float
    message: str = ""
    config: Config | None = None  # once it was applied


@dataclass
class Pending:
    """What somebody has set, and not applied."""

    number: int
    seen: Tree  # what was applied when it began
    wishes: list[tuple[Path, str | None]] = field(default_factory=list)

    def on(self, tree: Tree) -> dict[Path, str]:
        """What it makes of a tree."""
        made = dict(tree)
        for path, value in self.wishes:
            if value is None:
                made = {one: kept for one, kept in made.items() if one[: len(path)] != path}
            else:
                made[path] = value
        return made


class Nvue(Driver):
    """One switch."""

    disk_full = "Error: Unable to write /etc/nvue.d/startup.yaml: No space left on device"
    dangerous = ("nv config replace",)

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.pending: dict[str, Pending] = {}
        self.revisions = [Revision(1, "applied_and_saved", "root", state.clock(), "startup")]
        self.waiting: tuple[float, Config, Revision] | None = None  # due, to go back to, of what

    def native(self) -> dict[Path, str]:
        switch = self.state.switch
        tree: dict[Path, str] = {}
        if switch.software.roce_mode != "none":
            tree["qos", "roce", "mode"] = "lossless"
        for port, setting in zip(switch.ports, switch.settings, strict=True):
            if setting.watchdog:
                tree["interface", port.name, "qos", "pfc-watchdog", "state"] = "enabled"
        return tree

    @property
    def tree(self) -> dict[Path, str]:
        """What is applied."""
        found: dict[Path, str] = self.state.config.native
        return found

    # ---- what is typed

    def run(self, call: Call) -> Outcome:
        words = list(call.words)
        while words[:1] == ["sudo"]:
            words = words[1:]
        if words == ["reboot"]:
            self.state.reboot()
            return Outcome(hung_up=True)
        verbs: dict[str, Callable[[Call, list[str]], Outcome]] = {
            "set": self._set, "unset": self._unset, "config": self._config,
        }  # fmt: skip
        if words[:1] != ["nv"] or words[1:2] == [] or words[1] not in verbs:
            raise RefusedError(f"Error: Invalid Command: {' '.join(words[1:])}")
        return verbs[words[1]](call, words[2:])

    def _revision(self, call: Call) -> tuple[Pending, str]:
        """Whoever sets something gets a revision of his own."""
        if call.session in self.pending:
            return self.pending[call.session], "updated"
        self.pending[call.session] = Pending(self._begun(call).number, dict(self.tree))
        return self.pending[call.session], "created"

    def _begun(self, call: Call) -> Revision:
        number = self.revisions[-1].number + 1
        self.revisions.append(
            Revision(number, "pending", call.session or "cumulus", self.state.clock())
        )
        del self.revisions[:-_MOST_REVISIONS]
        return self.revisions[-1]

    def _set(self, call: Call, words: list[str]) -> Outcome:
        given = tuple(words)
        found = nvue_paths.found_row(given)
        if found is None:
            how = "Incomplete" if nvue_paths.begins_a_path(given) else "Invalid"
            raise RefusedError(f"Error: {how} Command: set {' '.join(words)}")
        row, path, value = found
        if row.values and not re.fullmatch(row.values, value, re.ASCII):
            raise RefusedError(f"Error: {row.said.format(value)}")
        return self._wish(call, [(one, value) for one in self._each(path)])

    def _unset(self, call: Call, words: list[str]) -> Outcome:
        path = tuple(words)
        if not path or not nvue_paths.under(path):
            raise RefusedError(f"Error: Invalid Command: unset {' '.join(words)}")
        return self._wish(call, [(one, None) for one in self._each(path)])

    def _wish(self, call: Call, wishes: list[tuple[Path, str | None]]) -> Outcome:
        pending, verb = self._revision(call)
        if not self.state.misbehaves(troubles.IGNORED):
            pending.wishes += wishes
        return Outcome(f"{verb} [rev_id: {pending.number}]\n")

    def _each(self, path: Path) -> list[Path]:
        """A path for each port and each number that one names."""
        made: list[Path] = [()]
        rows = nvue_paths.under(path)[0].words
        for at, given in enumerate(path):
            word = rows[at] if at < len(rows) else ""
            parts = [given]
            if word == "{port}":
                parts = nvue_tree.spread(given, self.state.ports())
            elif word in nvue_paths._UNTIL:
                found = nvue_paths.numbers(given, nvue_paths._UNTIL[word])
                parts = [str(number) for number in found or ()] or [given]
            made = [(*begun, part) for begun in made for part in parts]
        return made

    # ---- nv config

    def _config(self, call: Call, words: list[str]) -> Outcome:
        verbs: dict[str, Callable[[Call, list[str]], Outcome]] = {
            "apply": self._apply, "save": self._save, "diff": self._diff, "show": self._show,
            "detach": self._detach, "history": self._history, "revision": self._history,
        }  # fmt: skip
        if words[:1] == [] or words[0] not in verbs:
            said = "Invalid" if words[:1] not in (["replace"], ["patch"]) else "Refused"
            raise RefusedError(f"Error: {said} Command: config {' '.join(words)}")
        return verbs[words[0]](call, words[1:])

    def _apply(self, call: Call, words: list[str]) -> Outcome:
        named = [word for word in words if not word.startswith("-")]
        for option, work in (("--confirm-yes", self._yes), ("--confirm-no", self._no),
                             ("--confirm-status", self._status)):  # fmt: skip
            if option in words:
                return work()
        wait = None
        if "--confirm" in words:
            after = words[words.index("--confirm") + 1 :][:1]
            wait = _seconds(after[0]) if after and not after[0].startswith("-") else _DEFAULT_WAIT
            named = [word for word in named if after[:1] != [word] or _seconds(word) is None]
            if wait is None:
                raise RefusedError(f"Error: Invalid time '{after[0]}' for --confirm")
        if self.waiting is not None:
            number = self.waiting[2].number
            raise RefusedError(
                f"Error: Revision {number} has not been confirmed [rev_id: {number}]"
            )
        if "--assume-no" in words:
            return Outcome("", code=1)
        return self._put(call, self._chosen(call, named), wait)

    def _chosen(self, call: Call, named: list[str]) -> tuple[Revision, Config | None]:
        """The revision that is applied: one's own, or an old one by its number."""
        if not named:
            if call.session not in self.pending:
                raise RefusedError("Error: There is no pending configuration to apply")
            number = self.pending[call.session].number
            return next(one for one in self.revisions if one.number == number), None
        if named[0] == "startup":
            config = self.state.kept["saved"]
        else:
            known = {str(one.number): one.config for one in self.revisions if one.config}
            if named[0] == "1":
                known.setdefault("1", self.state.kept["saved"])
            found = known.get(named[0])
            if found is None:
                raise RefusedError(f"Error: Revision '{named[0]}' was not found")
            config = found
        return self._begun(call), config

    def _put(
        self, call: Call, chosen: tuple[Revision, Config | None], wait: float | None
    ) -> Outcome:
        revision, old = chosen
        self.state.let_the_other_write()
        before = self.state.config
        wanted = old or self._made(self.pending[call.session], revision)
        if old is None:
            del self.pending[call.session]
        explicit = [at for at, port in enumerate(self.state.ports())
                    if wanted.native.get(("interface", port, "link", "fec")) == "auto"]  # fmt: skip
        self.state.put(wanted, bounce=explicit)
        revision.config, revision.at = wanted, self.state.clock()
        if wait is None:
            self._keep(revision)
        else:
            revision.state = "confirm"
            self.waiting = (self.state.clock() + wait, before, revision)
        return Outcome(f"applied [rev_id: {revision.number}]\n")

    def _made(self, pending: Pending, revision: Revision) -> Config:
        """What the pending revision makes of what is applied now."""
        before = self.state.config
        others = {path for path in {*before.native, *pending.seen}
                  if before.native.get(path) != pending.seen.get(path)}  # fmt: skip
        if others & {path for path, _ in pending.wishes}:
            where = ".".join(min(others & {one for one, _ in pending.wishes}))
            raise RefusedError(f"Error: Conflict at {where} [rev_id: {revision.number}]")
        after = pending.on(before.native)
        self._look_at(after, revision)
        changing = self._changing()
        changing.to(before.native, after)
        for path, value in pending.wishes:  # also what was so already: a fault may say otherwise
            if after.get(path) == value and value is not None:
                changing.do(path, value, after)
        return Config(tuple(changing.settings), after)

    def _changing(self) -> nvue_tree.Changing:
        state = self.state
        return nvue_tree.Changing(state.ports(), state.config.settings, state.healthy.settings)

    def _look_at(self, tree: Tree, revision: Revision) -> None:
        ports = set(self.state.ports())
        wrong = []
        for path, value in tree.items():
            if path[0] == "interface" and path[1] not in ports:
                wrong.append(f"Interface '{path[1]}' does not exist")
            if path[-1] == "profile" and not any(
                one[:3] == ("qos", path[3], value) for one in tree
            ):
                wrong.append(f"Profile '{value}' of qos {path[3]} does not exist")
            if path[-2:] == ("link", "speed") and value != "auto" and path[1] in ports:
                wrong += self._too_fast(path[1], value)
        if wrong:
            revision.state = "invalid"
            lines = "\n".join(f"  {words}" for words in dict.fromkeys(wrong))
            raise RefusedError(f"Invalid config [rev_id: {revision.number}]\n{lines}")

    def _too_fast(self, port: str, speed: str) -> list[str]:
        switch = self.state.switch
        [width] = [one.width for one in switch.ports if one.name == port]
        fits = int(speed[:-1]) <= width * switch.model.lane_gbps
        return [] if fits else [f"Speed '{speed}' is not supported on {port}"]

    def _keep(self, revision: Revision) -> None:
        """An applied revision; saved where that is automatic. A disk that is full shows there."""
        revision.state = "applied"
        if self._saves_itself():
            self.state.save()
            revision.state = "applied_and_saved"

    def _saves_itself(self) -> bool:
        tree = self.tree
        told = tree.get(("system", "config", "auto-save", "state"),
                        tree.get(("system", "config", "auto-save", "enable")))  # fmt: skip
        if told is not None:
            return told in ("enabled", "on")
        major, minor, *_ = [*self.state.switch.release.split("."), "0", "0"]
        return (int(major), int(minor)) >= (5, 9)

    def _yes(self) -> Outcome:
        if self.waiting is None:
            raise RefusedError("Error: There is no configuration to confirm")
        revision, self.waiting = self.waiting[2], None
        self._keep(revision)
        return Outcome(f"confirmed [rev_id: {revision.number}]\n")

    def _no(self) -> Outcome:
        if self.waiting is None:
            raise RefusedError("Error: There is no configuration to confirm")
        revision = self._back()
        return Outcome(f"rolled back [rev_id: {revision.number}]\n")

    def _status(self) -> Outcome:
        if self.waiting is None:
            return Outcome("No configuration is waiting for confirmation\n", reads=True)
        left = max(0, int(self.waiting[0] - self.state.clock()))
        return Outcome(
            f"Time left for confirmation: {left // 60:02d}:{left % 60:02d}\n", reads=True
        )

    def _back(self) -> Revision:
        assert self.waiting is not None
        _, config, revision = self.waiting
        self.waiting = None
        self.state.put(config)
        revision.state = "rolled_back"
        return revision

    def _save(self, call: Call, words: list[str]) -> Outcome:
        del call, words
        if self.waiting is not None:
            raise RefusedError("Error: The applied configuration has not been confirmed")
        self.state.save()
        applied = [one for one in self.revisions if one.state.startswith("applied")]
        if applied:
            applied[-1].state = "applied_and_saved"
        return Outcome(f"saved [rev_id: {applied[-1].number if applied else 1}]\n")

    # ---- what only shows

    def _tree_of(self, call: Call, name: str) -> Tree:
        if name == "applied":
            return self.tree
        if name == "startup":
            startup: Tree = self.state.kept["saved"].native
            return startup
        if name == "pending":
            mine = self.pending.get(call.session)
            return mine.on(self.tree) if mine else self.tree
        for one in self.revisions:
            if str(one.number) == name and one.config is not None:
                old: Tree = one.config.native
                return old
        raise RefusedError(f"Error: Revision '{name}' was not found")

    def _diff(self, call: Call, words: list[str]) -> Outcome:
        form, named = _form(words)
        base, target = [*named, "applied", "pending"][:2] if not named else [*named, "applied"][:2]
        new, gone = nvue_tree.difference(self._tree_of(call, base), self._tree_of(call, target))
        return Outcome(nvue_tree.told(new, gone, form), reads=True)

    def _show(self, call: Call, words: list[str]) -> Outcome:
        del call
        form, _ = _form(words)
        return Outcome(nvue_tree.told(self.tree, (), form), reads=True)

    def _detach(self, call: Call, words: list[str]) -> Outcome:
        del words
        mine = self.pending.pop(call.session, None)
        for one in self.revisions:
            if mine and one.number == mine.number:
                one.state = "detached"
        return Outcome()

    def _history(self, call: Call, words: list[str]) -> Outcome:
        del call, words
        lines = ["Rev ID  State              Apply Date           User     Message",
                 "------  -----------------  -------------------  -------  -------"]  # fmt: skip
        for one in self.revisions:
            at = datetime.fromtimestamp(one.at, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
            row = f"{one.number:<6}  {one.state:<17}  {at}  {one.user:<7}  {one.message}"
            lines.append(row.rstrip())
        return Outcome("\n".join(lines) + "\n", reads=True)

    # ---- from outside

    def tick(self, now: float) -> Iterator[str]:
        if self.waiting is not None and now >= self.waiting[0]:
            revision = self._back()
            yield f"revision {revision.number} was not confirmed: rolled back"

    def reboot(self) -> None:
        self.pending.clear()
        self.waiting = None

    def native_changes(self, before: Any, after: Any) -> Iterator[dict[str, Any]]:
        for path in sorted({*before, *after}):
            if before.get(path) != after.get(path):
                yield {"key": " ".join(path), "before": before.get(path), "after": after.get(path)}


def _seconds(text: str) -> float | None:
    known = re.fullmatch(r"([0-9]{1,5})([smh]?)", text, re.ASCII)
    return float(int(known[1]) * _UNITS[known[2]]) if known else None


def _form(words: list[str]) -> tuple[str, list[str]]:
    """-o commands, -o json; otherwise YAML."""
    left = list(words)
    form = ""
    for option in ("-o", "--output"):
        if option in left:
            at = left.index(option)
            form = "".join(left[at + 1 : at + 2])
            del left[at : at + 2]
    return form, [word for word in left if not word.startswith("-")]
