"""Names of machines and of things in what a finding observed and expected.

Findings that say the same are one line. One that names its own machine, port or PCI address, or
another one's, says what no other finding says: such names belong into its detail.
"""

import re
from collections.abc import Iterator

from railwright.check.cases import Rows
from railwright.check.trial import Verdict

# Rules whose value is a name, with the reason.
NAMES_ARE_VALUES = {
    "nccl-bootstrap-interface": "NCCL_SOCKET_IFNAME is a list of names, the same on many hosts",
    "nccl-hca-missing": "NCCL_IB_HCA is a list of names, the same on many hosts",
    "nccl-hca-wrong": "NCCL_IB_HCA is a list of names, the same on many hosts",
    "nic-names-differ": "it is about names",
    "ucx-device-missing": "UCX_NET_DEVICES is a list of names, the same on many hosts",
}
_COLUMNS = ("device", "netdev", "pci", "hop", "gpu", "nic", "master", "member", "bond")
_PCI = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b")
# `universes` puts the number of its world behind the name of a machine.
_MACHINE = re.compile(r"~\d+")
_ARTICLE = "a"  # a machine's name in most cases, and a word


def _names(rows: Rows) -> Iterator[str]:
    for table, content in rows.items():
        for row in content:
            yield str(row.get("target", ""))
            if table.removeprefix("before.") not in ("pci_function", "lspci_function"):  # PCI IDs
                yield from (str(row.get(column, "")) for column in _COLUMNS)
            if table in ("netdev", "before.netdev"):
                yield str(row.get("name", ""))
            if isinstance(row.get("port"), str):
                yield row["port"]


def names_said(rows: Rows, told: dict[str, Verdict]) -> list[str]:
    """What findings of a case observed or expected that has a name in it."""
    names = {name for name in _names(rows) if name not in ("", "None", "*", _ARTICLE)}
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    named = re.compile(rf"(?<![\w.-])(?:{any_name})(?![\w.-])") if names else _MACHINE
    return [
        f"{subject} has {kind} {text!r}"
        for subject, verdict in told.items()
        if verdict.verdict == "fail"
        for kind in ("observed", "expected")
        if (text := verdict.texts[kind])
        and any(pattern.search(text) for pattern in (_PCI, _MACHINE, named))
    ]
