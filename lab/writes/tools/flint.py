"""flint, mstflint: firmware images. A lab's image is a small text file:

PSID: MT_0000000838
FW Version: 28.43.2566
"""

import re
from typing import TYPE_CHECKING

from lab.fleet.model import Nic
from lab.fleet.render.flint import query
from lab.writes import nv
from lab.writes.find import card_of, nic_of_device
from lab.writes.outcome import KernelError, Outcome, RefusedError

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("flint",)
ALREADY = 7  # FLINT_BURN_ABORTED, "FW already updated"; also where somebody says no
_IMAGE = re.compile(r"^(PSID|FW Version):\s*(\S+)\s*$", re.MULTILINE)
_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,4}\.[0-9]{1,5}", re.ASCII)
_VALUES = {"-d": "device", "--device": "device", "-i": "image", "--image": "image"}
_FLAGS = {"-y": "yes", "--yes": "yes", "--no": "no", "-s": "silent", "--silent": "silent",
          "--skip_if_same": "skip", "-nofs": "nofs", "--nofs": "nofs",
          "-allow_psid_change": "psid", "--allow_psid_change": "psid"}  # fmt: skip
_COMMANDS = {"b": "burn", "burn": "burn", "ir": "reactivate", "image_reactivate": "reactivate",
             "q": "query", "query": "query", "v": "verify", "verify": "verify"}  # fmt: skip


def _error(words: str, before: str = "", code: int = 1) -> RefusedError:
    return RefusedError(Outcome(before, f"-E- {words}\n", code))


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`burn`, `ir`, and `query` and `verify` of an image."""
    del program
    options, command = _parsed(arguments)
    if command in ("query", "verify") and "image" in options and "device" not in options:
        return _of_image(state, options, command)
    if command == "query" and "image" not in options:
        nic = _opened(state, options)
        return Outcome(query(nic)) if "silent" not in options else None
    if command == "verify":
        return Outcome("\n-I- FW image verification succeeded. Image is bootable.\n\n")
    nic = _opened(state, options)
    if command == "reactivate":
        return _reactivate(state, nic, options)
    return _burn(state, nic, options, stdin)


def _parsed(arguments: list[str]) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    command, rest = "", list(arguments)
    while rest:
        word = rest.pop(0)
        if word in _VALUES:
            if not rest:
                raise _error(f"Missing value for option: {word}.")
            options[_VALUES[word]] = rest.pop(0)
        elif word in _FLAGS:
            options[_FLAGS[word]] = "1"
        elif word in _COMMANDS and not command:
            command = _COMMANDS[word]
        else:
            raise _error(f"Invalid command: {word[:200]}")
    if not command:
        raise _error("No command found.")
    return options, command


def _opened(state: "HostState", options: dict[str, str]) -> Nic:
    if "device" not in options:
        raise _error("Please specify Device.")
    device = options["device"]
    nic = nic_of_device(state.model("flint"), device)
    if nic is None or not nic.firmware_access:
        raise _error(f"Cannot open Device: {device[:200]}. No such file or directory")
    if state.misbehaves("busy", nic.name):
        words = f'You can run "flint -clear_semaphore -d {device}" to force semaphore unlock.'
        raise _error(f"Cannot open Device: {device}. Can not obtain Flash semaphore (63). {words}")
    return nic


def image(state: "HostState", path: str) -> tuple[str, str]:
    """PSID and version of an image on the host's disk."""
    content = state.read_file(path)
    if content is None:
        raise _error(f"Cannot open Image: {path[:200]}. No such file or directory")
    told = dict(_IMAGE.findall(content[:65536].decode("utf-8", "replace")))
    if set(told) != {"PSID", "FW Version"} or not _VERSION.fullmatch(told["FW Version"]):
        raise _error(f"Cannot open Image: {path[:200]}. No valid FS image found")
    return told["PSID"], told["FW Version"]


def _of_image(state: "HostState", options: dict[str, str], command: str) -> Outcome:
    psid, version = image(state, options["image"])
    if command == "verify":
        return Outcome("\n-I- FW image verification succeeded. Image is bootable.\n\n")
    lines = (("Image type", "FS4"), ("FW Version", version), ("PSID", psid))
    return Outcome("".join(f"{key + ':':<23}{value}\n" for key, value in lines))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in version.split("."))


def _burn(state: "HostState", nic: Nic, options: dict[str, str], stdin: str) -> Outcome:
    if "image" not in options:
        raise _error("For burn command, Please specify image file.")
    psid, version = image(state, options["image"])
    if "nofs" in options:
        raise _error("Burning FS4 image failed: Burn process on a secure device is failsafe only.")
    now = nv.stored(nic)
    said = (
        f"\n    Current FW version on flash:  {now}\n    New FW version:               {version}\n"
    )
    if _VERSION.fullmatch(now) and _numbers(now) >= _numbers(version):
        same = now == version
        words = "the same as" if same else "older than"
        said += f"\n    Note: The new FW version is {words} the current FW version on flash.\n"
        if same:
            if "skip" in options:
                return Outcome(said + "\n    Skipping burn because firmware versions match and "
                               "--skip_if_same flag is set.\n")  # fmt: skip
            raise RefusedError(Outcome(said, "", ALREADY))
        said += "\n Do you want to continue ? (y/n) [n] : "
        if "yes" in options:
            said += "y\n"
        elif "no" in options or stdin.partition("\n")[0].strip().lower() not in ("y", "yes"):
            raise _error("Aborted by user", said, ALREADY)
    if psid != nic.psid:
        if "psid" in options:
            words = "Changing PSID is not supported under controlled FW."
            raise _error(f"Burning FS4 image failed: {words}", said)
        words = f"PSID mismatch. Device PSID ({nic.psid}) differs from image PSID ({psid})."
        raise _error(words, f"{said}\n")
    nv.burn(state, nic, version)
    said += "\nFSMST_INITIALIZE -   OK\nWriting Boot image component -   OK\n"
    return Outcome(said + "-I- To load new FW run mlxfwreset or reboot machine.\n")


def _reactivate(state: "HostState", nic: Nic, options: dict[str, str]) -> Outcome:
    """The other slot, until a reset has loaded this one."""
    before = state.overlay.previous.get(card_of(nic))
    if before is None:
        words = "The firmware rejected the request: no other image"
        raise _error(
            f"Failed to execute image reactivation on device {options['device']}. Error: {words}."
        )
    try:
        nv.burn(state, nic, before)
    except KernelError as error:
        raise _error(error.words) from error
    state.overlay.previous.pop(card_of(nic), None)
    return Outcome("\n-I- FW Image Reactivation succeeded.\n\n")
