"""Where a finding is, in words: host, device, PCI function, rail, link partner, its detail."""

import re
from typing import NamedTuple

from railwright.text import plain


class Place(NamedTuple):
    """One row of `finding_place`; NULL where a thing is not known, or more than one would fit."""

    device: str | None
    port: int | None
    netdev: str | None
    pci: str | None
    switch_port: str | None
    part: str | None  # what of the subject is no device: a parameter, a priority, a GID's index
    rail: int | None
    link_partner: str | None
    partner_device: str | None


COLUMNS = Place._fields
_PARTS = {"gid": "GID ", "priority": "priority ", "gpu_nic": "with GPU ", "parameter": ""}


def place_words(target: str, subject: str, kind: str, place: Place) -> str:
    """`ember-h007 mlx5_1 (enp41s0np0, 0000:29:00.0), rail 1, ember-leaf02:etp4a`."""
    port = f"/{place.port}" if place.port is not None and place.port > 1 else ""
    device = f"{place.device}{port}" if place.device else ""
    names = [one for one in (place.switch_port, device, place.netdev, place.pci) if one]
    if not names:
        return plain(subject)
    what = f"GPU {names[0]}" if kind == "gpu" else names[0]
    aside = f" ({', '.join(names[1:])})" if names[1:] else ""
    part = f" {_PARTS.get(kind, '')}{place.part}" if place.part else ""
    more = [f"{target} {what}{aside}{part}"]
    if place.rail is not None:
        more.append(f"rail {place.rail}")
    if place.link_partner:
        partner = f" ({place.partner_device})" if place.partner_device else ""
        more.append(f"{place.link_partner}{partner}")
    return plain(", ".join(more))


def aside(detail: str | None, *beside: str) -> str:
    """What a finding's detail adds to what stands beside it: a port's network device is there."""
    shown = " ".join(beside)
    clauses = (
        ", ".join(word for word in clause.split(", ") if not _stands_in(word, shown))
        for clause in (detail or "").split("; ")
    )
    return plain("; ".join(filter(None, clauses)))


def _stands_in(word: str, shown: str) -> bool:
    """Whether a name is there as a whole: leaf1 in `leaf1:swp2`, not in `leaf12:swp2`."""
    name = re.escape(re.sub(r"^(?:link partner|(?:bottleneck )?at) ", "", word))
    return bool(re.search(rf"(?<![\w.-]){name}(?![\w./-])", shown))
