"""What a hop does to a packet, in words. Whether that is right is for the rules to say."""

from typing import NamedTuple

from railwright.fabric.ends import ClassFacts, End
from railwright.fabric.packet import Packet, class_at

UNREAD = "not read"


class Remark(NamedTuple):
    """Something that breaks the way, or that nobody can tell."""

    is_broken: bool
    what: str
    rule: str = ""  # '' = the way itself: it ends, or cannot be followed


class Side(NamedTuple):
    """What one side of a hop does: alike for all ports of which this is the same."""

    words: tuple[str, ...]
    remarks: tuple[Remark, ...]


def _count(value: int | None) -> str:
    return UNREAD if value is None else f"{value:,}"


def _link_words(end: End) -> list[str]:
    speed = f"{end.speed_mbps // 1000}G" if end.speed_mbps else f"speed {UNREAD}"
    mtu = f"MTU {end.mtu or UNREAD}"
    return [mtu, f"{speed} {end.fec or f'FEC {UNREAD}'}"]


def _switched(name: str, value: bool | None) -> str:
    return f"{name} {UNREAD}" if value is None else f"{name} {'on' if value else 'off'}"


def _sorting(end: End, packet: Packet, kind: str) -> str:
    """Which class the packet gets where it comes in."""
    trust = f"trust {end.trust or UNREAD}"
    if packet.dscp is None or end.trust in ("pcp", "port"):
        return trust
    number = class_at(end, packet.dscp)
    got = UNREAD if number is None else "none" if number == "." else f"{kind} {number}"
    return f"{trust}, DSCP {packet.dscp} -> {got}"


def entry_words(end: End, facts: ClassFacts, packet: Packet) -> tuple[str, ...]:
    """What happens where packets come into a switch."""
    words = [_sorting(end, packet, "class")]
    if isinstance(class_at(end, packet.dscp), int):
        words.append(_switched("PFC", facts.pfc))
        if facts.pfc and packet.name == "data":
            shared = " and a shared pool" if facts.has_shared_headroom else ""
            room = f"headroom {_count(facts.headroom_bytes)}{shared}"
            words.append("lossy buffer" if facts.is_lossless is False else room)
    return (*words, *_link_words(end))


def _marking(facts: ClassFacts) -> str:
    word = _switched("ECN", facts.ecn_enabled)
    if not facts.ecn_enabled:
        return word
    if facts.ecn_minimum_bytes is not None:
        word += f" from {facts.ecn_minimum_bytes:,} to {_count(facts.ecn_maximum_bytes)}"
        if facts.ecn_probability_percent is not None:
            word += f" at {facts.ecn_probability_percent} %"
    return f"{word}, not enabled" if facts.red_enabled is False else word


def exit_words(end: End, number: int | None, facts: ClassFacts, packet: Packet) -> tuple[str, ...]:
    """What happens where packets of a class go out of a switch."""
    words = []
    if number is not None:
        queue = f"queue {UNREAD if facts.queue is None else facts.queue}"
        served = f"scheduler {UNREAD}" if facts.scheduler is None else facts.scheduler
        share = f" {facts.weight}" if facts.weight else ""
        words.append(f"{queue} {served or 'without a scheduler'}{share}")
        words += [_marking(facts)] if packet.name == "data" else []
        words.append(_switched("PFC", facts.pfc))
    return (*words, *_link_words(end))


def host_words(end: End, packet: Packet) -> tuple[str, ...]:
    """A host's end."""
    words = [_sorting(end, packet, "priority")]
    number = class_at(end, packet.dscp)
    # A card picks the priority of its CNP by a setting of its own.
    if packet.name == "data" and isinstance(number, int):
        pfc = None if end.pfc_mask is None else bool(end.pfc_mask >> number & 1)
        words.append(_switched("PFC", pfc))
    return (*words, *_link_words(end))
