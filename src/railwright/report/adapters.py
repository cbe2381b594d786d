"""The lines of one host's NICs and GPUs: what stands behind each PCI address in the tree."""

from typing import Any, NamedTuple, Protocol

from railwright.check.machine import NOTHING, OfMachine
from railwright.report.console import plain
from railwright.report.tree import NOT_READ, Function, Line, marked, pcie_link, short_address
from railwright.store.duck import read_sql

_ADAPTERS = """
SELECT pci, driver, vf_count FROM pci_function
WHERE target = $target AND (class LIKE '02%' OR class LIKE '0c06%')
      AND (physical_function IS NULL OR physical_function = '')
"""
PORTS = read_sql(__file__, "views/show/device_ports.sql")
NETDEVS = read_sql(__file__, "views/show/netdevs.sql")
NEIGHBORS = """
SELECT netdev, coalesce(nullif(system_name, ''), chassis_id), port_id FROM lldp_neighbor
WHERE target = $target ORDER BY system_name = '', 2, 3
"""
GPUS = "SELECT pci, device_id, name, smi_status FROM gpu WHERE target = $target"


class Facts(Protocol):
    """The tables of one host."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query whose only parameter is $target, the host."""

    def answered(self, probe: str) -> bool:
        """Whether a probe answered on this host."""


class Netdev(NamedTuple):
    """A network device."""

    name: str
    pci: str | None
    mtu: int | None
    operstate: str | None
    speed_mbps: int | None
    master: str | None
    is_port: bool | None


class Port(NamedTuple):
    """A port of an RDMA device."""

    pci: str | None
    device: str
    port: int | None
    link_layer: str | None
    state: str | None
    rate_gbps: float | None
    firmware: str | None
    ports: int
    netdev: str | None  # as the GID table names it; a bond has its own

    @property
    def name(self) -> str:
        """The device, with the port where it has several."""
        return f"{self.device}/{self.port}" if self.ports > 1 else self.device


class Things:
    """All lines of a host, by PCI address; without one under ''."""

    def __init__(self, facts: Facts, functions: list[Function], of: OfMachine = NOTHING) -> None:
        self._of = of
        self._links = {function.pci: function for function in functions}
        self._netdevs = {row[0]: Netdev(*row) for row in facts.rows(NETDEVS)}
        self._netdevs_read = facts.answered("netdev")
        self._neighbors: dict[str, list[str]] = {}
        for netdev, system, port in facts.rows(NEIGHBORS):
            text = f"{plain(system or NOT_READ)}:{plain(port or NOT_READ)}"
            self._neighbors.setdefault(netdev, []).append(text)
        self._neighbors_read = facts.answered("lldpctl")
        self.lines: dict[str, list[Line]] = {}
        self._add_nics(facts)
        self._add_gpus(facts)

    def _add_nics(self, facts: Facts) -> None:
        ports = [Port(*row) for row in facts.rows(PORTS)]
        taken = {port.netdev for port in ports}
        free: dict[str, list[Netdev]] = {}
        for netdev in self._netdevs.values():
            if netdev.is_port and netdev.pci and netdev.name not in taken:
                free.setdefault(netdev.pci, []).append(netdev)
        for port in ports:
            mine = self._netdevs.get(port.netdev or "")
            left = free.get(port.pci or "", [])
            if mine is None and left:
                mine = left.pop(0)
            name = marked(plain(port.name), of_this(self._of, "name", port, mine))
            line = Line(name, self._link(port.pci), self._cells(port, mine))
            self.lines.setdefault(port.pci or "", []).append(line)
        for pci, driver, virtual in facts.rows(_ADAPTERS):
            name = plain(driver or "no driver")
            for netdev in free.get(pci, []):
                said = marked(name, of_this(self._of, "name", None, netdev))
                line = Line(said, self._link(pci), self._cells(None, netdev))
                self.lines.setdefault(pci, []).append(line)
            if pci not in self.lines:
                name = marked(name, self._of.is_marked("name", pci))
                self.lines[pci] = [Line(name, self._link(pci), text="no RDMA device, no netdev")]
            if virtual:
                self._say_virtual(pci, virtual)

    def _say_virtual(self, pci: str, count: int) -> None:
        first = self.lines[pci][0]
        if first.cells:
            cells = (*first.cells[:-1], f"{first.cells[-1]}  +{count} VFs".strip())
            self.lines[pci][0] = first._replace(cells=cells)

    def _link(self, pci: str | None) -> str:
        function = self._links.get(pci or "")
        if function is None:
            return NOT_READ if pci else ""
        return pcie_link(function, is_marked=self._of.is_marked("link", pci))

    def _cells(self, port: Port | None, netdev: Netdev | None) -> tuple[str, ...]:
        """netdev, state, MTU, firmware, neighbor."""
        if netdev is not None:
            name = plain(netdev.name) + (f" in {plain(netdev.master)}" if netdev.master else "")
            mtu = f"MTU {netdev.mtu or NOT_READ}"
        else:
            name = "no netdev" if self._netdevs_read else f"netdev {NOT_READ}"
            mtu = "" if self._netdevs_read else f"MTU {NOT_READ}"
        firmware = "" if port is None else port.firmware
        firmware = f"firmware {NOT_READ}" if firmware is None else firmware
        is_infiniband = port is not None and port.link_layer == "InfiniBand"
        neighbor = "" if is_infiniband else self._neighbor(netdev)
        said = {"name": name, "state": _state(port, netdev), "mtu": mtu}
        said |= {"firmware": plain(firmware), "neighbor": neighbor}
        return tuple(
            marked(text, cell != "name" and of_this(self._of, cell, port, netdev))
            for cell, text in said.items()
        )

    def _neighbor(self, netdev: Netdev | None) -> str:
        if netdev is None or not netdev.is_port:  # a bond hears nothing, its members do
            return ""
        heard = self._neighbors.get(netdev.name, [])
        if not heard:
            return "no neighbor" if self._neighbors_read else f"neighbor {NOT_READ}"
        return heard[0] + (f" +{len(heard) - 1}" if len(heard) > 1 else "")

    def _add_gpus(self, facts: Facts) -> None:
        for pci, device, name, status in facts.rows(GPUS):
            function = self._links.get(pci)
            narrow = self._of.is_marked("link", pci)  # one at rest may run slower
            link = pcie_link(function, is_marked=narrow) if function else NOT_READ
            text = plain(name or f"10de:{device or NOT_READ}")
            if status != "ok":
                text += f", {plain(status or 'nvidia-smi not asked')}"
            self.lines.setdefault(pci, []).append(
                Line(marked("GPU", self._of.is_marked("name", pci)), link, text=text)
            )


def of_this(of: OfMachine, cell: str, port: Port | None, netdev: Netdev | None) -> bool:
    """Whether a finding is about this cell of a port and its network device."""
    return of.is_marked(
        cell,
        *((port.device, port.pci) if port else ()),
        *((netdev.name,) if netdev else ()),
    )


def _state(port: Port | None, netdev: Netdev | None) -> str:
    """`ACTIVE 400G`, `up 10G`; a port that is down prints a rate too, and it means nothing."""
    if port is None:
        speed = netdev.speed_mbps if netdev else None
        state = (netdev.operstate if netdev else None) or NOT_READ
        return f"{plain(state)} {speed / 1000:g}G" if speed else plain(state)
    state = plain(port.state or NOT_READ)
    rate = f" {port.rate_gbps:g}G" if port.rate_gbps and port.state != "DOWN" else ""
    return state + rate + (" IB" if port.link_layer == "InfiniBand" else "")


def device_names(facts: Facts) -> dict[str, str]:
    """PCI address -> the RDMA device that people know it by."""
    rows = facts.rows(
        "SELECT pci, min(device) FROM rdma_device WHERE target = $target GROUP BY pci"
    )
    return {pci: plain(device) for pci, device in rows if pci}


def name_of(names: dict[str, str], pci: str) -> str:
    """The RDMA device behind an address, or the address."""
    return names.get(pci, short_address(pci))
