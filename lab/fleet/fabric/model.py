"""A fabric as columns: machines, links between them, and what the ports of switches are set to.

A link is a number; its ends are in the columns of `Links`. Machines are numbered too: hosts first,
then switches. A port is its number on its machine. Names are looked up when something is printed,
so that a fabric of 100,000 links is made in a second.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from lab.fleet.fabric.hardware import PortName, SwitchModel
from lab.fleet.fabric.setting import PLAIN, RELEASES, Setting, Software
from lab.fleet.identity import mac_text
from lab.fleet.model import HostModel

_CHASSIS = {"eos": 0x001C73000000}
_NVIDIA = 0x48B02D000000
_PER_SWITCH = 0x400  # addresses


@dataclass
class Links:
    """Columns; the lower end is the one nearer to hosts."""

    lower: list[int] = field(default_factory=list)
    lower_port: list[int] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    upper_port: list[int] = field(default_factory=list)
    tier: list[int] = field(default_factory=list)  # of the upper end
    rail: list[int] = field(default_factory=list)  # -1 = several
    plane: list[int] = field(default_factory=list)
    pod: list[int] = field(default_factory=list)
    speed_mbps: list[int] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    metres: list[float] = field(default_factory=list)
    up: list[bool] = field(default_factory=list)

    def add(self, *values: Any) -> None:
        """One more, in the order of the columns."""
        for column, value in zip(fields(self), values, strict=True):
            getattr(self, column.name).append(value)

    def __len__(self) -> int:
        return len(self.lower)

    def copy(self) -> "Links":
        """Columns of its own."""
        return Links(*(list(getattr(self, column.name)) for column in fields(self)))


class End(NamedTuple):
    """A port of a machine, by number."""

    machine: int
    port: int


class Heard(NamedTuple):
    """What an end hears through LLDP: a machine and its port, or a stranger's words."""

    machine: int  # -1 = a stranger
    port: int
    system: str = ""
    chassis: str = ""
    port_id: str = ""


@dataclass
class Switch:
    """One switch; `settings` and `ports` are shared by switches of a role until one is changed."""

    name: str
    number: int  # among all machines
    system: str
    model: SwitchModel
    tier: int
    rail: int
    plane: int
    pod: int
    ports: tuple[PortName, ...]
    settings: tuple[Setting, ...]
    software: Software = PLAIN
    # Of SONiC: pools, and headroom that ports share; 0 = each has its own.
    pool_bytes: int = 136_209_408
    shared_headroom_bytes: int = 0
    egress_pool_bytes: int = 165_340_160
    changed: bool = False  # differs from its role
    # Of SONiC, where somebody has written: CONFIG_DB, and as much of it as the hardware took.
    tables: Mapping[str, Any] | None = None
    in_force: Mapping[str, Any] | None = None

    @property
    def chassis(self) -> str:
        """Its own MAC address."""
        return mac_text(_CHASSIS.get(self.system, _NVIDIA) + self.number * _PER_SWITCH)

    def port_mac(self, port: int) -> str:
        """SONiC has one address for all ports."""
        if self.system == "sonic":
            return self.chassis
        return mac_text(_CHASSIS.get(self.system, _NVIDIA) + self.number * _PER_SWITCH + port + 1)

    @property
    def release(self) -> str:
        """Of its software."""
        return self.software.release or RELEASES[self.system]

    @property
    def serial(self) -> str:
        """Of the machine."""
        return f"MT24{self.number % 52 + 1:02d}S{self.number:05d}"

    @property
    def management(self) -> str:
        """Its address outside the fabric."""
        return f"198.{18 + (self.number >> 16)}.{self.number >> 8 & 0xFF}.{self.number & 0xFF}"


class Route(NamedTuple):
    """Where packets to a prefix go: ports by number, next hops as text."""

    prefix: str
    protocol: str
    ports: tuple[int, ...]
    next_hops: tuple[str, ...]


@dataclass
class Fabric:
    """Machines, links, and what is not as the plan has it."""

    hosts: int
    rails: int
    planes: int
    switches: list[Switch]
    links: Links
    planned: Links  # how it was meant to be cabled
    host_mtu: int = 9000
    name_width: int = 3
    host_prefix: str = "gpu"
    host_preset: str = ""  # of lab.fleet.presets; '' = as the site ember has it
    # The first hosts of ember have addresses of the samples' own; those of a fabric are of a kind.
    first_number: int = 201
    hearing: dict[End, tuple[Heard, ...]] = field(default_factory=dict)  # where it is not the link
    routes: dict[tuple[int, str], Route] = field(default_factory=dict)  # (switch, prefix): other
    # What is otherwise on a host than on all others, one after the other.
    host_work: dict[int, tuple[Callable[[HostModel], HostModel], ...]] = field(default_factory=dict)
    _by_end: dict[End, int] | None = None

    @property
    def host_ports(self) -> int:
        """Ports of a host that belong to the fabric."""
        return self.rails * self.planes

    def host_name(self, host: int) -> str:
        """Hosts are numbered from 0 among machines, and named from 1."""
        return f"{self.host_prefix}{host + 1:0{self.name_width}d}"

    def is_host(self, machine: int) -> bool:
        """Whether a machine is one."""
        return machine < self.hosts

    def switch(self, machine: int) -> Switch:
        """A switch by its number among machines."""
        return self.switches[machine - self.hosts]

    def named(self, name: str) -> Switch:
        """A switch by its name."""
        return next(switch for switch in self.switches if switch.name == name)

    def name(self, machine: int) -> str:
        """Of any machine."""
        return self.host_name(machine) if self.is_host(machine) else self.switch(machine).name

    def by_end(self) -> dict[End, int]:
        """The link of each end that has one."""
        if self._by_end is None:
            links = self.links
            lower = map(End, links.lower, links.lower_port)
            upper = map(End, links.upper, links.upper_port)
            numbers = range(len(links))
            self._by_end = {**dict(zip(lower, numbers, strict=True)),
                            **dict(zip(upper, numbers, strict=True))}  # fmt: skip
        return self._by_end

    def other_end(self, end: End) -> End | None:
        """What is at the other end of a cable; None = no cable."""
        link = self.by_end().get(end)
        if link is None:
            return None
        lower = End(self.links.lower[link], self.links.lower_port[link])
        upper = End(self.links.upper[link], self.links.upper_port[link])
        return upper if end == lower else lower

    def heard(self, end: End) -> tuple[Heard, ...]:
        """What an end hears: the other end, if the link is up, unless a fault says otherwise."""
        if end in self.hearing:
            return self.hearing[end]
        link = self.by_end().get(end)
        other = self.other_end(end)
        if other is None or link is None or not self.links.up[link]:
            return ()
        return (Heard(*other),) if self._speaks(end) and self._speaks(other) else ()

    def _speaks(self, end: End) -> bool:
        """Whether LLDP is on at an end; hosts have it."""
        is_host = self.is_host(end.machine)
        return is_host or self.switch(end.machine).settings[end.port].lldp

    def is_up(self, switch: Switch, port: int) -> bool:
        """Whether a switch's port has a link."""
        link = self.by_end().get(End(switch.number, port))
        setting = switch.settings[port]
        return link is not None and self.links.up[link] and setting.up and setting.admin_up

    def copy(self) -> "Fabric":
        """One that can be changed; switches are copied, settings are shared still."""
        return replace(
            self,
            switches=[replace(switch) for switch in self.switches],
            links=self.links.copy(),
            hearing=dict(self.hearing),
            routes=dict(self.routes),
            host_work=dict(self.host_work),
            _by_end=None,
        )

    def set_port(self, switch: Switch, port: int, **values: Any) -> None:
        """Change one port of a switch."""
        settings = list(switch.settings)
        settings[port] = replace(settings[port], **values)
        switch.settings, switch.changed = tuple(settings), True

    def recable(self, one: int, other: int) -> None:
        """Swap the upper ends of two links: somebody mixed up two cables."""
        links = self.links
        for column in (links.upper, links.upper_port, links.tier):
            column[one], column[other] = column[other], column[one]
        self._by_end = None

    def cut(self, link: int) -> None:
        """The link is down."""
        self.links.up[link] = False

    def links_of(self, machine: int) -> Iterator[int]:
        """Links of a machine in the order of its ports."""
        known = self.by_end()
        count = self.host_ports if self.is_host(machine) else len(self.switch(machine).ports)
        for port in range(count):
            link = known.get(End(machine, port))
            if link is not None:
                yield link
