"""Probe `secure_boot`: EFI variable SecureBoot, kernel lockdown, signatures of modules.

Files:  /sys/firmware/efi/efivars/SecureBoot-*: four bytes of attributes, then the value
        /sys/kernel/security/lockdown: `none [integrity] confidentiality`; .../lsm
        /sys/module/module/parameters/sig_enforce: Y or N
Listed: /sys/firmware, /sys/firmware/efi
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, is_missing, read_files

FIRMWARE, EFI = "/sys/firmware", "/sys/firmware/efi"
SECURE_BOOT = f"{EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
LOCKDOWN = "/sys/kernel/security/lockdown"
MODULES = "/sys/kernel/security/lsm"
SIGNATURES = "/sys/module/module/parameters/sig_enforce"
_VARIABLE_BYTES = 5
_STATES = frozenset({"none", "integrity", "confidentiality"})
_CHOSEN = re.compile(r"\[([a-z]{1,20})\]")


def _secure_boot(files: Files, firmware: str | None) -> bool | None:
    content = files.content(SECURE_BOOT)
    if content is None:
        return False if firmware == "other" else None
    if len(content) != _VARIABLE_BYTES or content[-1] > 1:
        raise NotUnderstoodError("SecureBoot is not one byte behind its attributes")
    return content[-1] == 1


def _lockdown(files: Files) -> str | None:
    text = files.text(LOCKDOWN)
    if text is None:
        names = (files.text(MODULES) or "").split(",")
        known = is_missing(files, LOCKDOWN) and names != [""] and "lockdown" not in names
        return "" if known else None
    chosen = _CHOSEN.findall(text)
    if len(chosen) != 1 or chosen[0] not in _STATES:
        raise NotUnderstoodError("lockdown names no state that is known")
    return str(chosen[0])


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table secure_boot."""
    files = read_files(data)
    if FIRMWARE not in files and EFI not in files:
        raise NotUnderstoodError(f"{FIRMWARE} was not looked at")
    firmware = "efi" if files.age_and_size(EFI) else "other" if is_missing(files, EFI) else None
    signed = files.text(SIGNATURES)
    values: dict[str, Value] = {
        "firmware": firmware,
        "secure_boot": _secure_boot(files, firmware),
        "lockdown": _lockdown(files),
        "modules_need_signature": {"Y": True, "N": False}.get(signed or ""),
    }
    yield Row("secure_boot", values)
