"""What mlx5 does with priorities, buffers and schedulers: en_dcbnl.c and en/port_buffer.c.

mlnx_qos and dcb both speak to this through netlink; the files of the driver package do too.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.fleet.model import Nic, is_mlx5
from lab.fleet.port_model import USUAL_DSCP, Qos
from lab.fleet.render.ethtool_netdevs import physical
from lab.writes.find import function
from lab.writes.link import bounce
from lab.writes.outcome import KernelError

if TYPE_CHECKING:
    from lab.writes.state import HostState

LONGEST_CABLE_M = 999  # MLX5E_MAX_CABLE_LENGTH less one
CELL = 128  # bytes of one cell of a receive buffer
DELETED = 0  # the priority of a code point whose entry was deleted


def port(state: "HostState", netdev: str) -> Nic:
    """A port with DCB operations; KernelError where it has none."""
    if state.netdev(netdev) is None:
        raise KernelError("ENODEV")
    model = state.model()
    for one in physical(model):
        if one.netdev == netdev and isinstance(one, Nic):
            place = function(model, one.address)
            # Virtual functions have no vport_group_manager, and so no operations.
            virtual = place is not None and (place.virtual or bool(place.physical))
            if one.link_layer == "Ethernet" and is_mlx5(one) and not virtual:
                return one
    raise KernelError("EOPNOTSUPP")


def _fresh(state: "HostState", nic: Nic) -> Nic:
    """After a second writer may have been there."""
    state.writing(nic.name)
    return next((one for one in state.model().nics if one.name == nic.name), nic)


def set_pfc(
    state: "HostState", nic: Nic, mask: Sequence[bool] | None = None, metres: int | None = None
) -> None:
    """mlx5e_dcbnl_ieee_setpfc(): the mask first, with the link; then cable and buffers."""
    nic = _fresh(state, nic)
    new = nic.qos.pfc if mask is None else tuple(mask)
    if new != nic.qos.pfc and state.set(nic.name, "qos.pfc", new):
        bounce(state, nic)
    before = nic.qos.cable_length_m
    cable = before
    if metres is not None and 0 < metres <= LONGEST_CABLE_M and metres != before:
        cable = metres
    if cable == before and new == nic.qos.pfc:
        return
    if nic.name in state.overlay.own_buffers:
        check_buffers(nic, new, cable, nic.qos.buffer_bytes, nic.qos.priority_buffer)
    if cable != before:
        state.set(nic.name, "qos.cable_length_m", cable)


def xoff_bytes(nic: Nic, metres: int) -> int:
    """(301 + 2.16 x metres) x Gb/s + 2.72 x MTU, en/port_buffer.c calculate_xoff()."""
    return int((301 + 2.16 * metres) * nic.speed / 1000 + 2.72 * nic.mtu)


def check_buffers(
    nic: Nic, pfc: Sequence[bool], metres: int, sizes: Sequence[int], places: Sequence[int]
) -> None:
    """A lossless buffer holds what still comes after a pause, one packet and one cell."""
    least = xoff_bytes(nic, metres) + nic.mtu + CELL
    for priority, on in enumerate(pfc):
        size = sizes[places[priority]] if on and sizes else least
        if on and size == 0:
            raise KernelError("EINVAL")
        if on and size < least:
            raise KernelError("ENOMEM")


def set_buffers(
    state: "HostState", nic: Nic, places: Sequence[int] | None, sizes: Sequence[int] | None
) -> None:
    """mlx5e_dcbnl_setbuffer(): from now on software sizes the buffers."""
    nic = _fresh(state, nic)
    qos = nic.qos
    if not qos.buffer_bytes:
        raise KernelError("EOPNOTSUPP")
    new_sizes = qos.buffer_bytes if sizes is None else tuple(sizes)
    new_places = qos.priority_buffer if places is None else tuple(places)
    # What the firmware made itself may be a little more than it says there is.
    if qos.buffer_max and sum(new_sizes) > max(qos.buffer_max, sum(qos.buffer_bytes)):
        raise KernelError("EINVAL")
    state.overlay.own_buffers.add(nic.name)
    check_buffers(nic, qos.pfc, qos.cable_length_m, new_sizes, new_places)
    if new_places != qos.priority_buffer:
        state.set(nic.name, "qos.priority_buffer", new_places)
    if new_sizes != qos.buffer_bytes:
        state.set(nic.name, "qos.buffer_bytes", new_sizes)


def set_app(state: "HostState", nic: Nic, dscp: int, priority: int) -> None:
    """mlx5e_dcbnl_ieee_setapp(): the first entry switches trust to dscp."""
    if not (0 <= dscp < 64 and 0 <= priority < 8):
        raise KernelError("EINVAL")
    nic = _fresh(state, nic)
    qos = nic.qos
    mapped = (*qos.dscp_priority[:dscp], priority, *qos.dscp_priority[dscp + 1 :])
    entries = qos.app_dscps if qos.trust == "dscp" else ()
    if not entries and not _put(state, nic, "trust", qos.trust, "dscp"):
        return
    _put(state, nic, "app_dscps", qos.app_dscps, tuple(sorted({*entries, dscp})))
    _put(state, nic, "dscp_priority", qos.dscp_priority, mapped)


def delete_app(state: "HostState", nic: Nic, dscp: int, priority: int) -> None:
    """mlx5e_dcbnl_ieee_delapp(): the code point then has priority 0, not its usual one."""
    nic = _fresh(state, nic)
    qos = nic.qos
    entries = qos.app_dscps if qos.trust == "dscp" else ()
    if dscp not in entries or qos.dscp_priority[dscp] != priority:
        raise KernelError("ENOENT")
    mapped = (*qos.dscp_priority[:dscp], DELETED, *qos.dscp_priority[dscp + 1 :])
    left = tuple(one for one in entries if one != dscp)
    if not _put(state, nic, "dscp_priority", qos.dscp_priority, mapped):
        return
    _put(state, nic, "app_dscps", qos.app_dscps, left)
    if not left:
        _put(state, nic, "trust", qos.trust, "pcp")


def set_trust(state: "HostState", nic: Nic, trust: str) -> None:
    """What `mlnx_qos --trust` does through the application table: all entries away, or all 64."""
    nic = _fresh(state, nic)
    qos = nic.qos
    if trust == qos.trust:
        return
    entries: tuple[int, ...] = tuple(range(64))
    mapped = USUAL_DSCP
    if trust == "pcp":
        entries = ()
        mapped = tuple(
            DELETED if dscp in qos.app_dscps else priority
            for dscp, priority in enumerate(qos.dscp_priority)
        )
    if _put(state, nic, "trust", qos.trust, trust):
        _put(state, nic, "app_dscps", qos.app_dscps, entries)
        _put(state, nic, "dscp_priority", qos.dscp_priority, mapped)


def set_trust_file(state: "HostState", nic: Nic, trust: str) -> None:
    """/sys/class/net/NETDEV/qos/trust of the driver package: the map stays."""
    nic = _fresh(state, nic)
    if trust not in ("pcp", "dscp"):
        raise KernelError("EINVAL")
    if trust != nic.qos.trust and _put(state, nic, "trust", nic.qos.trust, trust):
        entries = tuple(range(64)) if trust == "dscp" else ()
        _put(state, nic, "app_dscps", nic.qos.app_dscps, entries)


def set_ets(
    state: "HostState",
    nic: Nic,
    classes: Sequence[int] | None,
    schedulers: Sequence[str] | None,
    shares: Sequence[int] | None,
) -> None:
    """mlx5e_dcbnl_ieee_setets(): the shares of ets classes make 100."""
    nic = _fresh(state, nic)
    qos = nic.qos
    new = Qos(
        priority_class=qos.priority_class if classes is None else tuple(classes),
        class_scheduler=qos.class_scheduler if schedulers is None else tuple(schedulers),
        class_bandwidth=qos.class_bandwidth if shares is None else tuple(shares),
    )
    if any(one not in ("strict", "ets", "vendor") for one in new.class_scheduler):
        raise KernelError("EOPNOTSUPP")
    if any(not 0 <= one < 8 for one in new.priority_class):
        raise KernelError("EINVAL")
    shared = [
        share for share, how in zip(new.class_bandwidth, new.class_scheduler, strict=True)
        if how == "ets"
    ]  # fmt: skip
    if shared and sum(shared) != 100:
        raise KernelError("EINVAL")
    for name in ("priority_class", "class_scheduler", "class_bandwidth"):
        _put(state, nic, name, getattr(qos, name), getattr(new, name))


def set_rates(state: "HostState", nic: Nic, gbps: Sequence[float]) -> None:
    """A limit per class; 0 = none."""
    nic = _fresh(state, nic)
    if not nic.qos.rate_limits:
        raise KernelError("EOPNOTSUPP")
    _put(state, nic, "class_rate_gbps", nic.qos.class_rate_gbps, tuple(gbps))


def set_owner(state: "HostState", nic: Nic, owner: str) -> None:
    """Who has DCBX: os, firmware."""
    nic = _fresh(state, nic)
    _put(state, nic, "dcbx", nic.qos.dcbx, owner)


def _put(state: "HostState", nic: Nic, name: str, before: object, value: object) -> bool:
    return before == value or state.set(nic.name, f"qos.{name}", value)
