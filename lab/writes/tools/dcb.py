"""dcb of iproute2 6.1: what it writes. It reads first, so a missing device fails on the read."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.fleet.render.dcb import DSCP_NAMES
from lab.writes import qos
from lab.writes.outcome import KernelError, Outcome, RefusedError, number, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("dcb",)
_DSCP = {name.lower(): code for code, name in DSCP_NAMES.items()}
_USAGE = {
    "pfc": "Usage: dcb pfc set dev STRING\n           [ prio-pfc PFC-MAP ]\n"
           "           [ macsec-bypass { on | off } ]\n           [ delay INTEGER ]\n\n",
    "app": "Usage: dcb app { add | del | replace } dev STRING\n           [ default-prio PRIO ]\n"
           "           [ dscp-prio INTEGER:PRIO ]\n\n",
    "ets": "Usage: dcb ets set dev STRING\n           [ tc-tsa TSA-MAP ]\n           "
           "[ tc-bw BW-MAP ]\n           [ prio-tc PRIO-MAP ]\n\n",
    "buffer": "Usage: dcb buffer set dev STRING\n           [ prio-buffer PRIO-MAP ]\n"
              "           [ buffer-size SIZE-MAP ]\n\n",
    "maxrate": "Usage: dcb maxrate set dev STRING\n           [ tc-maxrate RATE-MAP ]\n\n",
    "dcbx": "Usage: dcb dcbx set dev STRING\n           [ host ] [ lld-managed ]\n\n",
}  # fmt: skip
_WRITES = ("set", "add", "del", "replace", "flush")


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`dcb OBJECT set|add|del|replace|flush dev NETDEV …`."""
    del program, stdin
    words = [word for word in arguments if not (word.startswith("-") and len(word) < 12)]
    if not words:
        return None
    if words[0] not in _USAGE:
        raise refused(f'Object "{words[0][:200]}" is unknown\n')
    if len(words) < 2 or words[1] not in _WRITES:
        return None
    what, action = words[0], words[1]
    unknown = _unknown(what, action, words[2:])
    if unknown:
        raise refused(f'What is "{unknown[:200]}"?\n{_USAGE[what]}')
    if len(words) < 4 or (len(words) == 4 and action != "flush"):
        return Outcome("", _USAGE[what])
    netdev, rest = words[3], words[4:]
    try:
        qos.port(state, netdev)
    except KernelError as error:
        way = "write" if what == "dcbx" else "read"
        raise refused(f"Attribute {way}: {error.words}\n") from None
    try:
        _DO[what](state, netdev, action, _keyed(what, rest))
    except KernelError as error:
        words_of = f"Error when attempting to set attribute: {error.words}\n"
        raise refused(words_of) from None
    return Outcome()


def _unknown(what: str, action: str, words: list[str]) -> str:
    """The first word that the tool does not know there; '' = it knows all."""
    if (what == "app") == (action == "set"):
        return action
    if words and words[0] != "dev":
        return words[0]
    return "" if len(words) < 3 or words[2] in _KEYS[what] else words[2]


_KEYS = {
    "pfc": ("prio-pfc", "delay", "macsec-bypass"),
    "app": ("dscp-prio", "default-prio", "ethtype-prio", "stream-port-prio", "dgram-port-prio",
            "port-prio"),
    "ets": ("willing", "tc-tsa", "reco-tc-tsa", "tc-bw", "pg-bw", "reco-tc-bw", "prio-tc",
            "reco-prio-tc"),
    "buffer": ("prio-buffer", "buffer-size"),
    "maxrate": ("tc-maxrate",),
    "dcbx": ("host", "lld-managed", "ieee", "cee", "static"),
}  # fmt: skip


def _keyed(what: str, words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    now: list[str] = []
    for word in words:
        if word in _KEYS[what]:
            now = found.setdefault(word, [])
        else:
            now.append(word)
    return found


def _invalid(value: str, what: str) -> RefusedError:
    return refused(f"Invalid {what}: {value[:200]}\n")


def _places(words: list[str], what: str) -> list[tuple[int, str]]:
    """`all:off 3:on` -> pairs; `all` is every one."""
    found: list[tuple[int, str]] = []
    for word in words:
        key, colon, value = word.partition(":")
        place = number(key, 0, 7)
        if not colon or (place is None and key != "all"):
            raise _invalid(word, f"{what} key")
        found += [(n, value) for n in (range(8) if place is None else (place,))]
    return found


def _pfc(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    """The delay that was read is written again."""
    del action
    nic = qos.port(state, netdev)
    mask = list(nic.qos.pfc)
    for place, value in _places(given.get("prio-pfc", []), "prio-pfc"):
        if value not in ("on", "off"):
            raise refused(
                f'Error: argument of "prio-pfc" must be "on" or "off", not "{value[:99]}"\n'
            )
        mask[place] = value == "on"
    metres: int | None = None
    if "delay" in given:
        text = given["delay"][0] if given["delay"] else ""
        metres = number(text, 0, 65535)
        if metres is None:
            raise refused(f'Error: argument "{text[:200]}" is wrong: invalid delay\n')
    qos.set_pfc(state, nic, mask, metres)


def _app(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    nic = qos.port(state, netdev)
    now = nic.qos
    if action == "flush":
        for entry in now.app_dscps if now.trust == "dscp" else ():
            qos.delete_app(state, nic, entry, now.dscp_priority[entry])
        return
    pairs: list[tuple[int, int]] = []
    for word in given.get("dscp-prio", []):
        key, colon, value = word.partition(":")
        dscp = number(str(_DSCP.get(key.lower(), key)), 0, 63)
        priority = number(value, 0, 7)
        if not colon or dscp is None:
            raise _invalid(word, "dscp-prio key")
        if priority is None:
            raise _invalid(word, "dscp-prio value")
        pairs.append((dscp, priority))
    if given.keys() - {"dscp-prio"}:
        raise KernelError("EOPNOTSUPP")  # mlx5 takes code points only
    for dscp, priority in pairs:
        has = now.trust == "dscp" and dscp in now.app_dscps
        if action == "del":
            qos.delete_app(state, nic, dscp, priority)
        elif action == "add" and has and now.dscp_priority[dscp] == priority:
            raise KernelError("EEXIST")
        else:
            qos.set_app(state, nic, dscp, priority)


def _ets(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    del action
    nic = qos.port(state, netdev)
    tsa, shares = list(nic.qos.class_scheduler), list(nic.qos.class_bandwidth)
    classes = list(nic.qos.priority_class)
    for place, value in _places(given.get("tc-tsa", []), "tc-tsa"):
        if value not in ("strict", "ets", "vendor", "cbs"):
            raise _invalid(value, "TSA")
        tsa[place] = value
    for name, target, most in (("tc-bw", shares, 100), ("prio-tc", classes, 7)):
        for place, value in _places(given.get(name, []), name):
            wanted = number(value, 0, most)
            if wanted is None:
                raise _invalid(value, f"{name} value")
            target[place] = wanted
    qos.set_ets(state, nic, classes, tsa, shares)


def _buffer(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    del action
    nic = qos.port(state, netdev)
    places, sizes = list(nic.qos.priority_buffer), list(nic.qos.buffer_bytes)
    for place, value in _places(given.get("prio-buffer", []), "prio-buffer"):
        found = number(value, 0, 7)
        if found is None:
            raise _invalid(value, "prio-buffer value")
        places[place] = found
    for place, value in _places(given.get("buffer-size", []), "buffer-size"):
        size = _size(value)
        if size is None or not sizes:
            raise _invalid(value, "buffer-size value")
        sizes[place] = size
    qos.set_buffers(state, nic, places, sizes)


def _size(text: str) -> int | None:
    """19872, 64Kb, 1Mb."""
    for unit, factor in (("kb", 1 << 10), ("mb", 1 << 20), ("b", 1)):
        if text.lower().endswith(unit):
            found = number(text[: -len(unit)], 0, 2**32)
            return None if found is None else found * factor
    return number(text, 0, 2**32)


def _maxrate(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    del action
    nic = qos.port(state, netdev)
    rates = list(nic.qos.class_rate_gbps)
    for place, value in _places(given.get("tc-maxrate", []), "tc-maxrate"):
        digits = value.lower().removesuffix("gbit")
        found = number(digits, 0, 1_000_000)
        if found is None:
            raise _invalid(value, "tc-maxrate value")
        rates[place] = float(found)
    qos.set_rates(state, nic, rates)


def _dcbx(state: "HostState", netdev: str, action: str, given: dict[str, list[str]]) -> None:
    del action
    qos.set_owner(state, qos.port(state, netdev), "os" if "host" in given else "firmware")


_DO: dict[str, Callable[["HostState", str, str, dict[str, list[str]]], None]] = {
    "pfc": _pfc, "app": _app, "ets": _ets, "buffer": _buffer, "maxrate": _maxrate, "dcbx": _dcbx,
}  # fmt: skip
