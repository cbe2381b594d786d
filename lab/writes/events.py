"""Resets and boots: what is lost, what is kept, what takes hold."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.fleet.model import HostModel, Nic, is_mlx5
from lab.writes import boot, nv
from lab.writes.assemble import free_bus
from lab.writes.attributes import set_functions
from lab.writes.find import card_of, function, functions_of
from lab.writes.link import back, fell
from lab.writes.outcome import KernelError

if TYPE_CHECKING:
    from lab.writes.state import HostState

# The BMC of these keeps the cards powered: a warm reboot does not load their firmware (NVIDIA's
# network-operator-docs, "Platforms with external BMC").
EXTERNAL_BMC = re.compile(r"\bDGX\b|HGX B[23]00|GB[23]00|Vera Rubin")

# Field of the model -> lost when the driver is loaded, lost when the firmware is reset; all are
# lost when the host starts again. The longest name that fits counts.
# Linux 6.12 mlx5e_ets_init(), mlx5e_trust_initialize(); fw_reset.c saves configuration space.
LOST = {
    "": (True, True),  # what belongs to the netdev or the RDMA device: they are made anew
    "qos.pfc": (False, True),
    "qos.trust": (False, True),
    "qos.dscp_priority": (False, True),
    "qos.app_dscps": (False, True),
    "qos.ecn_": (False, True),  # whether a driver load keeps these is not documented
    "qos.cnp_": (False, True),
    "qos.np_": (False, True),
    "qos.rp_": (False, True),
    "qos.buffer_bytes": (False, True),
    "qos.priority_buffer": (False, True),
    "qos.dcbx": (False, True),
    "qos.class_rate_gbps": (False, True),
    "link.pause_": (False, True),
    "link.fec_": (False, True),
    "link.autonegotiation": (False, True),
    "speed": (False, True),
    "rate": (False, True),
    # Of the PCI function: saved and restored around a reset; only a boot or another slot loses it.
    "read_request": (False, False),
    "relaxed_ordering": (False, False),
    "max_payload": (False, False),
    "acs": (False, False),
    "ats": (False, False),
}
DRIVER, FIRMWARE = 0, 1


def loads_firmware(model: HostModel) -> bool:
    """Whether a warm reboot loads the cards' firmware."""
    return EXTERNAL_BMC.search(model.server_model) is None


def is_lost(field: str, event: int) -> bool:
    """Whether a field that was written at run time goes with it."""
    return LOST[max((name for name in LOST if field.startswith(name)), key=len)][event]


def _forget(state: "HostState", nics: Sequence[Nic], event: int) -> None:
    subjects = {name for nic in nics for name in (nic.name, nic.netdev)}
    for subject, field in list(state.overlay.runtime):
        if subject in subjects and is_lost(field, event):
            del state.overlay.runtime[subject, field]
    for nic in nics:
        if event == FIRMWARE:
            state.overlay.own_buffers.discard(nic.name)
        state.overlay.flapping.discard(nic.netdev)
    for key in list(state.overlay.lies):
        if key[0] in subjects or key[0].removeprefix("nv ") in {card_of(nic) for nic in nics}:
            del state.overlay.lies[key]
    state.changed()


def driver_loaded(state: "HostState", nics: Sequence[Nic]) -> None:
    """mlx5_core was unbound and bound again."""
    _forget(state, nics, DRIVER)
    for nic in nics:
        boot.device_added(state, nic.netdev)


def firmware_reset(state: "HostState", nics: Sequence[Nic]) -> None:
    """A reset of whole cards: driver, PCI link, firmware."""
    cards = {card_of(nic): nic for nic in nics}
    for nic in cards.values():
        together = functions_of(state.model(), nic)
        for one in together:
            _without_functions(state, one)
        together = functions_of(state.model(), nic)
        were_up = {one.netdev for one in together if one.up}
        _forget(state, together, FIRMWARE)
        nv.load(state, nic)
        nv.activate(state, functions_of(state.model(), nic), nv.FIRMWARE_RESET)
        for one in functions_of(state.model(), nic):
            if one.netdev in were_up and one.up:
                fell(state, one)
                back(state, _again(state, one))
            boot.device_added(state, one.netdev)
        if state.misbehaves("address_changes", nic.name):
            _move(state, _again(state, nic))


def _again(state: "HostState", nic: Nic) -> Nic:
    return next((one for one in state.model().nics if one.name == nic.name), nic)


def _without_functions(state: "HostState", nic: Nic) -> None:
    """The tool writes 0 to sriov_numvfs before it touches the driver."""
    place = function(state.model(), nic.address)
    if place is not None and place.made_functions:
        try:
            set_functions(state, nic.address, 0)
        except KernelError:
            return


def _move(state: "HostState", nic: Nic) -> None:
    """The system gives the card another bus: the kernel finds it as a new device."""
    slot = nic.address[:-2]
    new = f"{free_bus(state.model(), nic.address)}{slot[7:]}"
    first = state.overlay.unmoved(nic.address)[:-2]
    state.overlay.moved[first] = new
    state.tell_change(f"{nic.name} address", nic.address, new + nic.address[-2:])
    for key in [key for key in state.overlay.runtime if key[0][:-2] == first]:
        del state.overlay.runtime[key]
    state.changed()


def booted(state: "HostState", *, warm: bool) -> None:
    """The host starts again."""
    if state.misbehaves("never_returns"):
        state.up = False
        return
    before = state.model().boot_id
    reloads = loads_firmware(state.model())
    event = nv.POWER_CYCLE if not warm else nv.REBOOT if reloads else "restart"
    cards = [nic for nic in state.model().nics if is_mlx5(nic)]
    state.overlay.rebooted()
    state.timers.clear()
    state.changed()
    for nic in cards:
        if not warm or reloads:
            nv.load(state, nic)
        nv.activate(state, (_again(state, nic),), event)
    if not warm:
        state.overlay.moved.clear()
    state.boots += 1
    state.changed()
    state.tell_change("boot_id", before, state.model().boot_id)
    _links_at_boot(state)
    boot.applied(state)


def _links_at_boot(state: "HostState") -> None:
    for nic in [one for one in state.model().nics if one.up]:
        if state.misbehaves("link_stays_down", nic.name):
            state.force(nic.netdev, "up", False)
        elif state.misbehaves("link_flaps", nic.name):
            state.overlay.flapping.add(nic.netdev)
            state.changed()
