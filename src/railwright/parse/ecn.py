"""Probe `ecn`: congestion control of RoCE per interface, which only the vendor's driver shows.

Files:  /sys/class/net/*/ecn/roce_{np,rp}/enable/<priority>   0 or 1
        /sys/class/net/*/ecn/roce_{np,rp}/<parameter>         a number

The driver prints nothing at all where the firmware refuses to tell whether a priority is enabled
(en_ecn.c, mlx5e_show_ecn_enable): an empty file is "not read".
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, whole_number
from railwright.parse.files import read_files

_PATH = re.compile(
    r"/sys/class/net/([^/]+)/ecn/roce_(np|rp)/(?:enable/([0-7])|([A-Za-z0-9_]{1,64}))", re.ASCII
)
_SWITCH = {"0": False, "1": True}


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables ecn_priority and ecn_parameter."""
    files = read_files(data)
    found = sorted(match.groups("") for match in map(_PATH.fullmatch, files) if match)
    if data and not found:
        raise NotUnderstoodError("no ECN setting below /sys/class/net")
    for netdev, role, priority, name in found:
        base = f"/sys/class/net/{netdev}/ecn/roce_{role}"
        if priority:
            text = files.text(f"{base}/enable/{priority}")
            yield Row(
                "ecn_priority",
                {
                    "netdev": netdev,
                    "role": role,
                    "priority": int(priority),
                    "enabled": _SWITCH.get(text or ""),
                },
            )
        elif name != "enable":  # the folder, which the runner cannot read as a file
            value = whole_number(files.text(f"{base}/{name}"), BIGINT_BITS, -(2**BIGINT_BITS))
            yield Row(
                "ecn_parameter", {"netdev": netdev, "role": role, "name": name, "value": value}
            )
