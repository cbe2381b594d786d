"""mlnx_qos: the order of its work, its words and its exit statuses (mlnx-tools 8fbfd9cf)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.fleet.model import Nic
from lab.fleet.render.mlnx_qos import WARNING, WITHOUT_DCB, show
from lab.writes import qos
from lab.writes.outcome import KernelError, Outcome, RefusedError

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("mlnx_qos",)
USAGE = "Usage: mlnx_qos -i <interface> [options]\n\n"
NETLINK = "Netlink error: Bad value. see dmesg."
_OPTIONS = {
    "-i": "interface", "--interface": "interface", "-f": "pfc", "--pfc": "pfc",
    "-F": "specific_pfc", "--specific_pfc": "specific_pfc", "-P": "get_pfc",
    "--get_pfc": "get_pfc", "-p": "prio_tc", "--prio_tc": "prio_tc", "-s": "tsa", "--tsa": "tsa",
    "-t": "tcbw", "--tcbw": "tcbw", "-r": "ratelimit", "--ratelimit": "ratelimit", "-d": "dcbx",
    "--dcbx": "dcbx", "--trust": "trust", "--dscp2prio": "dscp2prio",
    "--cable_len": "cable_len", "--prio2buffer": "prio2buffer", "--buffer_size": "buffer_size",
}  # fmt: skip
RATE_LIMIT = "Rate limit is not supported on your system!\n"


class _Exit(Exception):  # noqa: N818 (the tool's sys.exit)
    def __init__(self, words: str = "", code: int = 1) -> None:
        super().__init__(words)
        self.words, self.code = words, code


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """Everything that the tool can set; in the order in which it does it."""
    del program, stdin
    said: list[str] = []
    try:
        options, codes = _parsed(arguments)
        nic = _port(state, options)
        if len(options) > 1 or codes:
            _work(state, nic, options, codes, said)
    except _Exit as end:
        return Outcome("".join(said) + end.words, "", end.code)
    now = qos.port(state, nic.netdev)
    shown = _shown(state, now)
    head = WARNING if now.qos.lldpad else ""
    return Outcome(head + "".join(said) + shown.removeprefix(WARNING))


def _shown(state: "HostState", nic: Nic) -> str:
    """As the tool reads it back: where its read-back lies, with the lie."""
    model = state.model("mlnx_qos")
    told = next((one for one in model.nics if one.name == nic.name), nic)
    return ("" if told.qos.rate_limits else RATE_LIMIT) + show(told.qos)


def _parsed(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    codes: list[str] = []
    rest = [word for word in arguments if word != "-a"]
    while rest:
        word, value = _option(rest.pop(0))
        if value is None:
            if not rest:
                raise _usage(f"mlnx_qos: error: {word} option requires 1 argument\n")
            value = rest.pop(0)
        if word == "--dscp2prio":
            codes.append(value)
        else:
            options[_OPTIONS[word]] = value
    if "interface" not in options:
        raise _Exit("Interface name is required\n" + USAGE)
    return options, codes


def _option(word: str) -> tuple[str, str | None]:
    """--pfc, --pfc=…, -f…: the option, and its value where it is there."""
    name, equals, value = word.partition("=")
    if equals and name in _OPTIONS and name.startswith("--"):
        return name, value
    if word[:2] in _OPTIONS and len(word) > 2:
        return word[:2], word[2:]
    if word in _OPTIONS:
        return word, None
    if word.startswith("-"):
        raise _usage(f"mlnx_qos: error: no such option: {word[:200]}\n")
    raise _Exit("Bad arguments\n" + USAGE)


def _usage(words: str) -> RefusedError:
    """optparse's way."""
    return RefusedError(Outcome("", USAGE.rstrip("\n") + "\n\n" + words, 2))


def _port(state: "HostState", options: dict[str, str]) -> Nic:
    try:
        return qos.port(state, options["interface"])
    except KernelError as error:
        if error.name == "ENODEV":
            raise _Exit(f"{NETLINK}\n") from None
        raise _Exit(WITHOUT_DCB) from None


def _work(
    state: "HostState", nic: Nic, options: dict[str, str], codes: list[str], said: list[str]
) -> None:
    _dcbx(state, nic, options)
    _pfc(state, nic, options)
    _trust(state, nic, options, codes)
    _buffers(state, nic, options)
    _rates(state, nic, options, said)
    _ets(state, nic, options)


def _parse_int(text: str, least: int, most: int, what: str) -> int:
    wrong = f"invalid literal for int() with base 10: {text[:100]!r}"
    try:
        value = int(text) if len(text) <= 20 else None
    except ValueError:
        value = None
    if value is not None and least <= value <= most:
        return value
    if value is not None:
        wrong = f"{value} is not in the range {least}..{most}"
    raise _Exit(f"Bad value for {what}: {wrong}\n{USAGE}")


def _list(text: str, least: int, most: int, what: str, many: str) -> list[int]:
    found: list[int] = []
    for word in text.split(","):
        if len(found) >= 8:
            raise _Exit(f"{many}\n")
        found.append(_parse_int(word, least, most, what))
    return found


def _eight(items: Sequence[object], what: str) -> None:
    if len(items) != 8:
        raise _Exit(f"{what} list must have 8 items\n")


def _dcbx(state: "HostState", nic: Nic, options: dict[str, str]) -> None:
    mode = options.get("dcbx", "get")
    if mode not in ("os", "fw", "get"):
        raise _Exit("Invalid dcbx mode command. Refer to the help.\n")
    if mode != "get":
        qos.set_owner(state, nic, {"os": "os", "fw": "firmware"}[mode])


def _pfc(state: "HostState", nic: Nic, options: dict[str, str]) -> None:
    if options.get("cable_len"):
        metres = _parse_int(options["cable_len"], 0, 0xFFFF, "cable_len")
        _kernel(lambda: qos.set_pfc(state, nic, None, metres), "mlnx_qos: Error setting pfc delay:")
    now = qos.port(state, nic.netdev).qos.pfc
    if options.get("get_pfc"):
        place = _parse_int(options["get_pfc"], -(2**31), 2**31, "PFC")
        if not 0 <= place < 8:
            raise _Exit("pfc index must be in range of 0-7\n")
        raise _Exit(f"{int(now[place])}\n", 0)
    if options.get("specific_pfc"):
        words = options["specific_pfc"].split(",")
        if len(words) != 8:
            raise _Exit("pfc list must have 8 items\n")
        for word in words:
            if word not in ("x", "0", "1"):
                raise _Exit(f"Bad value for 'PFC': {word[:100]}\n")
        mask = [on if word == "x" else word == "1" for word, on in zip(words, now, strict=True)]
        _kernel(lambda: qos.set_pfc(state, nic, mask), "mlnx_qos: Error setting pfc:")
        raise _Exit("", 0)
    if options.get("pfc"):
        wanted = _list(options["pfc"], 0, 1, "PFC", "Too many items for PFC")
        _eight(wanted, "pfc")
        new = [bool(on) for on in wanted]
        _kernel(lambda: qos.set_pfc(state, nic, new), "mlnx_qos: Error setting pfc:")


def _kernel(work: "object", words: str) -> None:
    try:
        work()  # type: ignore[operator]
    except KernelError:
        raise _Exit(f"{words}{NETLINK}\n") from None


def _trust(state: "HostState", nic: Nic, options: dict[str, str], codes: list[str]) -> None:
    trust = options.get("trust", "")
    if codes and trust:
        raise _Exit("trust and dscp2prio commands cannot be used at the same time.\n")
    work = [_code(text) for text in codes]
    for action, dscp, priority in work:
        try:
            _one_code(state, nic, action, dscp, priority)
        except KernelError:
            raise _Exit("dscp2prio command failed\n") from None
    if trust and trust not in ("dscp", "pcp"):
        raise _Exit("Invalid trust state command. Refer to the help.\n")
    if trust:
        setting = qos.set_trust_file if nic.qos.sysfs else qos.set_trust
        setting(state, nic, trust)


def _code(text: str) -> tuple[str, int, int]:
    if text == "flush":
        return "flush", 0, 0
    words = text.split(",")
    try:
        action, dscp, priority = words[0], int(words[1][:20]), int(words[2][:20])
        right = len(words) == 3
    except (ValueError, IndexError):
        raise _Exit("Invalid dscp2prio command. Refer to the help.\n") from None
    if not right:
        raise _Exit("Invalid dscp2prio command. Refer to the help.\n")
    if action not in ("set", "del") or dscp > 63 or priority > 7:
        raise _Exit()
    return action, dscp, priority


def _one_code(state: "HostState", nic: Nic, action: str, dscp: int, priority: int) -> None:
    if action == "set":
        qos.set_app(state, nic, dscp, priority)
    elif nic.qos.sysfs:  # the file takes no deletion: nothing happens, and nothing is said
        return
    elif action == "del":
        qos.delete_app(state, nic, dscp, priority)
    else:
        now = qos.port(state, nic.netdev).qos
        for one in now.app_dscps if now.trust == "dscp" else ():
            qos.delete_app(state, nic, one, now.dscp_priority[one])


def _buffers(state: "HostState", nic: Nic, options: dict[str, str]) -> None:
    places_text, sizes_text = options.get("prio2buffer"), options.get("buffer_size")
    if not places_text and not sizes_text:
        return
    now = qos.port(state, nic.netdev).qos
    if not now.buffer_bytes:
        raise _Exit("Buffers commands are not supported on your system\n")
    places, sizes = list(now.priority_buffer), list(now.buffer_bytes)
    if places_text:
        new = _list(places_text, 0, 7, "prio buffer", "Too many items for prio2buffer")
        places[: len(new)] = new
    if sizes_text:
        words = sizes_text.split(",")
        if len(words) > 8:
            raise _Exit("Too many items for buffer_size\n")
        if not all(word.isascii() and word.isdigit() and len(word) < 12 for word in words):
            raise _Exit("Buffers commands error\n")
        sizes[: len(words)] = [int(word) for word in words]
    # Through files the tool writes one of the two per call: sizes first.
    only_sizes, only_places = nic.qos.sysfs and bool(sizes_text), nic.qos.sysfs and not sizes_text
    try:
        qos.set_buffers(state, nic, None if only_sizes else places, None if only_places else sizes)
    except KernelError:
        raise _Exit("Buffers commands error\n") from None


def _rates(state: "HostState", nic: Nic, options: dict[str, str], said: list[str]) -> None:
    text = options.get("ratelimit")
    if not text:
        return
    rates = _list(text, 0, 1_000_000, "ratelimit", "Too many items for ratelimit")
    if len(rates) != 8:
        raise _Exit("ratelimit must have 8 items\n")
    try:
        qos.set_rates(state, nic, [float(rate) for rate in rates])
    except KernelError:
        said.append(RATE_LIMIT)  # and goes on: exit status 0


def _ets(state: "HostState", nic: Nic, options: dict[str, str]) -> None:
    now = qos.port(state, nic.netdev).qos
    tsa = _schedulers(options["tsa"]) if options.get("tsa") else list(now.class_scheduler)
    shares, classes = list(now.class_bandwidth), list(now.priority_class)
    if options.get("tcbw"):
        shares = _list(options["tcbw"], 0, 100, "ETS BW", "Too many items for ETS BW")
        if any(share and how != "ets" for share, how in zip(shares, tsa, strict=False)):
            raise _Exit(f"ETS BW for a strict/vendor TC must be 0\n{USAGE}")
        _eight(shares, "tcbw")
    if options.get("prio_tc"):
        what = "UP => TC mapping"
        classes = _list(options["prio_tc"], 0, 7, what, f"Too many items in {what}")
        _eight(classes, "prio_tc")
    if any(options.get(name) for name in ("tsa", "tcbw", "prio_tc")):
        try:
            qos.set_ets(state, nic, classes, tsa, shares)
        except KernelError:
            raise _Exit(f"{NETLINK}\n") from None


def _schedulers(text: str) -> list[str]:
    words = text.split(",")
    for place, word in enumerate(words):
        if place >= 8:
            raise _Exit("Too many items for TSA\n")
        if word not in ("strict", "ets", "vendor"):
            raise _Exit(f"('Bad TSA value: ', {word[:100]!r})\n{USAGE}")
    _eight(words, "tsa")
    return words
