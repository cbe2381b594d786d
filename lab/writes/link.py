"""The link of a port: what makes it go down and train again, and what comes of that."""

from typing import TYPE_CHECKING

from lab.fleet.model import Nic, carrier_changes
from lab.fleet.render.ethtool_link import MODES
from lab.fleet.render.ethtool_netdevs import card_speed, lane_gigabits
from lab.writes.outcome import KernelError

if TYPE_CHECKING:
    from lab.writes.state import HostState

# As mlx5 names the rate of a port: Mb/s -> text of /sys/class/infiniband/*/ports/1/rate.
RATES = {
    10_000: "10 Gb/sec (1X QDR)", 25_000: "25 Gb/sec (1X EDR)", 40_000: "40 Gb/sec (4X QDR)",
    50_000: "50 Gb/sec (1X HDR)", 100_000: "100 Gb/sec (4X EDR)", 200_000: "200 Gb/sec (4X HDR)",
    400_000: "400 Gb/sec (4X NDR)", 800_000: "800 Gb/sec (4X XDR)",
}  # fmt: skip


def bounce(state: "HostState", nic: Nic) -> None:
    """mlx5_toggle_port_link(): administratively down and up in the firmware."""
    if nic.up:
        fell(state, nic)
        back(state, nic)


def fell(state: "HostState", nic: Nic) -> None:
    """The carrier went away."""
    state.force(nic.netdev, "carrier_changes", carrier_changes(nic) + 1)
    state.force(nic.name, "link.link_down", nic.link.link_down + 1)
    downed = nic.counters.get("link_downed", 0) + 1
    state.force(nic.name, "counters", {**nic.counters, "link_downed": downed})
    state.overlay.messages.append(_message(state, nic, "Link down"))


def back(state: "HostState", nic: Nic) -> None:
    """The carrier comes back, unless it was ordered otherwise."""
    now = state.nic(nic.netdev) or nic
    if state.misbehaves("link_stays_down", nic.name):
        state.force(nic.netdev, "up", False)
        return
    state.force(nic.netdev, "carrier_changes", carrier_changes(now) + 1)
    state.force(nic.netdev, "up", True)
    state.overlay.messages.append(_message(state, nic, "Link up"))
    if state.misbehaves("link_flaps", nic.name):
        state.overlay.flapping.add(nic.netdev)


def _message(state: "HostState", nic: Nic, words: str) -> str:
    seconds = state.model().uptime_s + len(state.overlay.messages) / 1000
    return f"[{seconds:12.6f}] mlx5_core {nic.address} {nic.netdev}: {words}"


def flap(state: "HostState", netdev: str) -> bool:
    """Once down and up again of a link that flaps."""
    nic = state.nic(netdev)
    if nic is None or not nic.up:
        return False
    fell(state, nic)
    now = state.nic(netdev) or nic
    state.force(netdev, "carrier_changes", carrier_changes(now) + 1)
    return True


def switch(state: "HostState", netdev: str, *, on: bool) -> None:
    """`ip link set up` and `down`."""
    known = state.netdev(netdev)
    if known is None:
        raise KernelError("ENODEV")
    nic = state.nic(netdev)
    if not state.set(netdev, "enabled", on):
        return
    base_up = bool(state.base_value(netdev, "up"))
    if not on:
        if known.up:
            if nic is not None:
                fell(state, nic)
            else:
                state.force(netdev, "carrier_changes", carrier_changes(known) + 1)
        state.force(netdev, "up", False)
        if nic is not None:
            state.force(nic.name, "link.closed", True)
        return
    was_closed = nic is not None and (nic.link.closed or not known.enabled)
    if nic is not None and was_closed:
        state.force(nic.name, "link.closed", False)
    by_command = bool(state.base_value(nic.name, "link.closed")) if nic is not None else False
    if not known.up and (base_up or by_command) and (was_closed or not known.enabled):
        if nic is not None:
            back(state, nic)
        else:
            state.force(netdev, "carrier_changes", carrier_changes(known) + 1)
            state.force(netdev, "up", True)


def set_fec(state: "HostState", nic: Nic, mode: str) -> None:
    """mlx5e_set_fecparam(): toggles the link also where the value is the same."""
    state.writing(nic.netdev)
    nic = state.nic(nic.netdev) or nic
    pam4 = nic.speed // 1000 // max(nic.link.lanes, 1) >= 50
    active = {"auto": "RS" if nic.speed >= 100_000 or pam4 else "Off", "rs": "RS",
              "baser": "BaseR", "llrs": "LLRS", "off": "Off"}  # fmt: skip
    if pam4 and mode in ("off", "baser"):
        raise KernelError("EOPNOTSUPP")
    words = {"auto": "Auto", "rs": "RS", "baser": "BaseR", "llrs": "LLRS", "off": "Off"}
    if state.set(nic.name, "link.fec_configured", (words[mode],)):
        state.set(nic.name, "link.fec_active", active[mode])
    bounce(state, nic)


def speeds(nic: Nic) -> set[int]:
    """Mb/s that the card can be told."""
    able, lane = card_speed(nic), lane_gigabits(nic)
    return {speed for _, speed, per_lane in MODES if speed <= able and per_lane <= lane}


def set_speed(state: "HostState", nic: Nic, speed: int | None, negotiate: bool | None) -> None:
    """mlx5e_ethtool_set_link_ksettings(): toggles only where something changes."""
    state.writing(nic.netdev)
    nic = state.nic(nic.netdev) or nic
    wanted = nic.link.autonegotiation if negotiate is None else negotiate
    if speed is not None and speed not in speeds(nic):
        raise KernelError("EINVAL")
    usual = state.base_value(nic.name, "speed") or nic.speed
    new = speed if speed is not None else (usual if wanted else nic.speed)
    if (new, wanted) == (nic.speed, nic.link.autonegotiation):
        return
    if not state.set(nic.name, "link.autonegotiation", wanted):
        return
    state.set(nic.netdev, "speed", new)
    rate = state.base_value(nic.name, "rate") if new == usual else RATES.get(new, nic.rate)
    state.force(nic.name, "rate", rate)
    bounce(state, nic)
