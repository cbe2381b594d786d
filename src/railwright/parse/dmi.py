"""Probe `dmi`: what the firmware calls the machine and its board.

Files:  /sys/class/dmi/id/{sys_vendor,product_name,product_version,product_sku,product_family,
        board_vendor,board_name,board_version,chassis_vendor,bios_vendor,bios_version,bios_date}

A field that the firmware does not give has no file, which is not the same as one that was not read.
What is printed is kept as it is: which words are placeholders is decided later.
"""

from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, is_missing, read_files

FOLDER = "/sys/class/dmi/id"
FIELDS = (
    *("sys_vendor", "product_name", "product_version", "product_sku", "product_family"),
    *("board_vendor", "board_name", "board_version", "chassis_vendor"),
    *("bios_vendor", "bios_version", "bios_date"),
)
_LONGEST = 256  # SMBIOS strings had 64 characters until version 2.6; seen ones are below 100


def _field(files: Files, name: str) -> str | None:
    path = f"{FOLDER}/{name}"
    if is_missing(files, path):
        return ""
    text = None if files.is_cut(path) else files.text(path)
    return None if text is None else " ".join(text.split())[:_LONGEST]


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table dmi."""
    files = read_files(data)
    if not data:
        return
    if not any(f"{FOLDER}/{name}" in files for name in FIELDS):
        raise NotUnderstoodError(f"no known file below {FOLDER}")
    values: dict[str, Value] = {name: _field(files, name) for name in FIELDS}
    yield Row("dmi", values)
