"""mlxfwreset, mstfwreset: make what waits take hold. Words of mstfwreset.py."""

from typing import TYPE_CHECKING

from lab.fleet.model import Nic
from lab.fleet.render.mlxfwreset import LEVELS, query
from lab.writes import events, nv
from lab.writes.find import function, functions_of, is_pcie_switch, nic_of_device
from lab.writes.outcome import Outcome, RefusedError

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("mlxfwreset",)
DRIVER_RESTART, WARM_REBOOT = 3, 4
OWN_DRIVERS = frozenset({"mlx5_core", "rshim_pcie", "nvme", "pcieport", ""})
# Five boards that the tool knows it cannot reset.
WITHOUT_RESET = frozenset(
    {"MT_0000001121", "MT_0000001122", "MT_0000001181", "MT_0000001182", "OMN0000000006"}
)
_NUMBERS = {"-l": ("level", LEVELS), "--level": ("level", LEVELS), "-t": ("type", range(5)),
            "--type": ("type", range(5)), "--sync": ("sync", range(3)),
            "-p": ("method", range(2)), "--method": ("method", range(2))}  # fmt: skip
_COMMANDS = {"r": "reset", "reset": "reset", "q": "query", "query": "query", "s": "status",
             "status": "status"}  # fmt: skip
_STEPS = ("Sending Reset Command To Fw", "Stopping Driver", "Resetting PCI", "Starting Driver",
          "Restarting MST")  # fmt: skip


def _error(words: str, before: str = "") -> RefusedError:
    return RefusedError(Outcome(f"{before}-E- {words}.\n", "", 1))


def _usage(words: str) -> RefusedError:
    return RefusedError(Outcome("", f"usage: mlxfwreset\nmlxfwreset: error: {words}\n", 2))


def _parsed(arguments: list[str]) -> tuple[dict[str, str], dict[str, int], list[str]]:
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-d", "--device", *_NUMBERS) and not rest:
            raise _usage(f"argument {word}: expected one argument")
        if word in ("-d", "--device"):
            texts["device"] = rest.pop(0)
        elif word in _NUMBERS:
            name, choices = _NUMBERS[word]
            value = rest.pop(0)
            if not value.isascii() or not value.isdigit() or len(value) > 5:
                raise _usage(f"argument {word}: invalid int value: {value[:100]!r}")
            if int(value) not in choices:
                listed = ", ".join(map(str, choices))
                raise _usage(f"argument {word}: invalid choice: {value} (choose from {listed})")
            numbers[name] = int(value)
        elif word in ("-y", "--yes"):
            texts["yes"] = "1"
        elif word in ("-s", "--skip_driver"):
            texts["skip"] = "1"
        elif word in _COMMANDS:
            words.append(_COMMANDS[word])
        else:
            raise _usage(f"unrecognized arguments: {word[:200]}")
    return texts, numbers, words


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`reset`, `query`, `status`."""
    del program
    texts, numbers, words = _parsed(arguments)
    if "device" not in texts:
        raise _usage("the following arguments are required: --device/-d")
    if len(words) != 1:
        raise _usage("the following arguments are required: command")
    if "fwctl" in texts["device"]:
        raise _error("mlxfwreset is not supported for fwctl devices")
    model = state.model()
    if words == ["reset"] and model.cpu.hypervisor:
        raise _error("The tool is not supported on virtual machines")
    nic = nic_of_device(model, texts["device"])
    if nic is None:
        raise _error(f"Failed to Identify Device: {texts['device'][:200]}")
    if not nic.firmware_access:
        return Outcome("", f"-E- Failed to open device {texts['device']}\n", 1)
    if state.misbehaves("busy", nic.name):
        raise _error(f"Failed to open device {texts['device']}: Semaphore locked")
    levels = nic.flash.reset_levels
    if words == ["query"]:
        usual = nic.flash.reset_level if nic.flash.reset_level in levels else min(levels)
        return Outcome(query(usual, levels))
    if words == ["status"]:
        return _status(nic, texts["device"], levels)
    return _reset(state, nic, texts, numbers, stdin)


def _status(nic: Nic, device: str, levels: tuple[int, ...]) -> Outcome:
    """Of new releases of the tool."""
    waiting = nv.waiting(nic)
    is_new = nv.stored(nic) != nic.firmware
    text = f"Status for device: {device}\n\n"
    text += f"Pending FW version : {nv.stored(nic) if is_new else 'N/A (FW is up to date)'}\n"
    text += f"Running FW version : {nic.firmware}\n"
    if waiting:
        text += "\nPending NVCONFIG parameters:\n"
        text += f"    {'Name':40} {'Default':12} {'Current':12} {'Next Boot':12}\n"
        text += "".join(f"    {row.name:40} {row.default:12} {row.current:12} {row.following:12}\n"
                        for row in waiting)  # fmt: skip
    else:
        text += "\nPending NVCONFIG parameters: N/A (No pending NVCONFIG parameters)\n"
    wanted = bool(waiting) or is_new
    level = DRIVER_RESTART if DRIVER_RESTART in levels else WARM_REBOOT
    text += f"\nDescription action : {LEVELS[level] if wanted else 'No reset is required'}\n"
    if wanted:
        text += f"Command required : mlxfwreset -d {device} -l {level} reset\n"
    return Outcome(text)


def _refuse(state: "HostState", nic: Nic, level: int, numbers: dict[str, int]) -> None:
    if nic.psid in WITHOUT_RESET:
        raise _error(f"Device {nic.family} with PSID {nic.psid} is not supported by this tool")
    kind = numbers.get("type", 0)
    if kind > 1 and not nic.family.lower().startswith("bluefield"):
        words = f"Reset-type '{kind}' is not supported in the current state of this device"
        raise _error(words)
    if level == DRIVER_RESTART and is_pcie_switch(state.model(), nic):
        raise _error(
            f"You are going to reset pcie switch device: reset-level '{level}' is not supported "
            "when hot reset is unsupported, only reset-level 4 (reboot) is supported"
        )
    if level not in nic.flash.reset_levels:
        words = f"Reset-level '{level}' is not supported in the current state of this device"
        raise _error(words)
    if numbers.get("sync") == 2 or numbers.get("method") == 1:
        raise _error(f"Requested reset sync '{numbers.get('sync', 2)}' is not supported")


def _refuse_driver(state: "HostState", nic: Nic) -> None:
    """Found when the driver is to be stopped."""
    subnet_manager = any(one.name in ("opensm", "opensmd") and one.active == "active"
                         for one in state.model().kernel.services)  # fmt: skip
    if subnet_manager:
        raise _error('Please stop "opensm" manually and resume operation!')
    for one in functions_of(state.model(), nic):
        place = function(state.model(), one.address)
        if place is not None and place.driver not in OWN_DRIVERS:
            raise _error(
                f"mlxfwreset doesn't support 3rd party driver ({place.driver})!\nPlease, stop the "
                "driver manually and resume operation with --skip_driver"
            )


def _reset(
    state: "HostState", nic: Nic, texts: dict[str, str], numbers: dict[str, int], stdin: str
) -> Outcome:
    usual = DRIVER_RESTART if DRIVER_RESTART in nic.flash.reset_levels else WARM_REBOOT
    switch = is_pcie_switch(state.model(), nic)
    level = numbers.get("level", WARM_REBOOT if switch else usual)
    _refuse(state, nic, level, numbers)
    said = f"The reset level for device, {texts['device']} is:\n\n{level}: {LEVELS[level]}\n"
    said += "Continue with reset?[y/N] "
    if "yes" in texts:
        said += "y\n"
    elif stdin.partition("\n")[0].strip().lower() not in ("y", "yes"):
        raise _error("Aborted by user", said)
    kind, sync = numbers.get("type", 0), numbers.get("sync", 0)
    said += f"Reset level: {level}, Reset type: {kind}, Reset sync: {sync}, Reset method: 0\n"
    if level == WARM_REBOOT:
        return _with_reboot(state, nic, said, switch=switch)
    if level != DRIVER_RESTART:
        return Outcome(f"{said}-I- FW was loaded successfully.\n")
    if "skip" not in texts:
        _refuse_driver(state, nic)
    state.writing(nic.name)
    if not state.misbehaves("set_ignored", nic.name):
        events.firmware_reset(state, (nic,))
    said += "".join(f"-I- {step:40}-Done\n" for step in _STEPS)
    return Outcome(f"{said}-I- FW was loaded successfully.\n")


def _with_reboot(state: "HostState", nic: Nic, said: str, *, switch: bool) -> Outcome:
    """The tool tells the firmware and restarts the host; all cards of the family go along."""
    cards = [
        one for one in state.model().nics
        if one.address.endswith(".0") and is_pcie_switch(state.model(), one)
    ] if switch else [nic]  # fmt: skip
    for one in cards:
        state.note(f"reset of {one.address}")
    said += f"-I- {_STEPS[0]:40}-Done\n-I- Sending reboot command to machine       -Done\n"
    state.restart()
    return Outcome(said)
