"""Which faults go into one fleet: each on a host of its own, at random, or on top of each other."""

import random
from collections.abc import Iterator, Sequence

from lab.fleet import HostModel
from lab.fleet.faults import Fault, Injection, all_faults, places
from lab.fleet.faults.fault import Verdict
from lab.fleet.faults.sites import host_of
from lab.harness.fault_fleet import Trial, least_hosts

# Hosts with faults in one fleet: more of them cost memory, fewer cost another run of all rules.
MOST_STRUCK = 24
OVERLAPPING_HOSTS = 2
OVERLAPPING_CARDS = 2


def placed(fault: Fault, model: str, number: int, turn: int = 0) -> Injection | None:
    """The fault on a host; None where that host has no such place."""
    found = places(host_of(model, number, fault.site), fault.at)
    return Injection(fault, found[turn % len(found)]) if found else None


def of_model(model: str, site: str = "usual") -> list[Fault]:
    """The faults that hosts of a model can have under one site file."""
    return [f for f in all_faults().values() if model in f.models and f.site == site]


# ---- each alone


def alone(model: str, faults: Sequence[Fault]) -> Iterator[Trial]:
    """Every fault on a host of its own; those that need the same site share a fleet."""
    for site in sorted({fault.site for fault in faults}):
        mine = [fault for fault in faults if fault.site == site]
        for at in range(0, len(mine), MOST_STRUCK):
            part = mine[at : at + MOST_STRUCK]
            yield Trial(f"alone {at}", model, site, tuple(_on_own_hosts(model, part)))


def _on_own_hosts(model: str, faults: Sequence[Fault]) -> Iterator[Injection]:
    number = least_hosts(model)  # those up to it stay healthy
    for turn, fault in enumerate(faults):
        found = None
        while found is None:
            number += 1
            found = placed(fault, model, number, turn)
        yield found


def packed(model: str, faults: Sequence[Fault]) -> Iterator[Trial]:
    """The same with fewer hosts: faults share one if they have nothing to do with each other."""
    for site in sorted({fault.site for fault in faults}):
        taken: set[tuple[str, str]] = set()
        chosen = []
        for fault in (fault for fault in faults if fault.site == site):
            one = next(one for one in _everywhere(fault, model) if _is_free(one, taken))
            taken |= _claims(one)
            chosen.append(one)
        yield Trial("packed", model, site, tuple(chosen))


def _everywhere(fault: Fault, model: str) -> Iterator[Injection]:
    for number in range(least_hosts(model) + 1, least_hosts(model) + 1000):
        for place in places(host_of(model, number, fault.site), fault.at):
            yield Injection(fault, place)


# ---- at random, apart from each other


def disjoint(model: str, count: int, seed: int) -> Trial:
    """`count` faults at random, of which no two speak of the same thing."""
    chance = random.Random(f"disjoint {model} {seed}")
    candidates = of_model(model)
    taken: set[tuple[str, str]] = set()
    chosen: list[Injection] = []
    while len(chosen) < count:
        number = least_hosts(model) + chance.randint(1, MOST_STRUCK)
        one = placed(chance.choice(candidates), model, number, chance.randrange(16))
        if one is not None and _is_free(one, taken) and _is_the_only_odd_one(one, chosen):
            taken |= _claims(one)
            chosen.append(one)
    return Trial(f"disjoint {seed}", model, "usual", tuple(chosen))


def _claims(one: Injection) -> set[tuple[str, str]]:
    """Everything that it speaks of: host, and what on it; '' = the host as a whole."""
    said = one.declared
    place = one.place
    own = {(place.host.name, place.name)}
    if place.nic is not None:  # the card, its function and its port are one thing
        own = {(place.host.name, name) for name in (place.nic.address, f"{place.nic.name}/1")}
    return own | {_thing(verdict) for verdict in said.fails | said.unknown | said.excused}


def _is_free(one: Injection, taken: set[tuple[str, str]]) -> bool:
    return not any(_meet(claim, other) for claim in _claims(one) for other in taken)


def _thing(verdict: Verdict) -> tuple[str, str]:
    host, _, rest = verdict[1].partition(":")
    return host, rest


def _meet(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] == other[0] and (one[1] == other[1] or "" in (one[1], other[1]))


# ---- on top of each other


def overlapping(model: str, count: int, seed: int) -> Trial:
    """Up to `count` faults on few cards of few hosts, as many as can be there at the same time."""
    chance = random.Random(f"overlapping {model} {seed}")
    candidates = of_model(model)
    chosen: list[Injection] = []
    for fault in chance.sample(candidates, len(candidates)):
        # Every second host of some models has cards that a fault can strike.
        number = least_hosts(model) + 2 * chance.randint(1, OVERLAPPING_HOSTS)
        one = placed(fault, model, number, chance.randrange(OVERLAPPING_CARDS))
        if one is None or not _is_the_only_odd_one(one, chosen):
            continue
        if all(_go_together(one, other) for other in chosen):
            chosen.append(one)
        if len(chosen) == count:
            break
    return Trial(f"overlapping {seed}", model, "usual", tuple(chosen))


def _is_the_only_odd_one(one: Injection, chosen: Sequence[Injection]) -> bool:
    """Two hosts that are odd in the same way are each other's peers, and compared after all."""
    odd = {other.place.host.name for other in chosen if other.fault.makes_odd}
    return not one.fault.makes_odd or odd <= {one.place.host.name}


def _go_together(one: Injection, other: Injection) -> bool:
    """Two faults can be on one host at once if it does not matter which came first."""
    if one.place.host.name != other.place.host.name:
        return True
    pair = (one.fault, other.fault)
    if any(a.name in b.clashes or (a.makes_odd and b.needs_peers) for a, b in (pair, pair[::-1])):
        return False
    host = one.place.host
    there = _after(host, one, other)
    return there is not None and there == _after(host, other, one)


def _after(host: HostModel, first: Injection, second: Injection) -> HostModel | None:
    """None: after the first there is nothing left that the second could strike."""
    try:
        return second.changed(first.changed(host))
    except (KeyError, StopIteration, ValueError):
        return None
