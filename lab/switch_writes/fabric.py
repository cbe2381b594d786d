"""A fabric some of whose switches have been written to: what both ends of a cable make of it."""

from collections.abc import Mapping

from lab.fleet.fabric.model import End, Fabric
from lab.fleet.fabric.setting import Setting
from lab.switch_writes.state import SwitchState

_ANY = "auto"


def written(base: Fabric, healthy: Fabric, states: Mapping[str, SwitchState]) -> Fabric:
    """The fabric as it is; `base` has its faults, and is changed."""
    for name, state in states.items():
        at = base.named(name).number - base.hosts
        base.switches[at] = state.shown(base.switches[at])
    for name, state in states.items():
        number = base.named(name).number
        for port in state.bounces | state.down:
            link = base.by_end().get(End(number, port))
            if link is not None and (port in state.down or not _agree(base, healthy, number, port)):
                base.cut(link)
    return base


def _agree(fabric: Fabric, healthy: Fabric, number: int, port: int) -> bool:
    """Whether a link comes up, by FEC and speed; a host has what its port had at first."""
    own = fabric.switch(number).settings[port]
    other = fabric.other_end(End(number, port))
    if other is None or fabric.is_host(other.machine):
        return _fit(own, healthy.switch(number).settings[port])
    far = fabric.switch(other.machine).settings[other.port]
    return far.admin_up and _fit(own, far)


def _fit(own: Setting, far: Setting) -> bool:
    same_fec = _ANY in (own.fec_asked, far.fec_asked) or own.fec_asked == far.fec_asked
    return same_fec and own.asked_mbps == far.asked_mbps
