"""What was written to a host, and the host that comes of it."""

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from lab.fleet.model import Function, HostModel, Nic, is_mlx5, with_faults
from lab.fleet.pci_change import changed
from lab.fleet.render.mlxconfig import ADVANCED, parameters
from lab.fleet.software import MODULE_NAMES
from lab.fleet.system_model import Kernel, Module, Service
from lab.writes.find import card_of, value_of
from lab.writes.parameters import is_of_function, table

Key = tuple[str, str]  # subject and field, as with_faults has them
ARP = "net.ipv4.conf."


class Nv(NamedTuple):
    """A firmware parameter that was written; None = as the host under the writes has it."""

    current: str | None = None
    following: str | None = None
    loaded: bool = False  # the firmware was reset since; a parameter that wants a boot waits on


class Lie(NamedTuple):
    """What a tool says, and nobody else."""

    program: str
    value: Any


class Restarts(Protocol):
    """What the state knows beside the overlay."""

    boots: int
    uptime_s: float
    services: dict[str, Service]


@dataclass
class Overlay:
    """Everything that was written."""

    runtime: dict[Key, Any] = field(default_factory=dict)  # gone at a boot
    start: dict[Key, Any] = field(default_factory=dict)  # what firmware parameters in force give
    kept: dict[Key, Any] = field(default_factory=dict)  # in the flash
    nv: dict[Key, Nv] = field(default_factory=dict)  # (card or function, parameter)
    previous: dict[str, str] = field(default_factory=dict)  # card -> the image in the other slot
    # Path -> None = removed, bytes, or a text for a symbolic link's target.
    files: dict[str, bytes | str | None] = field(default_factory=dict)
    false_files: dict[str, bytes] = field(default_factory=dict)  # attributes that lie
    modules: dict[str, bool] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    functions_made: dict[str, int] = field(default_factory=dict)  # PF -> virtual functions
    messages: list[str] = field(default_factory=list)
    lies: dict[Key, Lie] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)  # slot -> slot: 0000:18:00 -> 0000:19:00
    flapping: set[str] = field(default_factory=set)  # netdevs
    own_buffers: set[str] = field(default_factory=set)  # RDMA devices whose buffers software sizes

    def put(self, layer: str, key: Key, value: Any) -> None:
        """A field of the model."""
        values = self.runtime if layer == "runtime" else self.kept
        values[self.unmoved(key[0]), key[1]] = value

    def lie(self, key: Key, program: str, value: Any) -> None:
        """One program shows it so."""
        self.lies[self.unmoved(key[0]), key[1]] = Lie(program, value)

    def unmoved(self, subject: str) -> str:
        """A PCI address as it was at first."""
        for first, now in self.moved.items():
            if subject[:-2] == now:
                return first + subject[-2:]
        return subject

    def forget_changed(self, old: HostModel, new: HostModel) -> None:
        """Writes to what changes below them count no more."""
        for values in (self.runtime, self.start, self.kept):
            for key in list(values):
                if value_of(old, *key) != value_of(new, *key):
                    del values[key]
        was, now = _parameters(old), _parameters(new)
        for holder, name in list(self.nv):
            if was.get((holder, name)) != now.get((holder, name)):
                del self.nv[holder, name]
        settings = dict(old.kernel.sysctls), dict(new.kernel.sysctls)
        for name in [n for n in self.sysctls if settings[0].get(n) != settings[1].get(n)]:
            del self.sysctls[name]
        loaded = _loaded(old), _loaded(new)
        for name in [n for n in self.modules if (n in loaded[0]) != (n in loaded[1])]:
            del self.modules[name]

    def rebooted(self) -> None:
        """What a restart of the kernel forgets."""
        for values in (self.runtime, self.modules, self.sysctls, self.functions_made, self.lies):
            values.clear()
        self.false_files.clear()
        self.messages.clear()
        self.flapping.clear()
        self.own_buffers.clear()


def holder_of(nic: Nic, name: str) -> str:
    """Whose a firmware parameter is: the card's, or the function's that it was written through."""
    return nic.name if is_of_function(name) else card_of(nic)


def _parameters(model: HostModel) -> dict[Key, tuple[str, str]]:
    return {
        (holder_of(nic, name), name): pair
        for nic in model.nics
        for name, pair in nic.parameters.items()
    }


def _loaded(model: HostModel) -> set[str]:
    return {*model.modules, *(module.name for module in model.kernel.modules)}


# ---- the host that comes of it


def assembled(base: HostModel, overlay: Overlay, state: Restarts, program: str = "") -> HostModel:
    """The host with everything that was written; with `program`, as that one tells it."""
    values = {**overlay.start, **overlay.kept, **overlay.runtime}
    lies = {key: lie.value for key, lie in overlay.lies.items() if lie.program == program}
    values |= {key: value for key, value in lies.items() if not key[0].startswith("nv ")}
    there = {key: value for key, value in values.items() if _is_there(base, key)}
    host = with_faults(base, there) if there else base
    if overlay.nv or lies:
        nics = tuple(_with_parameters(nic, overlay, lies) for nic in host.nics)
        host = replace(host, nics=nics)
    host = _with_functions(host, overlay.functions_made)
    kernel = _with_kernel(host, overlay, state)
    if kernel != host.kernel:
        host = replace(host, kernel=kernel)
    if overlay.modules:
        host = _with_modules(host, overlay.modules)
    host = _with_arp(host, overlay.sysctls)
    if state.boots:
        boot_id = uuid.uuid5(uuid.UUID(host.boot_id), str(state.boots))
        host = replace(host, boot_id=str(boot_id), uptime_s=state.uptime_s)
    if overlay.files or overlay.false_files:
        host = replace(host, files={**host.files, **overlay.files, **overlay.false_files})
    return _moved(host, overlay.moved) if overlay.moved else host


def _is_there(base: HostModel, key: Key) -> bool:
    """A card that a fault took away has no fields to write."""
    outer = key[1].partition(".")[0]
    return value_of(base, key[0], outer) is not None or _optional(base, key)


def _optional(base: HostModel, key: Key) -> bool:
    """Fields that may be None: their record has to be there."""
    names = {"acs": "address", "ats": "address", "carrier_changes": "netdev", "rdma_up": "name"}
    return key[1] in names and value_of(base, key[0], names[key[1]]) is not None


def _with_parameters(nic: Nic, overlay: Overlay, lies: Mapping[Key, Any]) -> Nic:
    if not is_mlx5(nic):
        return nic
    holders = {card_of(nic), nic.name}
    written = {n: nv for (h, n), nv in overlay.nv.items() if h in holders}
    false = {n: v for (h, n), v in lies.items() if h.removeprefix("nv ") in holders}
    if not written and not false:
        return nic
    found = dict(nic.parameters)
    advanced = written.get("ADVANCED_PCI_SETTINGS", Nv()).current
    if advanced is not None:
        shown = {row.name for row in parameters(nic)}
        for name in table()["hidden"]:
            if advanced == "False(0)" and name in shown:
                found[name] = ("", "")
            elif advanced == "True(1)" and name in ADVANCED and name not in shown:
                found[name] = (ADVANCED[name], ADVANCED[name])
    for row in parameters(replace(nic, parameters=found)):
        nv = written.get(row.name, Nv())
        current = row.current if nv.current is None else nv.current
        following = row.following if nv.following is None else nv.following
        following = false.get(row.name, following)
        if (current, following) != (row.current, row.following):
            found[row.name] = (current, following)
    return replace(nic, parameters=found)


def _with_functions(host: HostModel, made: Mapping[str, int]) -> HostModel:
    """Virtual functions that were taken away; those that were made are only counted."""
    if not made:
        return host
    gone: set[str] = set()

    def kept(function: Function) -> tuple[Function, ...]:
        if function.physical in made:
            gone.add(function.address)
            return ()
        if function.address in made:
            return (replace(function, made_functions=made[function.address]),)
        return (function,)

    buses = changed(host.buses, kept)
    lost = {nic.netdev for nic in host.nics if nic.address in gone}
    texts = {a.partition("/")[0] for n in host.nics if n.address in gone for a in n.addresses}
    return replace(
        host,
        buses=buses,
        nics=tuple(nic for nic in host.nics if nic.address not in gone),
        routes=tuple(route for route in host.routes if route.netdev not in lost),
        rules=tuple(rule for rule in host.rules if rule.source not in texts),
    )


def _with_kernel(host: HostModel, overlay: Overlay, state: Restarts) -> Kernel:
    kernel = host.kernel
    if overlay.sysctls:
        new = {n: v for n, v in overlay.sysctls.items() if not _of_netdev(host, n)}
        told = tuple((name, new.pop(name, value)) for name, value in kernel.sysctls)
        kernel = replace(kernel, sysctls=(*told, *new.items()))
    if state.services:
        known = {one.name for one in kernel.services}
        more = tuple(one for name, one in state.services.items() if name not in known)
        services = tuple(state.services.get(one.name, one) for one in kernel.services)
        shown = tuple(one for one in more if "@" in one.name)
        kernel = replace(kernel, services=(*services, *shown))
    if overlay.messages:
        kernel = replace(kernel, messages=(*kernel.messages, *overlay.messages))
    return kernel


def _of_netdev(host: HostModel, name: str) -> bool:
    """net.ipv4.conf.enp24s0np0.rp_filter."""
    if not name.startswith(ARP):
        return False
    netdev, _, setting = name.removeprefix(ARP).rpartition(".")
    known = next((n for n in (*host.nics, *host.netdevs) if n.netdev == netdev), None)
    return known is not None and setting in dict(known.arp)


def _with_arp(host: HostModel, sysctls: Mapping[str, str]) -> HostModel:
    faults: dict[Key, Any] = {}
    for name, value in sysctls.items():
        if _of_netdev(host, name):
            netdev, _, setting = name.removeprefix(ARP).rpartition(".")
            now = faults.get((netdev, "arp"), value_of(host, netdev, "arp"))
            new = tuple((n, int(value) if n == setting else v) for n, v in now)
            faults[netdev, "arp"] = new
    return with_faults(host, faults) if faults else host


# Modules that use others: whoever is asked for them has these too.
USES = {
    "nvidia_peermem": ("nvidia", "ib_core", "ib_uverbs"),
    "nvidia_uvm": ("nvidia",),
    "rdma_ucm": ("ib_core", "ib_uverbs"),
    "ib_umad": ("ib_core",),
    "ib_ipoib": ("ib_core",),
    "ib_uverbs": ("ib_core",),
}


def _with_modules(host: HostModel, wanted: Mapping[str, bool]) -> HostModel:
    told, names = list(host.kernel.modules), list(host.modules)
    known = {*names, *(module.name for module in told)}
    for name, is_loaded in wanted.items():
        users = [name] if is_loaded else []
        told = [
            replace(module, users=(*users, *(u for u in module.users if u != name)))
            if module.name in USES.get(name, ()) or name in module.users
            else module
            for module in told
        ]
        if is_loaded and name not in known:
            version = host.gpu_driver if name.startswith("nvidia") else ""
            size = 16_384 if name != "nvidia_uvm" else 4_956_160
            told.insert(0, Module(name, size, version=version))
            names += [name] if name in MODULE_NAMES else []
        elif not is_loaded:
            told = [module for module in told if module.name != name]
            names = [one for one in names if one != name]
    return replace(host, modules=tuple(names), kernel=replace(host.kernel, modules=tuple(told)))


def _moved(host: HostModel, moved: Mapping[str, str]) -> HostModel:
    """Cards that came back in another place."""

    def address(text: str) -> str:
        return moved[text[:-2]] + text[-2:] if text[:-2] in moved else text

    def placed(function: Function) -> tuple[Function, ...]:
        new, physical = address(function.address), address(function.physical)
        if (new, physical) == (function.address, function.physical):
            return (function,)
        return (replace(function, address=new, physical=physical),)

    return replace(
        host,
        buses=changed(host.buses, placed),
        nics=tuple(replace(nic, address=address(nic.address)) for nic in host.nics),
        netdevs=tuple(replace(one, address=address(one.address)) for one in host.netdevs),
    )


def free_bus(host: HostModel, address: str) -> str:
    """A bus number that nothing has, above the one of a card."""
    used = Counter(
        function.address[:7] for bus in host.buses for one in bus.functions
        for function in _whole(one)
    )  # fmt: skip
    domain = address[:5]
    numbers = [int(address[5:7], 16) + step for step in range(1, 256)]
    return next(f"{domain}{n % 256:02x}" for n in numbers if not used[f"{domain}{n % 256:02x}"])


def _whole(function: Function) -> list[Function]:
    return [function, *(inner for child in function.below for inner in _whole(child))]
