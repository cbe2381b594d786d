"""The wire's side: connectors, breakout, protocol, link mode, error correction, length."""

from collections.abc import Iterator

from railwright.design.build import Build, FecSetting, Item, State
from railwright.design.host import top_gbps
from railwright.hardware.data import NOT_DOCUMENTED, NotDocumented
from railwright.hardware.link_modes import LinkMode, link_modes
from railwright.hardware.parts import Adapter, Cable, Protocol, Switch, cages

Known = bool | NotDocumented
LOSSY_BEYOND_M = 30  # optical, between an HDR and an NDR device (CX7FW)
_HDR, _NDR = 50, 100  # Gb/s of a lane
_FEC_NAMES: dict[FecSetting, tuple[str, ...]] = {
    "none": ("none",),
    "fc": ("Firecode",),
    "rs": ("RS(528,514)", "RS(544,514)"),
    "ll": ("LL RS(272,257)",),
}


def connector_items(build: Build) -> Iterator[Item]:
    """Whether the plugs go into the cages, and whether the switch can be split as the cable is."""
    cable, switch = build.cable, build.switch
    if cable is None:
        return
    yield _plug("adapter end", cable.adapter_plug, build.adapter.cage, cable)
    yield _module("power at adapter", cable.adapter_w, build.adapter.module_w, cable)
    if switch is None:
        return
    yield _plug("switch end", cable.switch_plug, switch.cage, cable)
    yield _module("power at switch", cable.switch_w, switch.module_w, cable)
    yield _breakout(cable, switch)


def _plug(what: str, plug: str, cage_name: str | NotDocumented, cable: Cable) -> Item:
    if isinstance(cage_name, NotDocumented):
        why = "what cages the switch has was not found"
        return Item(what, "not documented", why, sources=cable.source)
    cage = cages()[cage_name]
    sources = (*cage.source, *cable.source)
    if isinstance(cage.accepts, NotDocumented):
        why = f"which plugs go into {cage.name} was not found"
        return Item(what, "not documented", why, sources=sources)
    if plug in cage.accepts:
        return Item(what, "works", f"plug {plug}, cage {cage.name}", sources=sources)
    why = f"{plug} is not for {cage.name}, which takes {' or '.join(cage.accepts)}"
    return Item(what, "does not", why, sources=sources)


def _module(
    what: str, draws: float | NotDocumented, feeds: float | NotDocumented, cable: Cable
) -> Item:
    if cable.kind == "passive copper":
        return Item(what, "works", "passive copper draws next to nothing", sources=cable.source)
    if isinstance(draws, NotDocumented):
        return Item(
            what, "not documented", "what the plug draws was not found", sources=cable.source
        )
    if isinstance(feeds, NotDocumented):
        why = f"the plug draws {draws:g} W; what the cage can feed was not found"
        return Item(what, "not documented", why, sources=cable.source)
    why = f"the plug draws {draws:g} W, the cage feeds {feeds:g} W"
    return Item(what, "works" if draws <= feeds else "does not", why, sources=cable.source)


def _breakout(cable: Cable, switch: Switch) -> Item:
    sources = (*cable.source, *switch.source)
    whole = cable.legs == 1
    why = "the cable is not split" if whole else f"the cable splits into {cable.legs}"
    if isinstance(switch.splits, NotDocumented):
        if whole:
            return Item("breakout", "works", why, sources=sources)
        why += "; how a port of the switch can be split was not found"
        return Item("breakout", "not documented", why, sources=sources)
    if cable.legs in switch.splits:
        return Item(
            "breakout", "works", why if whole else f"{why}, as the switch can", sources=sources
        )
    why += f"; a cage of the switch is {' or '.join(map(str, switch.splits))} ports"
    return Item("breakout", "does not", why, sources=sources)


def spoken(build: Build) -> tuple[Protocol, ...]:
    """What all parts have in common."""
    asked = build.adapter.protocols if build.protocol is None else (build.protocol,)
    return tuple(
        one
        for one in build.adapter.protocols
        if one in asked
        and (build.cable is None or one in build.cable.protocols)
        and (build.switch is None or one == build.switch.protocol)
    )


def protocol_items(build: Build) -> Iterator[Item]:
    """InfiniBand or Ethernet: what the adapter, the cable and the switch have in common."""
    if build.cable is None and build.switch is None and build.protocol is None:
        return
    adapter, common = build.adapter, spoken(build)
    said = [f"the adapter speaks {' and '.join(adapter.protocols)}"]
    if build.protocol:
        said.append(f"{build.protocol} is wanted")
    if build.cable:
        said.append(f"the cable is for {' and '.join(build.cable.protocols)}")
    if build.switch:
        said.append(f"the switch is {build.switch.protocol}")
    sources = adapter.source + (build.switch.source if build.switch else ())
    if not common:
        yield Item("protocol", "does not", ", ".join(said), sources=sources)
        return
    why = f"{' or '.join(common)}: {', '.join(said)}"
    if len(adapter.protocols) > len(common):
        ports = ", ".join(f"LINK_TYPE_P{port + 1}" for port in range(adapter.ports))
        why += f"; set {ports} where it is not so yet"
    yield Item("protocol", "works", why, sources=sources)


def _all(*conditions: Known) -> Known:
    """Three-valued and: what is known to be false settles it."""
    if any(one is False for one in conditions):
        return False
    return NOT_DOCUMENTED if any(one is NOT_DOCUMENTED for one in conditions) else True


def _adapter_runs(adapter: Adapter, mode: LinkMode) -> Known:
    if mode.protocol == "InfiniBand":
        return mode.name in adapter.infiniband
    if mode.gbps not in adapter.ethernet_gbps:
        return False
    if isinstance(adapter.lanes, NotDocumented) or isinstance(adapter.lane_gbps, NotDocumented):
        return NOT_DOCUMENTED
    return mode.lanes <= adapter.lanes and mode.lane_gbps in adapter.lane_gbps


def _cable_runs(cable: Cable, mode: LinkMode) -> Known:
    if mode.lanes > cable.lanes or mode.lane_gbps > max(cable.lane_gbps):
        return False
    # Whether a cable made for faster lanes also runs slower ones is said of a few alone.
    return mode.lane_gbps in cable.lane_gbps or NOT_DOCUMENTED


def _switch_runs(switch: Switch, legs: int, mode: LinkMode) -> Known:
    if mode.protocol != switch.protocol:
        return False
    conditions: list[Known] = []
    conditions.append(
        NOT_DOCUMENTED
        if isinstance(switch.lanes, NotDocumented)
        else mode.lanes <= switch.lanes // legs
    )
    if mode.protocol == "InfiniBand":
        known = switch.infiniband
        if isinstance(known, NotDocumented) or mode.name in switch.unsure:
            conditions.append(NOT_DOCUMENTED)
        else:
            conditions.append(mode.name in known)
    else:
        conditions.append(mode.gbps in switch.ethernet_gbps)
        rates = switch.lane_gbps
        conditions.append(
            NOT_DOCUMENTED if isinstance(rates, NotDocumented) else mode.lane_gbps in rates
        )
    return _all(*conditions)


def runs(build: Build, mode: LinkMode) -> Known:
    """Whether the adapter, the cable and the switch can all run a mode."""
    own = _adapter_runs(build.adapter, mode)
    if own is False:
        return False
    legs = build.cable.legs if build.cable else 1
    return _all(
        own,
        True if build.cable is None else _cable_runs(build.cable, mode),
        True if build.switch is None else _switch_runs(build.switch, legs, mode),
    )


def _order(mode: LinkMode) -> tuple[float, float]:
    return mode.gbps, mode.lane_gbps  # of two ways to one speed, the one with fewer lanes


def agreed(
    build: Build, protocols: tuple[Protocol, ...]
) -> tuple[LinkMode | None, LinkMode | None]:
    """The fastest mode that all parts can run, and the fastest that they may be able to."""
    best: dict[Known, LinkMode] = {}
    for mode in link_modes().values():
        if mode.protocol in protocols:
            known = runs(build, mode)
            if known not in best or _order(mode) > _order(best[known]):
                best[known] = mode
    return best.get(True), best.get(NOT_DOCUMENTED)


def link_items(build: Build) -> Iterator[Item]:
    """The mode that the link comes up in, and its error correction."""
    if build.cable is None and build.switch is None:
        return
    common = spoken(build)
    if not common:
        return  # said under "protocol"
    sure, maybe = agreed(build, common)
    yield _link(build, sure, maybe, top_gbps(build.adapter, common))
    if sure is not None:
        yield _fec(build, sure)


def _link(build: Build, sure: LinkMode | None, maybe: LinkMode | None, top: float) -> Item:
    sources = build.adapter.source
    for part in (build.cable, build.switch):
        sources += part.source if part else ()
    if sure is not None and sure.gbps >= top:
        return Item("link", "works", f"{_shown(sure)}", sources=sources)
    if maybe is not None and (sure is None or maybe.gbps > sure.gbps):
        known = f"only {sure.name} is sure" if sure else "none is sure"
        why = f"whether all parts run {maybe.name} was not found; {known}"
        return Item("link", "not documented", why, sources=sources)
    if sure is None:
        return Item(
            "link", "does not", f"no mode that all parts run{_lanes(build)}", sources=sources
        )
    why = f"{_shown(sure)}; the adapter could do {top:g} Gb/s{_lanes(build)}"
    return Item("link", "limited", why, sure.gbps * build.ports_used, sources)


def _shown(mode: LinkMode) -> str:
    plural = "s" if mode.lanes > 1 else ""
    return f"{mode.name}: {mode.lanes} lane{plural} of {mode.lane_gbps:g} Gb/s {mode.modulation}"


def _lanes(build: Build) -> str:
    cable = build.cable
    if cable is None:
        return ""
    rates = " or ".join(f"{rate:g}" for rate in cable.lane_gbps)
    return f"; a leg of the cable has {cable.lanes} x {rates} Gb/s"


def _fec(build: Build, mode: LinkMode) -> Item:
    if mode.protocol == "InfiniBand":
        why = "InfiniBand ports agree on it by themselves"
        return Item("error correction", "works", why, sources=("STANDARD", *mode.source))
    if isinstance(mode.fec, NotDocumented):
        why = f"which one {mode.name} takes was not found"
        return Item("error correction", "not documented", why, sources=mode.source)
    for end, setting in (("adapter", build.adapter_fec), ("switch", build.switch_fec)):
        if setting != "auto" and not set(_FEC_NAMES[setting]) & set(mode.fec):
            why = f"the {end} is set to {setting}; {mode.name} takes {' or '.join(mode.fec)}"
            return Item("error correction", "does not", why, sources=mode.source)
    both = {build.adapter_fec, build.switch_fec}
    if "auto" not in both and len(both) > 1:
        why = f"the adapter is set to {build.adapter_fec}, the switch to {build.switch_fec}"
        return Item("error correction", "does not", why, sources=mode.source)
    must = "must run" if mode.fec_required is True else "may run"
    why = f"both ends {must} {' or '.join(mode.fec)}, the same; left alone they agree on it"
    return Item("error correction", "works", why, sources=mode.source)


def length_items(build: Build) -> Iterator[Item]:
    """Whether the cable is sold that long, and whether that length costs something."""
    cable, length = build.cable, build.length_m
    if cable is None:
        return
    if length is not None:
        yield _reach(cable, length)
    if cable.kind != "optical" or build.switch is None or not _hdr_meets_ndr(build):
        return
    known = f"optical links between HDR and NDR devices lose bandwidth beyond {LOSSY_BEYOND_M} m"
    if length is None:
        yield Item("HDR to NDR", "not documented", f"{known}; say the length", sources=("CX7FW",))
    elif length > LOSSY_BEYOND_M:
        why = f"{known}; how much is not documented"
        yield Item("HDR to NDR", "limited", why, sources=("CX7FW",))


def _reach(cable: Cable, length: float) -> Item:
    if isinstance(cable.reach_m, NotDocumented):
        return Item(
            "length", "not documented", "how long it may be was not found", sources=cable.source
        )
    why = f"{length:g} m; it reaches {cable.reach_m:g} m"
    state: State = "works" if length <= cable.reach_m else "does not"
    return Item("length", state, why, sources=cable.source)


def _hdr_meets_ndr(build: Build) -> bool:
    switch = build.switch
    if switch is None or spoken(build) != ("InfiniBand",):
        return False
    if isinstance(switch.infiniband, NotDocumented):
        return False
    tops = [
        max(link_modes()[name].lane_gbps for name in names)
        for names in (build.adapter.infiniband, switch.infiniband)
    ]
    return sorted(tops) == [_HDR, _NDR]
