"""Firmware parameters and images of a card: what waits, and what a reset puts in force."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lab.fleet.model import Nic, is_mlx5
from lab.fleet.render.mlxconfig import Parameter, parameters
from lab.writes.assemble import Lie, Nv, holder_of
from lab.writes.find import card_of, function, functions_of
from lab.writes.parameters import activation, code_of, effects, plain_name

if TYPE_CHECKING:
    from lab.writes.state import HostState

FIRMWARE_RESET, REBOOT, POWER_CYCLE = "firmware_reset", "reboot", "power_cycle"


def row_of(nic: Nic, name: str) -> Parameter | None:
    """A parameter as the card shows it."""
    return next((row for row in parameters(nic) if row.name == name), None)


def set_next(state: "HostState", nic: Nic, name: str, text: str) -> None:
    """What the card takes at its next reset."""
    if state.misbehaves("set_ignored", nic.name):
        return
    row = row_of(nic, name)
    before = row.following if row else None
    key = (holder_of(nic, name), name)
    if state.misbehaves("lying_read_back", nic.name):
        state.overlay.lies[f"nv {key[0]}", name] = Lie("mlxconfig", text)
    else:
        state.overlay.lies.pop((f"nv {key[0]}", name), None)
        now = state.overlay.nv.get(key, Nv())
        state.overlay.nv[key] = now._replace(following=text, loaded=False)
        state.tell_change(f"{nic.name} {name} next", before, text)
    state.changed()


def _takes_hold(name: str, event: str, loaded: bool) -> bool:
    needs = activation(name)
    if event == POWER_CYCLE:
        return True
    if needs == FIRMWARE_RESET:
        return event in (FIRMWARE_RESET, REBOOT)
    return needs == "reboot" and (event == REBOOT or (event == "restart" and loaded))


def activate(state: "HostState", nics: Iterable[Nic], event: str) -> None:
    """A reset of these functions' card: next becomes current where that is enough for it.

    `event`: firmware_reset, reboot (the firmware is loaded by it), restart (it is not),
    power_cycle.
    """
    for nic in nics:
        reverts = bool(waiting(nic)) and state.misbehaves("reverts_at_reset", nic.name)
        taken: dict[str, str] = {}
        for row in waiting(nic):
            key = (holder_of(nic, row.name), row.name)
            nv = state.overlay.nv.get(key, Nv())
            if reverts:
                state.overlay.nv[key] = Nv(row.current, row.current)
                state.tell_change(f"{nic.name} {row.name} next", row.following, row.current)
            elif _takes_hold(row.name, event, nv.loaded):
                state.overlay.nv[key] = Nv(row.following, row.following)
                state.tell_change(f"{nic.name} {row.name} current", row.current, row.following)
                taken[row.name] = row.following
            elif event == FIRMWARE_RESET:
                state.overlay.nv[key] = Nv(row.current, row.following, loaded=True)
        state.changed()
        for name, text in taken.items():
            _give(state, nic, name, text)
        _give_functions(state, nic, taken)
        _give_limits(state, nic, taken)
        state.changed()


def waiting(nic: Nic) -> list[Parameter]:
    if not is_mlx5(nic) or not nic.firmware_access:
        return []
    return [row for row in parameters(nic) if row.current != row.following]


def _give(state: "HostState", nic: Nic, name: str, text: str) -> None:
    """What the port starts with from now on."""
    port = plain_name(name)[1]
    ports = sorted(functions_of(state.model(), nic), key=lambda one: one.address)
    ports = [one for one in ports if one.address[:-2] == nic.address[:-2]]
    place = port if port <= len(ports) else 1
    target = ports[place - 1] if ports else nic
    for field, value in effects(name, text).items():
        inner = field.removeprefix("function.")
        if inner == "unrestricted":
            continue
        subject = state.overlay.unmoved(nic.address) if inner != field else target.name
        state.overlay.start[subject, inner] = value


def _value(nic: Nic, name: str) -> int:
    row = row_of(nic, name)
    return (code_of(row.current) or 0) if row else 0


def _give_functions(state: "HostState", nic: Nic, taken: dict[str, str]) -> None:
    if not taken.keys() & {"SRIOV_EN", "NUM_OF_VFS"}:
        return
    now = _now(state, nic)
    count = _value(now, "NUM_OF_VFS") if _value(now, "SRIOV_EN") else 0
    subject = state.overlay.unmoved(nic.address)
    state.overlay.start[subject, "virtual_functions"] = count


def _give_limits(state: "HostState", nic: Nic, taken: dict[str, str]) -> None:
    """PCI_BUS0_RESTRICT can only lower what the link could do."""
    if not any(name.startswith("PCI_BUS0_RESTRICT") for name in taken):
        return
    now, place = _now(state, nic), function(state.model(), nic.address)
    if place is None:
        return
    generation, width = place.generation_max, place.width_max
    if _value(now, "PCI_BUS0_RESTRICT"):
        generation = min(generation, _value(now, "PCI_BUS0_RESTRICT_SPEED") + 1)
        width = min(width, 1 << _value(now, "PCI_BUS0_RESTRICT_WIDTH"))
    subject = state.overlay.unmoved(nic.address)
    state.overlay.start[subject, "generation"] = generation
    state.overlay.start[subject, "width"] = width


def _now(state: "HostState", nic: Nic) -> Nic:
    return next((one for one in state.model().nics if one.name == nic.name), nic)


# ---- images


def stored(nic: Nic) -> str:
    """The version in the flash."""
    return nic.flash.stored or nic.firmware


def burn(state: "HostState", nic: Nic, version: str) -> None:
    """The image goes to the other slot of the flash; the running one goes on."""
    before = stored(nic)
    state.overlay.previous[card_of(nic)] = before
    for one in functions_of(state.model(), nic):
        state.set(one.name, "flash.stored", version, "kept")


def load(state: "HostState", nic: Nic) -> None:
    """A reset loads the image in the flash."""
    for one in functions_of(state.model(), nic):
        version = stored(one)
        if version != one.firmware:
            state.overlay.kept[one.name, "firmware"] = version
            state.overlay.kept[one.name, "flash.stored"] = ""
            state.overlay.previous.pop(card_of(nic), None)
            state.tell_change(f"{one.name} firmware", one.firmware, version)
    state.changed()
