"""SONiC: `config` and `pfcwd`, as sonic-utilities has them (config/main.py, pfcwd/main.py).

A write changes CONFIG_DB; what it means for a port is read out of the tables again. There is no
transaction and no lock. What is not saved is gone at a reboot.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lab.fleet.fabric import sonic as rendered
from lab.fleet.fabric.model import Switch
from lab.switch_writes import sonic_patch, sonic_tables, troubles
from lab.switch_writes.changes import row_changes
from lab.switch_writes.driver import Driver
from lab.switch_writes.outcome import Call, Config, HungUpError, Outcome, RefusedError
from lab.switch_writes.sonic_click import Table, click, usage
from lab.switch_writes.sonic_commands import COMMANDS
from lab.switch_writes.sonic_timers import Timers

_SAVED_TO = "/etc/sonic/config_db.json"
_DUMPED = f"Running command: /usr/local/bin/sonic-cfggen -d --print-data > {_SAVED_TO}"
_NO_EMPTY = (
    "{0}: validating target config does not have empty tables,\n"
    "                            since they do not show up in ConfigDb."
)
_STEPS = (
    "{0}: Patch application starting.",
    "{0}: Patch: {1}",
    "{0} getting current config db.",
    "{0}: simulating the target full config after applying the patch.",
    "{0}: validating all JsonPatch operations are permitted on the specified fields",
    _NO_EMPTY,
    "{0}: sorting patch updates.",
)
_LONGEST_ECHO = 2_000
# What `config qos reload` deletes and renders again, of the tables that the model has.
_QOS_TABLES = (
    *("BUFFER_PG", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE", "CABLE_LENGTH"),
    *("DOT1P_TO_TC_MAP", "DSCP_TO_TC_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "PORT_QOS_MAP", "QUEUE"),
    *("SCHEDULER", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "WRED_PROFILE"),
)


class Sonic(Driver):
    """One switch."""

    disk_full = "OSError: [Errno 28] No space left on device"
    dangerous = (
        *("config qos reload", "config reload", "config load_minigraph", "config replace"),
        "config load ",
    )

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.checkpoints: list[str] = []
        self.refused = False  # the ASIC has not taken all that CONFIG_DB holds
        self.timers = Timers()
        self._factory = rendered.config_db(state.switch, others=True)

    def native(self) -> Table:
        features = {"FEATURE": {"lldp": {"state": "enabled"}}}
        return {**rendered.config_db(self.state.switch, others=True), **features}

    # ---- what is typed

    def run(self, call: Call) -> Outcome:
        words = list(call.words)
        while words[:1] == ["sudo"]:
            words = words[2:] if words[1:2] == ["-n"] else words[1:]
        bare = replace(call, words=tuple(words))
        if words == ["reboot"]:
            self.state.reboot()
            return Outcome(hung_up=True)
        if words[:1] == ["systemd-run"] or words[:1] == ["systemctl"]:
            return self.timers.run(bare, self.state.clock())
        if words[:1] == ["cat"] and words[1:] == [_SAVED_TO]:
            saved = self.state.kept["saved"].native
            return Outcome(json.dumps(saved, indent=4) + "\n", reads=True)
        for beginning, work in self._own().items():
            if words[: len(beginning)] == list(beginning):
                return work(bare, words[len(beginning) :])
        for beginning, command in COMMANDS.items():
            if words[: len(beginning)] == list(beginning):
                return command(self, words[len(beginning) :])
        raise _unknown(words)

    def _own(self) -> Mapping[tuple[str, ...], Callable[[Call, list[str]], Outcome]]:
        return {
            ("config", "apply-patch"): self._apply_patch,
            ("config", "save"): self._save,
            ("config", "reload"): self._reload,
            ("config", "replace"): self._replace,
            ("config", "qos", "reload"): self._factory_again,
            ("config", "load_minigraph"): self._factory_again,
            ("config", "checkpoint"): self._checkpoint,
            ("config", "rollback"): self._rollback,
            ("config", "delete-checkpoint"): self._delete_checkpoint,
            ("config", "list-checkpoints"): self._list_checkpoints,
        }

    # ---- CONFIG_DB

    @property
    def tables(self) -> Table:
        """As it is now."""
        found: Table = self.state.config.native
        return found

    def write(self, tables: Mapping[str, Any], *, all_ports: bool = False) -> None:
        """Make it so, and make the ports as it says."""
        state = self.state
        before, config = state.config, dict(tables)
        if state.misbehaves(troubles.ASIC_REFUSES):
            self.refused = True
            state.put(Config(before.settings, config))
            return
        settings = []
        for port, setting in zip(state.ports(), before.settings, strict=True):
            new = sonic_tables.changed(setting, port, before.native, config)
            was = setting, before.native
            sized = sonic_tables.resized(new, port, was, config, state.switch.model)
            if sized != new and "BUFFER_PG" in config:
                config = sonic_tables.rebound(config, port, sized)
            settings.append(sized)
        state.put(Config(tuple(settings), config), all_ports=all_ports)

    def set_fields(self, table: str, key: str, **values: str) -> None:
        """Some fields of one row."""
        rows = dict(self.tables.get(table, {}))
        rows[key] = {**rows.get(key, {}), **values}
        self.write({**self.tables, table: rows})

    def set_row(self, table: str, key: str, row: Mapping[str, str] | None) -> None:
        """One row, or that there is none; a table without rows is none."""
        rows = {name: one for name, one in self.tables.get(table, {}).items() if name != key}
        if row is not None:
            rows[key] = dict(row)
        others = {name: one for name, one in self.tables.items() if name != table}
        self.write({**others, table: rows} if rows else others)

    # ---- patches

    def _apply_patch(self, call: Call, words: list[str]) -> Outcome:
        command = "config apply-patch", "PATCH_FILE_PATH"
        options, named = click(words, flags=("-d", "--dry-run", "-v", "--verbose", "-n", "-p"),
                               valued=("-f", "--format", "-i", "--ignore-path"))  # fmt: skip
        if len(named) != 1:
            raise usage(*command, "Missing argument 'PATCH_FILE_PATH'." if not named else
                        f"Got unexpected extra argument ({' '.join(named[1:])})")  # fmt: skip
        is_dry = "-d" in options or "--dry-run" in options
        said = ["** DRY RUN EXECUTION **"] if is_dry else []
        try:
            patch = sonic_patch.read(_file(call, named[0]))
            self._apply(patch, said, is_dry=is_dry)
        except RefusedError as error:
            words_of = f"Failed to apply patch on the following scopes:\n- {error.words}"
            refused = usage(*command, words_of)
            why = f"Failed to apply patch due to: {words_of}\n{refused.words}"
            raise RefusedError(why, refused.code, said="\n".join([*said, ""])) from None
        return Outcome("\n".join([*said, "Patch applied successfully.", ""]), reads=is_dry)

    def _apply(self, patch: list[sonic_patch.Change], said: list[str], *, is_dry: bool) -> None:
        text = json.dumps(patch)[:_LONGEST_ECHO]
        said += ["Patch Applier: " + one.format("localhost", text) for one in _STEPS]
        before = target = self.tables
        for change in patch:
            target = self._target(change, target)
        for change in patch:
            sonic_patch.look_at_operation(self.state.switch, change)
        sonic_patch.look_at_target(before, target)
        count = f"{len(patch)} change{'' if len(patch) == 1 else 's'}"
        end = ":" if patch else "."
        said.append(f"Patch Applier: The localhost patch was converted into {count}{end}")
        said.append(f"Patch Applier: localhost: applying {count} in order{end}")
        if is_dry:
            return
        self.state.let_the_other_write()
        self._one_by_one(patch, said)
        said.append("Patch Applier: localhost: verifying patch updates are reflected on ConfigDB.")
        is_so = self.state.misbehaves(troubles.IGNORED) or self._covers(target, before)
        if not is_so:
            raise RefusedError(
                "localhost: after applying patch to config, there are still some parts not updated"
            )
        said.append("Patch Applier: localhost patch application completed.")

    def _covers(self, target: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
        """Whether all is as it was simulated, but for what the buffer manager writes itself."""
        of_buffers = ("BUFFER_PG", "BUFFER_PROFILE")
        now = self.tables
        return all(
            now.get(name) == target.get(name)
            for name in {*now, *target}
            if name not in of_buffers or target.get(name) != before.get(name)
        )

    def _target(self, change: sonic_patch.Change, tables: Mapping[str, Any]) -> dict[str, Any]:
        return sonic_patch.applied(tables, change)

    def _one_by_one(self, patch: list[sonic_patch.Change], said: list[str]) -> None:
        """What fails leaves behind what came before it."""
        fails = self.state.misbehaves(troubles.HALF_WAY)
        drops = self.state.misbehaves(troubles.HANGS_UP)
        stops = len(patch)
        if fails or drops:
            asked = fails.at if fails else ""
            stops = int(asked) if asked.isdigit() else len(patch) // 2
        tables = self.tables
        for change in patch[:stops]:
            said.append(f"Patch Applier:   * {json.dumps([change])[:_LONGEST_ECHO]}")
            tables = sonic_patch.applied(tables, change)
        if tables is not self.tables:
            self.write(tables)
        if drops:
            raise HungUpError
        if fails and stops < len(patch):
            raise RefusedError(
                f"localhost: change {json.dumps([patch[stops]])[:_LONGEST_ECHO]} could not be "
                "applied; no automatic action is taken"
            )

    # ---- whole configurations

    def _save(self, call: Call, words: list[str]) -> Outcome:
        del call
        options, named = click(words, flags=("-y", "--yes"))
        if not {"-y", "--yes"} & options.keys():
            said = "Existing files will be overwritten, continue? [y/N]: \n"
            raise RefusedError("Aborted!", said=said)
        if named and named != [_SAVED_TO]:
            return Outcome(_DUMPED.replace(_SAVED_TO, named[0]) + "\n")
        self.state.save()
        return Outcome(_DUMPED + "\n")

    def _reload(self, call: Call, words: list[str]) -> Outcome:
        options, named = click(words, flags=("-y", "--yes", "-f", "--force", "-l", "-n", "-b"),
                               valued=("-t",))  # fmt: skip
        if not {"-y", "--yes"} & options.keys():
            where = f"file(s) {named[0]}" if named else "default config file(s)"
            raise RefusedError("Aborted!", said="Clear current config and reload config in "
                               f"config_db format from the {where} ? [y/N]: \n")  # fmt: skip
        tables = self.state.kept["saved"].native
        if named:
            tables = _whole(_file(call, named[0]))
        self.write(tables, all_ports=True)
        return Outcome(
            "Acquired lock on /etc/sonic/reload.lock\nDisabling container and routeCheck "
            "monitoring ...\nStopping SONiC target ...\nRunning command: /usr/local/bin/"
            f"sonic-cfggen -j {named[0] if named else _SAVED_TO} --write-to-db\n"
            "Restarting SONiC target ...\nEnabling container and routeCheck monitoring ...\n"
            "Reloading Monit configuration ...\nReinitializing monit daemon\n"
        )

    def _replace(self, call: Call, words: list[str]) -> Outcome:
        _, named = click(words, flags=("-d", "-v", "-n"), valued=("-f", "-i"))
        if len(named) != 1:
            raise usage("config replace", "TARGET_FILE_PATH",
                        "Missing argument 'TARGET_FILE_PATH'.")  # fmt: skip
        target = _whole(_file(call, named[0]))
        try:
            sonic_patch.look_at_target(self.tables, target)
        except RefusedError as error:
            raise usage("config replace", "TARGET_FILE_PATH", error.words) from None
        self.state.let_the_other_write()
        self.write(target)
        return Outcome("Config replaced successfully.\n")

    def _factory_again(self, call: Call, words: list[str]) -> Outcome:
        """The platform's templates: whatever was written of QoS and buffers is gone."""
        del call
        if "-y" not in words and "load_minigraph" in self.state._text:
            raise RefusedError("Aborted!", said="Reload config from minigraph? [y/N]: \n")
        kept = {name: row for name, row in self.tables.items() if name not in _QOS_TABLES}
        made = {name: row for name, row in self._factory.items() if name in _QOS_TABLES}
        self.write({**kept, **made}, all_ports=True)
        return Outcome("Running command: /usr/local/bin/sonic-cfggen -d --write-to-db\n")

    def _checkpoint(self, call: Call, words: list[str]) -> Outcome:
        del call
        name = _one_name("config checkpoint", words)
        self.state.save(f"checkpoint {name}")
        self.checkpoints += [] if name in self.checkpoints else [name]
        return Outcome("Checkpoint created successfully.\n")

    def _rollback(self, call: Call, words: list[str]) -> Outcome:
        """The whole configuration, whoever wrote what in between."""
        del call
        name = _one_name("config rollback", words)
        if name not in self.checkpoints:
            refused = usage("config rollback", "CHECKPOINT_NAME",
                            f"Checkpoint '{name}' does not exist")  # fmt: skip
            raise RefusedError(f"Failed to rollback config\n{refused.words}", refused.code)
        self.write(self.state.kept[f"checkpoint {name}"].native)
        return Outcome("Config rolled back successfully.\n")

    def _delete_checkpoint(self, call: Call, words: list[str]) -> Outcome:
        del call
        name = _one_name("config delete-checkpoint", words)
        if name not in self.checkpoints:
            refused = usage("config delete-checkpoint", "CHECKPOINT_NAME",
                            f"Checkpoint '{name}' does not exist")  # fmt: skip
            raise RefusedError(f"Failed to delete config checkpoint\n{refused.words}",
                               refused.code)  # fmt: skip
        self.checkpoints.remove(name)
        del self.state.kept[f"checkpoint {name}"]
        return Outcome("Checkpoint deleted successfully.\n")

    def _list_checkpoints(self, call: Call, words: list[str]) -> Outcome:
        del call, words
        return Outcome(json.dumps(self.checkpoints, indent=4) + "\n", reads=True)

    # ---- from outside

    def tick(self, now: float) -> Iterator[str]:
        for name, words in self.timers.due(now):
            outcome = self.state.driver.run(Call(words, " ".join(words)))
            yield f"{name}: {' '.join(words)}: exit status {outcome.code}"

    def reboot(self) -> None:
        self.timers.clear()

    def native_changes(self, before: Any, after: Any) -> Iterator[dict[str, Any]]:
        yield from row_changes(before, after)

    def follow(self, native: Any, before: Switch, after: Switch) -> Any:
        """Rows that a fault changes, as the model says them."""
        was = rendered.config_db(replace(before, tables=None), others=True)
        now = rendered.config_db(replace(after, tables=None), others=True)
        made = {name: dict(rows) for name, rows in native.items()}
        for change in row_changes(was, now):
            table, _, key = change["key"].partition("|")
            row = dict(made.setdefault(table, {}).get(key, {}))
            row[change["field"]] = change["after"]
            kept = {name: value for name, value in row.items() if value is not None}
            made[table][key] = kept
            if not kept:
                del made[table][key]
        return {name: rows for name, rows in made.items() if rows}

    def shown(self, switch: Switch, told: Config, running: Config) -> Switch:
        # What is in force is what the settings say: of what the ASIC refused, nothing.
        del running
        in_force = rendered.config_db(replace(switch, tables=None), others=True)
        tables = _in_order(told.native, self._factory)
        return replace(switch, tables=tables, in_force=in_force if self.refused else tables)


def _in_order(made: Mapping[str, Any], usual: Mapping[str, Any], depth: int = 0) -> Any:
    """Rows and fields that were there at first come first, as they stood: a database has none."""
    names = [name for name in usual if name in made]
    names += sorted(name for name in made if name not in usual)
    if depth == 2:
        return {name: made[name] for name in names}
    return {name: _in_order(made[name], usual.get(name, {}), depth + 1) for name in names}


def _file(call: Call, name: str) -> bytes:
    if name not in call.files:
        raise RefusedError(f"[Errno 2] No such file or directory: '{name}'")
    return call.files[name]


def _whole(data: bytes) -> Table:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"Error: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise RefusedError("Error: the file holds no configuration")
    return found


def _one_name(command: str, words: list[str]) -> str:
    _, named = click(words, flags=("-v", "--verbose"))
    if len(named) != 1:
        raise usage(command, "CHECKPOINT_NAME", "Missing argument 'CHECKPOINT_NAME'.")
    return named[0]


def _unknown(words: list[str]) -> RefusedError:
    if not words:
        return RefusedError("usage: sudo -h | -K | -k | -V", 1)
    return usage(words[0], "COMMAND [ARGS]...", f'No such command "{" ".join(words[1:2])}".')
