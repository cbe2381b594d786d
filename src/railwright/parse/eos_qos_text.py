"""`show qos interfaces` of Arista EOS, which has no JSON: trust, and how each queue is served.

Written from public documents and not from a capture: the EOS User Manual (Quality of Service) and
outputs that operators have published. Releases print one value of each column or two, as
operational/configured; older ones have no column ECN/WRED.
"""

import re

from railwright.parse.eos_ports import PORT
from railwright.parse.switch_values import Rows, one_number, small_number

_HEADING = re.compile(rf"({PORT.pattern}):\s*", re.ASCII)
_TRUST = re.compile(r"\s*Trust Mode:\s*([A-Za-z]{2,12})\b.{0,40}", re.ASCII)
_MODES = {"dscp": "dscp", "cos": "pcp", "untrusted": "port"}
# Queues of multicast (MC) carry no RDMA.
_ROW = re.compile(
    r"\s*(?:UC)?([0-9]{1,2})\s+([0-9]{1,3}|-)(?:\s*/\s*(?:[0-9]{1,3}|-))?\s.{0,160}?\b(SP|RR)"
    r"(?:\s*/\s*(?:SP|RR))?(?:\s+([A-Z](?:[ /,]{0,3}[A-Z]){0,4}))?\s*",
    re.ASCII,
)
# The legend: L = marks by queue length, W = drops early, D = neither.
_KNOWN = frozenset("LWD")
_SCHEDULERS = {"SP": "strict", "RR": "wrr"}
_QUEUES = 63


def is_qos_text(text: str) -> bool:
    """Whether this is what `show qos interfaces` prints."""
    return any(_TRUST.fullmatch(line) for line in text.splitlines()[:64])


def read_qos_text(rows: Rows, text: str) -> None:
    """A block per port. A last line without its end may be cut: it is left out."""
    port = ""
    for line in text.split("\n")[:-1]:
        heading, trust, row = _HEADING.fullmatch(line), _TRUST.fullmatch(line), None
        if heading:
            port = heading[1]
        elif line[:1].strip():
            port = ""  # of something that is no port
        elif port and trust:
            rows.add("switch_port_qos", port=port, trust=_MODES.get(trust[1].lower()))
        elif port:
            row = _ROW.fullmatch(line)
        if row:
            _queue(rows, port, row)


def _queue(rows: Rows, port: str, row: re.Match[str]) -> None:
    queue = one_number(row[1], _QUEUES)
    if queue is None:
        return
    letters = set(row[4] or "") - set(" /,")
    known = bool(letters) and letters <= _KNOWN
    scheduler = _SCHEDULERS[row[3]]
    rows.add(
        "switch_queue",
        port=port,
        queue=queue,
        scheduler=scheduler,
        weight=0 if scheduler == "strict" else small_number(row[2]),
        ecn_enabled="L" in letters if known else None,
        red_enabled="W" in letters if known else None,
    )
