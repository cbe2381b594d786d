"""ethtool: link settings, FEC, pause, rings and channels. It speaks netlink: its errors are."""

from typing import TYPE_CHECKING

from lab.fleet.model import Nic, is_mlx5
from lab.writes import link
from lab.writes.outcome import KernelError, Outcome, number, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("ethtool",)
_WRITES = {"-s": "change", "--change": "change", "-A": "pause", "--pause": "pause",
           "-G": "ring", "--set-ring": "ring", "-L": "channels", "--set-channels": "channels",
           "--set-fec": "fec"}  # fmt: skip
_READS = {"-g": "ring", "--show-ring": "ring", "-l": "channels", "--show-channels": "channels"}
SMALLEST_RING, LARGEST_RING, MOST_CHANNELS = 64, 8192, 63
FEC = ("auto", "off", "rs", "baser", "llrs")
BAD = "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n"


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """The five writes, and the reads of what no probe asks for."""
    del program, stdin
    action = next((word for word in arguments[:1] if word in _WRITES | _READS), "")
    if not action:
        return None
    if len(arguments) < 2:
        raise refused(BAD)
    netdev, words = arguments[1], arguments[2:]
    if state.netdev(netdev) is None:
        raise refused("netlink error: No such device\n")
    nic = state.nic(netdev)
    if nic is None or not is_mlx5(nic) or nic.link_layer != "Ethernet":
        raise refused("netlink error: Operation not supported\n")
    if action in _READS:
        return _shown(nic, _READS[action])
    if not words:
        raise refused(BAD)
    try:
        _DO[_WRITES[action]](state, nic, words)
    except KernelError as error:
        raise refused(f"netlink error: {error.words}\n") from None
    return Outcome()


def _shown(nic: Nic, what: str) -> Outcome:
    if what == "ring":
        receive, send = nic.link.rings
        return Outcome(
            f"Ring parameters for {nic.netdev}:\nPre-set maximums:\nRX:\t\t{LARGEST_RING}\n"
            f"RX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{LARGEST_RING}\nCurrent hardware settings:\n"
            f"RX:\t\t{receive}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{send}\n"
        )
    return Outcome(
        f"Channel parameters for {nic.netdev}:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\n"
        f"Other:\t\tn/a\nCombined:\t{MOST_CHANNELS}\nCurrent hardware settings:\nRX:\t\tn/a\n"
        f"TX:\t\tn/a\nOther:\t\tn/a\nCombined:\t{nic.link.channels}\n"
    )


def _pairs(words: list[str], known: tuple[str, ...]) -> dict[str, str]:
    """`rx off tx off` -> pairs."""
    found: dict[str, str] = {}
    for place in range(0, len(words), 2):
        if words[place] not in known or place + 1 >= len(words):
            raise refused(BAD)
        found[words[place]] = words[place + 1]
    return found


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise refused(BAD)
    return text == "on"


def _number(text: str, most: int) -> int:
    found = number(text, 0, most)
    if found is None:
        raise refused(BAD)
    return found


def _change(state: "HostState", nic: Nic, words: list[str]) -> None:
    given = _pairs(words, ("speed", "autoneg", "duplex", "advertise", "lanes"))
    negotiate = _switch(given["autoneg"]) if "autoneg" in given else None
    if "duplex" in given and given["duplex"] != "full":
        raise KernelError("EINVAL")
    speed = _number(given["speed"], 2**31) if "speed" in given else None
    link.set_speed(state, nic, speed, negotiate)


def _pause(state: "HostState", nic: Nic, words: list[str]) -> None:
    """mlx5 refuses autoneg on; a register is written, the link stays."""
    given = _pairs(words, ("autoneg", "rx", "tx"))
    wanted = {name: _switch(text) for name, text in given.items()}
    state.writing(nic.name)
    if wanted.get("autoneg"):
        raise KernelError("EINVAL")
    now = state.nic(nic.netdev) or nic
    for name, on in wanted.items():
        field = {"autoneg": "pause_autonegotiate", "rx": "pause_rx", "tx": "pause_tx"}[name]
        if getattr(now.link, field) != on:
            state.set(nic.name, f"link.{field}", on)


def _ring(state: "HostState", nic: Nic, words: list[str]) -> None:
    """The driver rounds up to a power of two."""
    given = _pairs(words, ("rx", "tx"))
    rings = list(nic.link.rings)
    for place, name in enumerate(("rx", "tx")):
        if name in given:
            size = _number(given[name], 2**31)
            if size > LARGEST_RING:
                words_of = "netlink error: requested ring size exceeds maximum\n"
                raise refused(f"{words_of}netlink error: Invalid argument\n")
            if size < SMALLEST_RING:
                raise KernelError("EINVAL")
            rings[place] = 1 << (size - 1).bit_length()
    state.set(nic.name, "link.rings", tuple(rings))


def _channels(state: "HostState", nic: Nic, words: list[str]) -> None:
    given = _pairs(words, ("combined", "rx", "tx", "other"))
    if given.keys() - {"combined"}:
        raise KernelError("EINVAL")
    count = _number(given["combined"], 2**31)
    if count > MOST_CHANNELS:
        words_of = "netlink error: requested channel count exceeds maximum\n"
        raise refused(f"{words_of}netlink error: Invalid argument\n")
    if not count:
        raise KernelError("EINVAL")
    state.set(nic.name, "link.channels", count)


def _fec(state: "HostState", nic: Nic, words: list[str]) -> None:
    if words[0] != "encoding" or len(words) < 2:
        raise refused(BAD)
    modes = [word.lower() for word in words[1:]]
    if any(mode not in FEC for mode in modes):
        raise refused(BAD)
    if len(set(modes)) > 1:
        raise KernelError("EOPNOTSUPP")
    link.set_fec(state, nic, modes[0])


_DO = {"change": _change, "pause": _pause, "ring": _ring, "channels": _channels, "fec": _fec}
