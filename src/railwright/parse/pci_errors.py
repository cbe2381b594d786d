"""Probe `pci_errors`: what Advanced Error Reporting counted, by PCI function.

Files:  /sys/bus/pci/drivers/{mlx5_core,nvidia,pcieport}/*/aer_dev_{correctable,nonfatal,fatal}

Each has one line per kind of error and then the sum, which is all that is read.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, read_files
from railwright.parse.pci import is_address

DRIVERS = "/sys/bus/pci/drivers"
_SUMS = {
    "correctable": re.compile(r"^TOTAL_ERR_COR ([0-9]{1,20})$", re.MULTILINE | re.ASCII),
    "nonfatal": re.compile(r"^TOTAL_ERR_NONFATAL ([0-9]{1,20})$", re.MULTILINE | re.ASCII),
    "fatal": re.compile(r"^TOTAL_ERR_FATAL ([0-9]{1,20})$", re.MULTILINE | re.ASCII),
}


def _sum(files: Files, folder: str, kind: str) -> int | None:
    """The last line of a file; of one that was cut it may have lost digits."""
    path = f"{folder}/aer_dev_{kind}"
    found = [] if files.is_cut(path) else _SUMS[kind].findall(files.text(path) or "")
    return whole_number(found[0], BIGINT_BITS) if len(found) == 1 else None


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table pci_error."""
    files = read_files(data)
    folders = {
        address: f"{DRIVERS}/{driver}/{address}"
        for driver in files.below(DRIVERS)
        for address in files.below(f"{DRIVERS}/{driver}")
        if is_address(address)
    }
    if data and not folders:
        raise NotUnderstoodError(f"no PCI function below {DRIVERS}")
    for pci, folder in sorted(folders.items()):
        values: dict[str, Value] = {"pci": pci}
        values |= {kind: _sum(files, folder, kind) for kind in _SUMS}
        yield Row("pci_error", values)
