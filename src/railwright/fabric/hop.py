"""What a hop does to a packet, in words, and what of it breaks the packet's way."""

from typing import NamedTuple

from railwright.fabric.ends import ClassFacts, End
from railwright.fabric.packet import Packet, class_at

UNREAD = "not read"
# These systems reserve headroom wherever PFC is on and print none: PFC has to do (judgement).
_TELLS_HEADROOM = ("sonic",)


class Remark(NamedTuple):
    """Something that breaks the way, or that nobody can tell."""

    is_broken: bool
    what: str


class Side(NamedTuple):
    """What one side of a hop does: alike for all ports of which this is the same."""

    words: tuple[str, ...]
    remarks: tuple[Remark, ...]


def _count(value: int | None) -> str:
    return UNREAD if value is None else f"{value:,}"


def _is_meant(number: int, packet: Packet) -> bool:
    """A class that is not meant is told once; that it neither pauses nor marks follows."""
    return packet.meant_class in (None, number)


def _link_words(end: End) -> list[str]:
    speed = f"{end.speed_mbps // 1000}G" if end.speed_mbps else f"speed {UNREAD}"
    mtu = f"MTU {end.mtu or UNREAD}"
    return [mtu, f"{speed} {end.fec or f'FEC {UNREAD}'}"]


def _switched(name: str, value: bool | None) -> str:
    return f"{name} {UNREAD}" if value is None else f"{name} {'on' if value else 'off'}"


def _broken(remarks: list[Remark], what: str) -> None:
    remarks.append(Remark(is_broken=True, what=what))


def _unknown(remarks: list[Remark], what: str) -> None:
    remarks.append(Remark(is_broken=False, what=what))


def _sorting(end: End, packet: Packet, remarks: list[Remark]) -> str:
    """Which class the packet gets where it comes in."""
    if packet.dscp is None:
        return f"trust {end.trust or UNREAD}"
    number = class_at(end, packet.dscp)
    arrow = f"DSCP {packet.dscp} -> "
    if end.trust in ("pcp", "port"):
        _broken(remarks, f"trusts {end.trust}: DSCP {packet.dscp} does not count")
        return f"trust {end.trust}"
    if number is None:
        _unknown(remarks, f"which class DSCP {packet.dscp} gets was {UNREAD}")
        return f"trust {end.trust or UNREAD}, {arrow}{UNREAD}"
    if number == ".":
        _broken(remarks, f"the map has no entry for DSCP {packet.dscp}")
        return f"trust {end.trust}, {arrow}none"
    if packet.meant_class is not None and number != packet.meant_class:
        _broken(remarks, f"DSCP {packet.dscp} gets class {number}, meant is {packet.meant_class}")
    return f"trust {end.trust}, {arrow}class {number}"


def _fits(end: End, packet: Packet, remarks: list[Remark]) -> None:
    if packet.mtu is None or packet.name != "data":
        return
    if end.mtu is None:
        _unknown(remarks, f"MTU {UNREAD}")
    elif end.mtu < packet.mtu:
        _broken(remarks, f"MTU {end.mtu} is below the sender's {packet.mtu}")


def _pausing(
    end: End, number: int, facts: ClassFacts, packet: Packet, remarks: list[Remark]
) -> list[str]:
    """Whether packets that do not fit are held back in front of this port, not dropped."""
    words = [_switched("PFC", facts.pfc)]
    if packet.name == "CNP":
        if facts.pfc and _is_meant(number, packet):
            _broken(remarks, f"class {number} is lossless: CNP can be paused")
        return words
    if facts.pfc:
        room = f"headroom {_count(facts.headroom_bytes)}"
        shared = " and a shared pool" if facts.has_shared_headroom else ""
        words.append("lossy buffer" if facts.is_lossless is False else room + shared)
    if not packet.lossless or not _is_meant(number, packet):
        return words
    if facts.pfc is None:
        _unknown(remarks, f"PFC of class {number} was {UNREAD}")
    elif not facts.pfc:
        _broken(remarks, f"no PFC for class {number}: packets are dropped when buffers are full")
    elif facts.is_lossless is False:
        _broken(remarks, f"PFC is on, but the buffer of class {number} is lossy")
    elif facts.headroom_bytes == 0 and not facts.has_shared_headroom:
        _broken(remarks, f"class {number} has no headroom")
    elif facts.is_lossless is None and end.system in _TELLS_HEADROOM:
        _unknown(remarks, f"whether class {number} has headroom was {UNREAD}")
    return words


def entry_side(end: End, facts: ClassFacts, packet: Packet, before: set[int | str | None]) -> Side:
    """What happens where packets come in; `before` are the classes that the senders use."""
    remarks: list[Remark] = []
    words = [_sorting(end, packet, remarks)]
    number = class_at(end, packet.dscp)
    if isinstance(number, int):
        words += _pausing(end, number, facts, packet, remarks)
        others = sorted(one for one in before if isinstance(one, int) and one != number)
        if packet.lossless and packet.meant_class is None and facts.pfc and others:
            _broken(
                remarks,
                f"class {number} here, class {others[0]} at the sender: pauses stop another queue",
            )
    _fits(end, packet, remarks)
    return Side((*words, *_link_words(end)), tuple(remarks))


def _marking(
    end: End, number: int, facts: ClassFacts, packet: Packet, remarks: list[Remark]
) -> list[str]:
    if packet.name == "CNP":
        return []
    word = _switched("ECN", facts.ecn_enabled)
    if facts.ecn_enabled and facts.ecn_minimum_bytes is not None:
        word += f" from {facts.ecn_minimum_bytes:,} to {_count(facts.ecn_maximum_bytes)}"
        if facts.ecn_probability_percent is not None:
            word += f" at {facts.ecn_probability_percent} %"
    # Many SONiC switches mark only where the profile is also enabled for green packets.
    idle = facts.ecn_enabled and facts.red_enabled is False and end.system == "sonic"
    if packet.marked and _is_meant(number, packet):
        if facts.ecn_enabled is None:
            _unknown(remarks, f"whether the queue marks was {UNREAD}")
        elif not facts.ecn_enabled:
            _broken(remarks, "the queue does not mark: senders are not slowed down")
        elif idle:
            _broken(remarks, "the marking profile is bound, but not enabled for green packets")
    return [f"{word}, not enabled" if idle else word]


def exit_side(end: End, number: int | None, facts: ClassFacts, packet: Packet) -> Side:
    """What happens where packets of a class go out."""
    remarks: list[Remark] = []
    words = []
    if number is not None:
        queue = f"queue {UNREAD if facts.queue is None else facts.queue}"
        served = f"scheduler {UNREAD}" if facts.scheduler is None else facts.scheduler
        share = f" {facts.weight}" if facts.weight else ""
        words.append(f"{queue} {served or 'without a scheduler'}{share}")
        words += _marking(end, number, facts, packet, remarks)
        words.append(_switched("PFC", facts.pfc))
        must = packet.lossless and _is_meant(number, packet)
        if must and facts.pfc is False:
            _broken(remarks, f"no PFC for class {number}: the next hop's pauses are not obeyed")
        elif must and facts.pfc is None:
            _unknown(remarks, f"PFC of class {number} was {UNREAD}")
    _fits(end, packet, remarks)
    return Side((*words, *_link_words(end)), tuple(remarks))


def host_side(end: End, packet: Packet, *, sends: bool) -> Side:
    """A host's end. What it sends is marked by itself; it obeys pauses, or sends them."""
    remarks: list[Remark] = []
    words = [_sorting(end, packet, remarks).replace("class", "priority")]
    number = class_at(end, packet.dscp)
    if packet.name == "CNP" or not isinstance(number, int):
        # A card picks the priority of its CNP by a setting of its own.
        if packet.name == "CNP":
            remarks.clear()
        return Side((*words, *_link_words(end)), tuple(remarks))
    pfc = None if end.pfc_mask is None else bool(end.pfc_mask >> number & 1)
    words.append(_switched("PFC", pfc))
    must = packet.lossless and _is_meant(number, packet)
    if must and pfc is None:
        _unknown(remarks, f"PFC of priority {number} was {UNREAD}")
    elif must and not pfc:
        ends = "pauses are not obeyed" if sends else "it cannot pause its switch"
        _broken(remarks, f"no PFC for priority {number}: {ends}")
    if not sends:
        _fits(end, packet, remarks)
    return Side((*words, *_link_words(end)), tuple(remarks))
