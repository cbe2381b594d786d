"""iproute2's dcb: flow control, application table, scheduler and buffers as the kernel tells them.

The probes ask for JSON; the text forms are here so that both can be held to the samples.
"""

import json
from collections.abc import Callable, Iterable, Iterator

from lab.fleet.model import HostModel, Nic
from lab.fleet.port_model import Qos
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import physical

Answer = dict[str, object]
WITHOUT_DCB = "Attribute not found: Success\n"
CLASSES = 8


def _names() -> dict[int, str]:
    names = {8 * n: f"CS{n}" for n in range(8)}
    names |= {8 * x + 2 * y: f"AF{x}{y}" for x in range(1, 5) for y in range(1, 4)}
    return names | {46: "EF"}


DSCP_NAMES = _names()


# ---- what the kernel says, in the order of the JSON output


def pfc(qos: Qos) -> Answer:
    """mlx5 gives the cable length as delay (en_dcbnl.c)."""
    return {
        "pfc_cap": CLASSES,
        "macsec_bypass": False,
        "delay": qos.cable_length_m,
        "prio_pfc": list(qos.pfc),
    }


def app(qos: Qos) -> Answer:
    """The table holds code points only while the port trusts DSCP; kinds without entry are absent.

    The third, blank, element of a pair is a slip of current releases.
    """
    points = qos.app_dscps if qos.trust == "dscp" else ()
    answer: Answer = {}
    if qos.default_priority:
        answer["default_prio"] = list(qos.default_priority)
    if points:
        answer["dscp_prio"] = [[dscp, qos.dscp_priority[dscp], " "] for dscp in points]
    if qos.datagram_ports:
        answer["dgram_port_prio"] = [[port, priority, " "] for port, priority in qos.datagram_ports]
    return answer


def ets(qos: Qos) -> Answer:
    """Nothing was recommended by the other end; the firmware's own DCBX is willing to be told."""
    return {
        "willing": qos.dcbx == "firmware",
        "ets_cap": CLASSES,
        "cbs": False,
        "tc_bw": list(qos.class_bandwidth),
        "pg_bw": [0] * CLASSES,
        "tc_tsa": list(qos.class_scheduler),
        "prio_tc": list(qos.priority_class),
        "reco_tc_bw": [0] * CLASSES,
        "reco_tc_tsa": ["strict"] * CLASSES,
        "reco_prio_tc": [0] * CLASSES,
    }


def buffer(qos: Qos) -> Answer:
    """Empty where the driver cannot be asked."""
    if not qos.buffer_bytes:
        return {}
    return {
        "prio_buffer": list(qos.priority_buffer),
        "buffer_size": list(qos.buffer_bytes),
        "total_size": qos.buffer_max or sum(qos.buffer_bytes),
    }


# ---- text


def _word(value: object) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _numbered(key: str, values: object, form: Callable[[int], str] = str) -> str:
    assert isinstance(values, list)
    cells = (form(v) if form is not str else _word(v) for v in values)
    return f"{key} " + "".join(f"{n}:{cell} " for n, cell in enumerate(cells)) + "\n"


def size_text(size: int) -> str:
    """Bytes, or kilobytes and megabytes where that is nearly round (iproute2 sprint_size)."""
    for unit, letter, slack in ((1 << 20, "Mb", 1024), (1 << 10, "Kb", 16)):
        if size >= unit and abs(round(size / unit) * unit - size) < slack:
            return f"{size / unit:g}{letter}"
    return f"{size}b"


def pfc_text(
    qos: Qos, requests: Iterable[int] | None = None, indications: Iterable[int] | None = None
) -> str:
    """`dcb pfc show`; with `-s` also how often we paused the network and it paused us."""
    answer = pfc(qos)
    head = f"pfc-cap {answer['pfc_cap']} macsec-bypass off delay {answer['delay']} \n"
    text = head + _numbered("prio-pfc", answer["prio_pfc"])
    for key, counts in (("requests", requests), ("indications", indications)):
        if counts is not None:
            text += _numbered(key, list(counts))
    return text


def app_text(qos: Qos, *, names: bool = True) -> str:
    """`dcb app show`, or with `-N` numbers instead of names."""
    text = ""
    if qos.default_priority:
        text += "default-prio " + "".join(f"{n} " for n in qos.default_priority) + "\n"
    if qos.trust == "dscp" and qos.app_dscps:
        pairs = ((dscp, qos.dscp_priority[dscp]) for dscp in qos.app_dscps)
        cells = (f"{DSCP_NAMES.get(d, d) if names else d}:{priority} " for d, priority in pairs)
        text += "dscp-prio " + "".join(cells) + "\n"
    if qos.datagram_ports:
        text += "dgram-port-prio " + "".join(f"{n}:{p} " for n, p in qos.datagram_ports) + "\n"
    return text


def ets_text(qos: Qos) -> str:
    """`dcb ets show`."""
    answer = ets(qos)
    head = f"willing {_word(answer['willing'])} ets-cap {CLASSES} cbs off \n"
    lists = ("tc_bw", "pg_bw", "tc_tsa", "prio_tc", "reco_tc_bw", "reco_tc_tsa", "reco_prio_tc")
    return head + "".join(_numbered(key.replace("_", "-"), answer[key]) for key in lists)


def buffer_text(qos: Qos) -> str:
    """`dcb buffer show`."""
    answer = buffer(qos)
    total = answer["total_size"]
    assert isinstance(total, int)
    return (
        _numbered("prio-buffer", answer["prio_buffer"])
        + _numbered("buffer-size", answer["buffer_size"], size_text)
        + f"total-size {size_text(total)} \n"
    )


# ---- commands


OBJECTS: tuple[tuple[str, Callable[[Qos], Answer]], ...] = (
    ("pfc", pfc),
    ("app", app),
    ("ets", ets),
    ("buffer", buffer),
)


def json_text(answer: Answer) -> str:
    """One line without blanks."""
    return json.dumps(answer, separators=(",", ":")) + "\n"


def commands(host: HostModel) -> Iterator[Said]:
    """Four questions to each device; only Ethernet ports of RDMA cards have answers."""
    for netdev in physical(host):
        ethernet = isinstance(netdev, Nic) and netdev.link_layer == "Ethernet"
        qos = netdev.qos if isinstance(netdev, Nic) and ethernet else None
        for name, question in OBJECTS:
            command = f"dcb -j {name} show dev {netdev.netdev}"
            answer = question(qos) if qos else {}
            if answer or (qos and name == "app"):  # an empty table is an answer
                yield Said(command, json_text(answer))
            else:
                yield Said(command, "", WITHOUT_DCB, 1)
