"""The host's side: PCIe, Socket Direct, power, air."""

from collections.abc import Iterator

from railwright.design.build import Build, Item, Slot, State
from railwright.hardware import pcie
from railwright.hardware.data import NotDocumented
from railwright.hardware.link_modes import link_modes
from railwright.hardware.parts import Adapter, Protocol
from railwright.hardware.pcie import Generation
from railwright.predict.ceiling import Port, basis, from_memory, into_memory, line
from railwright.predict.ceiling import Slot as PcieLink

WIDTHS = (1, 2, 4, 8, 16)


def generations() -> dict[int, Generation]:
    """PCIe generations by their number."""
    return dict(enumerate(pcie.generations().values(), start=1))


def payload_gbps(generation: int, width: int, max_payload: int) -> float:
    """Gb/s of data over a PCIe link, in the direction that carries less."""
    carried = line(generations()[generation].gts, width)
    ways = (into_memory(carried, max_payload), from_memory(carried, max_payload))
    return min(one for one in ways if one is not None)


def _basis(links: list[tuple[int, int]]) -> str:
    """Whether such links were measured by anybody: the formula alone is only calculated."""
    nothing = Port(None, None, "RoCE over IPv4")
    found = {
        basis(nothing, PcieLink(generations()[generation].gts, width, None), "PCIe")
        for generation, width in links
    }
    return "validated" if found == {"validated"} else "calculated, unvalidated"


def top_gbps(adapter: Adapter, protocols: tuple[Protocol, ...]) -> float:
    """The fastest that one of its ports can be, in any of the protocols; 0 = none of them."""
    rates = list(adapter.ethernet_gbps) if "Ethernet" in protocols else []
    if "InfiniBand" in protocols:
        rates += [link_modes()[name].gbps for name in adapter.infiniband]
    return max(rates, default=0)


def slot_items(build: Build) -> Iterator[Item]:
    """Whether the card goes into the slot, and what the slot carries."""
    slot, adapter = build.slot, build.adapter
    if slot is None:
        return
    if slot.form != adapter.form:
        why = f"a card for {adapter.form} does not go into a slot for {slot.form}"
        yield Item("slot", "does not", why, sources=adapter.source)
        return
    if len(slot.links) > 1:
        yield _second(build)
        if adapter.second == "none":
            return
    yield _pcie(build, slot)


def card_items(build: Build) -> Iterator[Item]:
    """What the card carries in all, where its maker gives less than the sum of its ports."""
    adapter, count = build.adapter, build.ports_used
    rate = top_gbps(adapter, adapter.protocols)
    asked = build.slot or build.cable or build.switch
    if asked and adapter.most_gbps and count * rate > adapter.most_gbps:
        why = f"{count} ports at {rate:g} Gb/s, and {adapter.most_gbps:g} in all by its maker"
        yield Item("card", "limited", why, adapter.most_gbps, adapter.source)


_SECOND = {
    "none": "the card has one PCIe interface; nothing can be put on a second link",
    "same slot": "the card has two interfaces in one slot: the server's BIOS must split its lanes",
    "extension": "the card has a second interface, for a harness or a slot of its own",
}


def _second(build: Build) -> Item:
    adapter = build.adapter
    state: State = "does not" if adapter.second == "none" else "works"
    return Item("second link", state, _SECOND[adapter.second], sources=adapter.source)


def _interfaces(adapter: Adapter) -> list[tuple[int | NotDocumented, int]]:
    own = [(adapter.pcie_generation, adapter.pcie_width)]
    if adapter.second != "none":
        own.append((adapter.second_generation, adapter.second_width))
    return own


def _links(build: Build, slot: Slot) -> list[tuple[int | NotDocumented, int]]:
    """The links as they come up: the slower and the narrower of both sides."""
    pairs = zip(slot.links, _interfaces(build.adapter), strict=False)
    return [
        (own if isinstance(own, NotDocumented) else min(generation, own), min(width, own_width))
        for (generation, width), (own, own_width) in pairs
    ]


def _pcie(build: Build, slot: Slot) -> Item:
    adapter, links = build.adapter, _links(build, slot)
    known = [(one, width) for one, width in links if not isinstance(one, NotDocumented)]
    capacity = sum(payload_gbps(*link, build.max_payload) for link in known)
    protocols = adapter.protocols if build.protocol is None else (build.protocol,)
    rate, count = top_gbps(adapter, protocols), build.ports_used
    need = f"{count} ports at {rate:g} Gb/s need {count * rate:g}"
    carry = " and ".join(f"Gen{one} x{width}" for one, width in known)
    why = need if count > 1 else f"needs {rate:g} Gb/s"
    if known:
        together = " together" if len(known) > 1 else ""
        why += f"; {carry}{together}: {capacity:.1f} Gb/s in packets of {build.max_payload} bytes"
        why += f" ({_basis(known)})"
    sources = ("CALC", "PCIEMODEL", *adapter.source)
    if capacity >= count * rate:
        return Item("PCIe", "works", why, sources=sources)
    if len(known) < len(links):
        why += "; which generation the card's interface has was not found"
        return Item("PCIe", "not documented", why, sources=sources)
    if count > 1 and capacity >= rate:
        why += f", enough for {int(capacity // rate)} of them"
    if len(slot.links) == 1:
        why += _UNUSED[adapter.second]
    return Item("PCIe", "limited", why, capacity, sources)


_UNUSED = {
    "none": "",
    "same slot": "; half of the card's lanes is unused unless the slot is split into two links",
    "extension": "; the card's second interface is not used",
}


def server_items(build: Build) -> Iterator[Item]:
    """Power and air, where the server's side was said; a cable that the card cannot do without."""
    adapter, server = build.adapter, build.server
    if server.slot_power_w is not None:
        yield _power(build, server.slot_power_w)
    if server.airflow_lfm is not None:
        yield _airflow(adapter, server.airflow_lfm)
    if server.external_power is not None or adapter.external_power == "8-pin ATX":
        yield _external_power(build)


def _power(build: Build, slot_w: float) -> Item:
    adapter = build.adapter
    if isinstance(adapter.power_w, NotDocumented):
        why = f"what the card draws was not found; the slot gives {slot_w:g} W"
        return Item("power", "not documented", why, sources=adapter.source)
    if adapter.power_w > slot_w:
        why = f"the card draws {adapter.power_w:g} W, the slot gives {slot_w:g} W"
        return Item("power", "does not", why, sources=adapter.source)
    if build.cable is None:
        why = f"the card draws {adapter.power_w:g} W (typical) and its plugs what no cable says"
        return Item("power", "works", f"{why}; the slot gives {slot_w:g} W", sources=adapter.source)
    module = build.cable.adapter_w
    if isinstance(module, NotDocumented):
        why = f"the card draws {adapter.power_w:g} W; what the cable's plugs draw was not found"
        return Item("power", "not documented", why, sources=adapter.source)
    whole = adapter.power_w + build.ports_used * module
    why = f"card and plugs draw {whole:.1f} W (typical), the slot gives {slot_w:g} W"
    return Item("power", "works" if whole <= slot_w else "does not", why, sources=adapter.source)


def _airflow(adapter: Adapter, given: float) -> Item:
    wanted = adapter.airflow_lfm
    if isinstance(wanted, NotDocumented):
        why = f"what air the card wants was not found; the server gives {given:g} LFM"
        return Item("airflow", "not documented", why, sources=adapter.source)
    why = f"the card wants {wanted:g} LFM, the server gives {given:g}"
    return Item("airflow", "works" if given >= wanted else "does not", why, sources=adapter.source)


def _external_power(build: Build) -> Item:
    needed, given = build.adapter.external_power, build.server.external_power
    state: State = "not documented"
    if isinstance(needed, NotDocumented):
        why = "whether the card needs a power cable was not found"
    elif needed == "none":
        state, why = "works", "the card needs none"
    elif given is None:
        why = f"the card does not start without {needed}; what the server has was not said"
    elif given == needed:
        state, why = "works", f"{needed}, which the server has"
    else:
        state, why = "does not", f"the card does not start without {needed}"
    return Item("power cable", state, why, sources=build.adapter.source)
