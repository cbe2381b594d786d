"""SONiC: commands that change one thing, each a row of COMMANDS."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.switch_writes.outcome import Outcome, RefusedError
from lab.switch_writes.sonic_click import click, field, usage, within
from lab.switch_writes.sonic_patch import MTU
from lab.switch_writes.sonic_tables import speeds

if TYPE_CHECKING:
    from lab.switch_writes.sonic import Sonic

Command = Callable[["Sonic", list[str]], Outcome]
_PORT = "<interface_name>"
_FECS = ["rs", "fc", "none", "auto"]
_FEATURES = ("lldp",)
_DETECTION, _RESTORATION = range(100, 5_001), range(100, 60_001)
_POLLING = range(100, 3_001)


def _row(sonic: "Sonic", table: str, key: str) -> dict[str, str]:
    return sonic.tables.get(table, {}).get(key, {})


def _known(sonic: "Sonic", port: str) -> dict[str, str]:
    """A port for portconfig."""
    row = _row(sonic, "PORT", port)
    if not row:
        raise RefusedError(f"Invalid port {port}")
    members = sonic.tables.get("PORTCHANNEL_MEMBER", {})
    if any(key.partition("|")[2] == port for key in members):
        raise usage("config interface", f"{_PORT} ...", "'interface_name' is in portchannel!")
    return row


def _mtu(sonic: "Sonic", words: list[str]) -> Outcome:
    port, text = field("config interface mtu", f"{_PORT} <interface_mtu>", words)
    _known(sonic, port)
    value = within("config interface mtu", "<interface_mtu>", text, MTU)
    sonic.set_fields("PORT", port, mtu=str(value))
    return Outcome()


def _fec(sonic: "Sonic", words: list[str]) -> Outcome:
    port, value = field("config interface fec", f"{_PORT} <interface_fec>", words)
    _known(sonic, port)
    if value not in _FECS:
        raise RefusedError("", said=f"fec {value} is not in {_FECS}\n")
    sonic.set_fields("PORT", port, fec=value)
    return Outcome()


def _speed(sonic: "Sonic", words: list[str]) -> Outcome:
    port, value = field("config interface speed", f"{_PORT} <interface_speed>", words)
    lanes = len(_known(sonic, port)["lanes"].split(","))
    there = [str(speed) for speed in speeds(sonic.state.switch.model, lanes)]
    if value not in there:
        said = f"Invalid speed specified: {value}\nValid speeds:{','.join(there)}\n"
        raise RefusedError("", said=said)
    sonic.set_fields("PORT", port, speed=value)
    return Outcome()


def _autoneg(sonic: "Sonic", words: list[str]) -> Outcome:
    arguments = f"{_PORT} <mode>"
    port, mode = field("config interface autoneg", arguments, words)
    if mode not in ("enabled", "disabled"):
        raise usage("config interface autoneg", arguments, f"Invalid value for '<mode>': invalid "
                    f"choice: {mode}. (choose from enabled, disabled)")  # fmt: skip
    row = dict(_known(sonic, port))
    if mode == "enabled":
        sonic.set_fields("PORT", port, autoneg="on")
    elif "autoneg" in row:
        sonic.set_fields("PORT", port, autoneg="off")
    return Outcome()


def _admin(value: str) -> Command:
    def work(sonic: "Sonic", words: list[str]) -> Outcome:
        verb = "startup" if value == "up" else "shutdown"
        [port] = field(f"config interface {verb}", _PORT, words)
        if not _row(sonic, "PORT", port):
            words_of = "Interface name is invalid. Please enter a valid interface name!!"
            raise usage(f"config interface {verb}", _PORT, words_of)
        sonic.set_fields("PORT", port, admin_status=value)
        return Outcome()

    return work


def _pfc(sonic: "Sonic", words: list[str]) -> Outcome:
    arguments = f"{_PORT} [0|1|2|3|4|5|6|7] [on|off]"
    port, priority, status = field("config interface pfc priority", arguments, words)
    if priority not in "01234567" or len(priority) != 1 or status not in ("on", "off"):
        wrong = priority if status in ("on", "off") else status
        raise usage("config interface pfc priority", arguments,
                    f"invalid choice: {wrong}.")  # fmt: skip
    row = _row(sonic, "PORT_QOS_MAP", port)
    if not row:
        return Outcome(f"Cannot find interface {port}\n")
    enabled = [one for one in row.get("pfc_enable", "").split(",") if one]
    if (status == "on") == (priority in enabled):
        words_of = "has already been enabled" if status == "on" else "is not enabled"
        return Outcome(f"Priority {priority} {words_of} on {port}\n")
    changed = sorted({*enabled} ^ {priority})
    sonic.set_fields("PORT_QOS_MAP", port, pfc_enable=",".join(changed))
    return Outcome()


# ---- buffers, of a switch that works them out itself


def _dynamic(sonic: "Sonic", command: str, verb: str = "supported") -> None:
    metadata = _row(sonic, "DEVICE_METADATA", "localhost")
    if metadata.get("buffer_model") != "dynamic":
        where = "on a system with dynamic buffer enabled"
        raise usage(command, "...", f"This command can only be {verb} {where}")


def _cable_length(sonic: "Sonic", words: list[str]) -> Outcome:
    command = "config interface cable_length"
    _dynamic(sonic, command)
    port, length = field(command, f"{_PORT} <length>", words)
    if not _row(sonic, "PORT", port):
        raise usage(command, f"{_PORT} <length>", f"Port {port} doesn't exist")
    whole = length[:-1].replace(".", "", 1)
    if not (length.endswith("m") and whole.isascii() and whole.isdigit() and len(whole) < 6):
        raise usage(command, f"{_PORT} <length>",
                    "Invalid cable length. Should be in format <num>m, like 300m")  # fmt: skip
    [table] = list(sonic.tables["CABLE_LENGTH"])[:1]
    sonic.set_fields("CABLE_LENGTH", table, **{port: length})
    return Outcome()


def _lossless(verb: str) -> Command:
    command = f"config interface buffer priority-group lossless {verb}"

    def work(sonic: "Sonic", words: list[str]) -> Outcome:
        _dynamic(sonic, command, "executed")
        port, groups, *rest = [*words, "", ""][: max(3, len(words))]
        if not _row(sonic, "PORT", port):
            raise usage(command, f"{_PORT} <pg_map>", f"Port {port} doesn't exist")
        key, profile = f"{port}|{groups}", rest[0] or "NULL"
        is_there = bool(_row(sonic, "BUFFER_PG", key))
        if not groups or is_there is (verb == "add"):
            wrong = "already exists" if is_there else "doesn't exist"
            raise usage(command, f"{_PORT} <pg_map>", f"Buffer priority-group {groups} {wrong}")
        if verb != "remove" and profile != "NULL":
            row = _row(sonic, "BUFFER_PROFILE", profile)
            if not row:
                raise usage(command, f"{_PORT} <pg_map>", f"Profile {profile} doesn't exist")
            if "xoff" not in row and "headroom_type" not in row:
                words_of = f"Profile {profile} doesn't exist or isn't a lossless profile"
                raise usage(command, f"{_PORT} <pg_map>", words_of)
        sonic.set_row("BUFFER_PG", key, None if verb == "remove" else {"profile": profile})
        return Outcome()

    return work


def _profile(verb: str) -> Command:
    command = f"config buffer profile {verb}"

    def work(sonic: "Sonic", words: list[str]) -> Outcome:
        _dynamic(sonic, command)
        options, named = click(
            words, valued=("--xon", "--xoff", "--size", "--dynamic_th", "--pool")
        )
        [name] = field(command, "<profile>", named)
        row = dict(_row(sonic, "BUFFER_PROFILE", name))
        if bool(row) is (verb == "add"):
            wrong = "already exist" if row else "doesn't exist"
            raise usage(command, "<profile>", f"Profile {name} {wrong}")
        if verb == "remove":
            used = [key for key, one in sonic.tables.get("BUFFER_PG", {}).items()
                    if one.get("profile") == name]  # fmt: skip
            if used:
                raise usage(command, "<profile>", f"Profile {name} is referenced by {used[0]}")
            sonic.set_row("BUFFER_PROFILE", name, None)
            return Outcome()
        sonic.set_row("BUFFER_PROFILE", name, _sized(command, row, options))
        return Outcome()

    return work


def _sized(command: str, row: dict[str, str], options: dict[str, str]) -> dict[str, str]:
    """A profile with what was given; what is missing is worked out."""
    for option in ("--xon", "--xoff", "--size"):
        if option in options:
            row[option[2:]] = str(within(command, option, options[option], range(2**31)))
    if "xon" not in row:
        raise usage(command, "<profile>", "Xon is mandatory for non-dynamic profile")
    if "xoff" not in row:
        if "size" not in row:
            raise usage(command, "<profile>", "Neither xoff nor size is provided")
        row["xoff"] = str(int(row["size"]) - int(row["xon"]))
        if int(row["xoff"]) <= 0:
            how = f"(calculated by: size {row['size']} - xon {row['xon']})"
            words = f"The xoff must be greater than 0 while we got {row['xoff']} {how}"
            raise usage(command, "<profile>", words)
    row.setdefault("size", str(int(row["xon"]) + int(row["xoff"])))
    row["dynamic_th"] = options.get("--dynamic_th", row.get("dynamic_th", "0"))
    row["pool"] = options.get("--pool", row.get("pool", "ingress_lossless_pool"))
    return row


# ---- the watchdog


def _unknown_ports(sonic: "Sonic", ports: list[str]) -> None:
    there = sonic.tables["PORT"]
    unknown = [port for port in ports if port not in there and port != "all"]
    if unknown:
        said = "\n".join(["Failed to run command, invalid options:", *unknown, ""])
        raise RefusedError("", said=said)


def _start(sonic: "Sonic", words: list[str]) -> Outcome:
    command = "pfcwd start"
    options, named = click(words, flags=("--pfc-stat-history",),
                           valued=("--action", "-a", "--restoration-time", "-r"))  # fmt: skip
    if not named:
        raise usage(command, "[PORTS]... DETECTION_TIME", "Missing argument 'DETECTION_TIME'.")
    *ports, text = named
    detection = within(command, "DETECTION_TIME", text, _DETECTION)
    action = options.get("--action", options.get("-a", ""))
    if action not in ("", "drop", "forward", "alert"):
        raise usage(command, "[PORTS]... DETECTION_TIME", f"Invalid value for '--action' / '-a': "
                    f"invalid choice: {action}. (choose from drop, forward, alert)")  # fmt: skip
    given = options.get("--restoration-time", options.get("-r", ""))
    said = ""
    if not given:
        said = ("restoration time not defined; default to 2 times detection time: "
                f"{2 * detection} ms\n")  # fmt: skip
    restoration = within(command, "--restoration-time", given, _RESTORATION) if given else (
        2 * detection)  # fmt: skip
    _unknown_ports(sonic, ports)
    row = {"detection_time": str(detection), "restoration_time": str(restoration)}
    row |= {"action": action} if action else {}
    table = dict(sonic.tables.get("PFC_WD", {}))
    for port in sonic.tables["PORT"] if not ports or "all" in ports else ports:
        if "pfc_enable" in _row(sonic, "PORT_QOS_MAP", port):
            table[port] = row
        else:
            said += f"SKIPPED: PFC is not enabled on port: {port}\n"
    if table:
        table.setdefault("GLOBAL", {"POLL_INTERVAL": "200"})
        sonic.write({**sonic.tables, "PFC_WD": table})
    return Outcome(said)


def _stop(sonic: "Sonic", words: list[str]) -> Outcome:
    _, named = click(words)
    table = {
        key: row
        for key, row in sonic.tables.get("PFC_WD", {}).items()
        if key == "GLOBAL" or (named and key not in named)
    }
    others = {name: rows for name, rows in sonic.tables.items() if name != "PFC_WD"}
    sonic.write({**others, "PFC_WD": table} if table else others)
    return Outcome()


def _start_default(sonic: "Sonic", words: list[str]) -> Outcome:
    """Exit status 0, and nothing: it wants a field of DEVICE_METADATA, and DEVICE_NEIGHBOR."""
    del words
    enabled = _row(sonic, "DEVICE_METADATA", "localhost").get("default_pfcwd_status") == "enable"
    there = [port for port in sonic.tables.get("DEVICE_NEIGHBOR", {}) if enabled]
    if there:
        times = max(1, (len(sonic.tables["PORT"]) - 1) // 32 + 1) * 200
        return _start(sonic, ["--action", "drop", "--restoration-time", str(times), *there,
                              str(times)])  # fmt: skip
    return Outcome()


def _interval(sonic: "Sonic", words: list[str]) -> Outcome:
    [text] = field("pfcwd interval", "POLL_INTERVAL", words)
    asked = within("pfcwd interval", "POLL_INTERVAL", text, _POLLING)
    for key, row in sonic.tables.get("PFC_WD", {}).items():
        for name in ("detection_time", "restoration_time") if key != "GLOBAL" else ():
            if int(row.get(name, asked)) < asked:
                raise RefusedError(
                    f"unable to use polling interval = {asked}ms, value is bigger than one of the "
                    f"configured {name.replace('_', ' ')} values, please choose a smaller "
                    "polling_interval"
                )
    sonic.set_fields("PFC_WD", "GLOBAL", POLL_INTERVAL=str(asked))
    return Outcome()


# ---- features


def _feature(sonic: "Sonic", words: list[str]) -> Outcome:
    name, state = field("config feature state", "<feature-name> <state>", words)
    if state not in ("enabled", "disabled"):
        raise usage("config feature state", "<feature-name> <state>",
                    f"invalid choice: {state}. (choose from enabled, disabled)")  # fmt: skip
    if name not in _FEATURES:
        raise RefusedError("", said=f"Unable to retrieve {name} from FEATURE table\n")
    sonic.set_fields("FEATURE", name, state=state)
    return Outcome()


def _show_feature(sonic: "Sonic", words: list[str]) -> Outcome:
    del words
    return Outcome(json.dumps(sonic.tables.get("FEATURE", {}), indent=4) + "\n", reads=True)


COMMANDS: dict[tuple[str, ...], Command] = {
    ("config", "interface", "mtu"): _mtu,
    ("config", "interface", "fec"): _fec,
    ("config", "interface", "speed"): _speed,
    ("config", "interface", "autoneg"): _autoneg,
    ("config", "interface", "startup"): _admin("up"),
    ("config", "interface", "shutdown"): _admin("down"),
    ("config", "interface", "cable_length"): _cable_length,
    ("config", "interface", "pfc", "priority"): _pfc,
    ("config", "interface", "buffer", "priority-group", "lossless", "add"): _lossless("add"),
    ("config", "interface", "buffer", "priority-group", "lossless", "set"): _lossless("set"),
    ("config", "interface", "buffer", "priority-group", "lossless", "remove"): _lossless("remove"),
    ("config", "buffer", "profile", "add"): _profile("add"),
    ("config", "buffer", "profile", "set"): _profile("set"),
    ("config", "buffer", "profile", "remove"): _profile("remove"),
    ("config", "feature", "state"): _feature,
    ("pfcwd", "start"): _start,
    ("pfcwd", "stop"): _stop,
    ("pfcwd", "start_default"): _start_default,
    ("pfcwd", "interval"): _interval,
    ("show", "feature", "config"): _show_feature,
}
