"""mlxconfig, mstconfig: firmware parameters. Words and exit statuses of mlxcfg_ui.cpp."""

from typing import TYPE_CHECKING

from lab.fleet.model import Nic, is_mlx5
from lab.fleet.render.mlxconfig import answer, layout_of, parameters
from lab.writes import nv
from lab.writes.find import nic_of_device
from lab.writes.outcome import KernelError, Outcome, RefusedError
from lab.writes.parameters import NotThisError, known, plain_name, value_text

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("mlxconfig",)
ABORTED, ERROR = 2, 3
OPEN = "Failed to open the device"
DONE = "Done!\n-I- Please reboot machine to load new configurations.\n"
SIGNATURE = "MLNX_RAW_TLV_FILE"
MOST_FUNCTIONS = 127  # of a PF, ConnectX-7 release notes 28.36
_FLAGS = {"-e": "verbose", "--enable_verbosity": "verbose", "-y": "yes", "--yes": "yes",
          "-yy": "reboot", "--force": "force", "--with_default": "default"}  # fmt: skip
_VALUES = {"-d": "device", "--dev": "device", "-f": "file", "--file": "file"}
_COMMANDS = {"q": "query", "query": "query", "s": "set", "set": "set", "r": "reset",
             "reset": "reset", "backup": "backup", "set_raw": "set_raw",
             "clear_semaphore": "clear_semaphore"}  # fmt: skip


class _Call:
    """A command line, taken apart."""

    def __init__(self, arguments: list[str], stdin: str) -> None:
        self.options: dict[str, str] = {}
        self.command = ""
        self.words: list[str] = []
        self.answer = stdin.partition("\n")[0].strip().lower()
        rest = list(arguments)
        while rest:
            word = rest.pop(0)
            if self.command:
                self.words.append(word)
            elif word in _VALUES:
                if not rest:
                    raise _error(f"missing {_VALUES[word]} name")
                self.options[_VALUES[word]] = rest.pop(0)
            elif word in _FLAGS:
                self.options[_FLAGS[word]] = "1"
            elif word in _COMMANDS:
                self.command = _COMMANDS[word]
            else:
                raise _error(f"invalid argument: {word[:200]}")
        if not self.command:
            words = "No command found. For more information please read the help message:"
            raise _error(words)

    @property
    def yes(self) -> bool:
        """-y or -yy."""
        return bool(self.options.keys() & {"yes", "reboot"})

    def ask(self, said: str, question: str) -> str:
        """What is printed with the question; RefusedError where the answer is no."""
        said += f"\n {question} (y/n) [n] : "
        if self.yes:
            return said + "y\n"
        if self.answer not in ("y", "yes"):
            raise _error("Aborted by user.", said, ABORTED)
        return said


def _error(words: str, before: str = "", code: int = ERROR) -> RefusedError:
    return RefusedError(Outcome(f"{before}-E- {words}\n", "", code))


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """Set, reset, backup, set_raw; and the queries that no probe asks."""
    del program
    call = _Call(arguments, stdin)
    if call.command == "query":
        return _query(state, call)
    if call.command == "reset" and "device" not in call.options:
        return _reset_all(state, call)
    nic = _opened(state, call)
    if call.command == "clear_semaphore":
        return Outcome("-W- Forcefully clearing device Semaphore...\n Done!\n")
    does = {"set": _set, "reset": _reset, "backup": _backup, "set_raw": _set_raw}
    return does[call.command](state, nic, call)


def _opened(state: "HostState", call: _Call) -> Nic:
    if "device" not in call.options:
        raise _error(f"{call.command} command expects device to be specified.")
    nic = nic_of_device(state.model("mlxconfig"), call.options["device"])
    if nic is None or not nic.firmware_access:
        raise _error(OPEN)
    if call.command != "clear_semaphore" and state.misbehaves("busy", nic.name):
        raise _error(f"{OPEN}: Semaphore locked")
    return nic


# ---- query


def _query(state: "HostState", call: _Call) -> Outcome | None:
    if "device" not in call.options:
        return None
    nic = _opened(state, call)
    if not call.words:
        layout = layout_of(state.model().firmware_tools)
        if "verbose" in call.options:
            return Outcome(answer(nic, nic.address, layout))
        return Outcome(_table(nic, [row.name for row in parameters(nic)], call.options, {}))
    names = [_checked(nic, word) for word in call.words]
    return Outcome(_table(nic, names, call.options, {}))


def _checked(nic: Nic, name: str) -> str:
    if known(name) is None:
        raise _error(f"Unknown Parameter {name[:200]}")
    if nv.row_of(nic, name) is None:
        raise _error(f"The Device doesn't support {name} parameter")
    return name


def _table(nic: Nic, names: list[str], options: dict[str, str], new: dict[str, str]) -> str:
    labels = (("Device type:", nic.family), ("Name:", nic.part_number),
              ("Description:", nic.description), ("Device:", nic.address))  # fmt: skip
    text = "\nDevice #1:\n----------\n\n"
    text += "".join(f"{label:20}{value:20}\n" for label, value in labels)
    verbose = "verbose" in options and not new
    columns = [
        *(("Default", "Current") if verbose else ()),
        "Next Boot",
        *(("New",) if new else ()),
    ]
    text += f"\n{'Configurations:':<52}" + " ".join(f"{one:20}" for one in columns) + "\n"
    rows = {row.name: row for row in parameters(nic)}
    for name in names:
        row = rows[name]
        values = [row.following, *((new[name],) if new else ())]
        star = "*" if verbose and row.starred else " "
        values = [row.default, row.current, *values] if verbose else values
        text += f"{star}       {name:44}" + " ".join(f"{one:20}" for one in values) + "\n"
    return text


# ---- set


def _wanted(nic: Nic, call: _Call) -> dict[str, str]:
    """Name -> value as the tool prints it; every one is looked at before one is written."""
    if not call.words:
        raise _error("missing configuration arguments. For more information please run mlxconfig "
                     "-h|--help.")  # fmt: skip
    found: dict[str, str] = {}
    for word in call.words:
        name, equals, value = word.partition("=")
        if not name or not equals or not value or "=" in value:
            raise _error(f"Invalid Configuration argument {word[:200]}")
        if name in found:
            raise _error(f"Duplicate parameter, {name}.")
        if name.endswith("]"):
            _checked(nic, name.partition("[")[0])
            raise _error("Operation not supported for this type of parameters")
        _checked(nic, name)
        try:
            found[name] = value_text(name, value)
        except NotThisError as error:
            raise _error(str(error)) from error
    return found


def _set(state: "HostState", nic: Nic, call: _Call) -> Outcome:
    wanted = _wanted(nic, call)
    said = _table(nic, list(wanted), call.options, wanted)
    if "force" in call.options:
        said += "\n-W- Force flag specified, the validity of the Parameters will not be checked !\n"
    said = call.ask(said, "Apply new Configuration?")
    for name, text in wanted.items():
        if plain_name(name)[0] == "NUM_OF_VFS" and int(text) > MOST_FUNCTIONS:
            words = "Failed to set configuration: Bad parameter"
            raise _error(words, f"{said}Applying... Failed!\n")
    state.writing(nic.name)
    if "default" in call.options:
        for row in parameters(nic):
            if row.name not in wanted and row.following != row.default:
                nv.set_next(state, nic, row.name, row.default)
    for name, text in wanted.items():
        nv.set_next(state, nic, name, text)
    return Outcome(f"{said}Applying... {DONE}")


# ---- reset, backup


def _reset(state: "HostState", nic: Nic, call: _Call) -> Outcome:
    names = [_checked(nic, word) for word in call.words]
    said = call.ask("", f"Reset configuration for device {call.options['device']}?")
    _to_default(state, nic, names)
    return Outcome(f"{said}Applying... {DONE}")


def _to_default(state: "HostState", nic: Nic, names: list[str]) -> None:
    state.writing(nic.name)
    for row in parameters(nic):
        if (not names or row.name in names) and row.following != row.default:
            nv.set_next(state, nic, row.name, row.default)


def _reset_all(state: "HostState", call: _Call) -> Outcome:
    """Without a device: every card of the host."""
    cards = [nic for nic in state.model().nics if is_mlx5(nic) and nic.firmware_access]
    if not cards:
        raise _error("No devices found, mst might be stopped. You may need to run 'mst start'.")
    said = call.ask("", "Reset configuration for all devices?")
    for nic in cards:
        _to_default(state, nic, [])
    return Outcome(f"{said}Applying... {DONE}")


def _backup(state: "HostState", nic: Nic, call: _Call) -> Outcome:
    """The real file holds raw TLVs; here a line says what each one is."""
    if "file" not in call.options:
        raise _error("backup command expects file to be specified.")
    rows = [row for row in parameters(nic) if row.following != row.default]
    failed = "Collecting...\n Failed!\n"
    if not rows:
        words = "NV data area may be empty, nothing to backup."
        raise _error(f"Failed to backup the configurations: {words}", failed)
    lines = "".join(f"% TLV {row.name}={row.following}\n" for row in rows)
    try:
        state.put_file(call.options["file"], f"{SIGNATURE}\n{lines}".encode())
    except KernelError:
        path = call.options["file"]
        raise _error(f"Failed to open file: {path}", "Collecting...\nSaving output...\n") from None
    return Outcome("Collecting...\nSaving output...\nDone!\n")


def _set_raw(state: "HostState", nic: Nic, call: _Call) -> Outcome:
    if "file" not in call.options:
        raise _error("set_raw command expects raw TLV file to be specified.")
    content = state.read_file(call.options["file"]) or b""
    lines = content.decode("utf-8", "replace").splitlines()
    if lines[:1] != [SIGNATURE]:
        raise _error("Raw Content Fingerprint MLNX_RAW_TLV_FILE is missing or incorrect")
    pairs = [line.removeprefix("% TLV ").partition("=") for line in lines[1:] if "=" in line]
    for name, _, _ in pairs:
        _checked(nic, name)
    said = call.ask("", "Operation intended for advanced users.\n Are you sure you want to apply "
                    "raw TLV file?")  # fmt: skip
    state.writing(nic.name)
    for name, _, text in pairs:
        nv.set_next(state, nic, name, text)
    return Outcome(f"{said}Applying... {DONE}")
