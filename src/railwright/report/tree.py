"""One host's NUMA nodes, PCIe switches, GPUs and NICs as a tree of text lines.

A bridge that carries one thing is not shown, that thing takes its place. What is neither a GPU nor
a network adapter is only counted.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from railwright.check.machine import NOTHING, OfMachine
from railwright.report.screen import Screen, in_phrases, number_of, padded, widths, wrapped

GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
BRIDGE = "0604"
NOT_READ = "?"
MARK = " !"  # a finding is about it


class Function(NamedTuple):
    """A PCI function, as far as the tree needs it."""

    pci: str
    parent: str | None
    kind: str | None  # class
    numa: int | None
    cpus: str | None
    speed: float | None
    width: int | None
    speed_max: float | None
    width_max: int | None
    acs: str | None  # on, off or absent

    @property
    def is_bridge(self) -> bool:
        """Whether something can be below it."""
        return (self.kind or "").startswith(BRIDGE)


class Line(NamedTuple):
    """What is said about one thing: cells in columns, or one text behind the first two cells."""

    name: str
    link: str
    cells: tuple[str, ...] = ()
    text: str = ""


@dataclass
class Node:
    """A thing with its lines, or a bridge with what is below it."""

    function: Function
    lines: list[Line] = field(default_factory=list)
    below: list["Node"] = field(default_factory=list)
    others: int = 0


class Drawn(NamedTuple):
    """A line of the tree: the boxes before it, those before its continuation, and its text."""

    boxes: str
    boxes_after: str
    label: str
    pci: str = ""
    line: Line | None = None


class Columns(NamedTuple):
    """How wide everything is, and whether a thing takes two lines."""

    depth: int
    heads: list[int]
    cells: list[int]
    folded: bool


def pcie_link(function: Function, *, is_marked: bool = False) -> str:
    """`Gen5 x16`, `Gen5 x8 of x16`, with a mark where a rule finds fault with it."""
    if function.width == 0:
        return marked("no link", is_marked)
    speed, best = (GENERATIONS.get(v or 0) for v in (function.speed, function.speed_max))
    now = f"Gen{speed or NOT_READ} x{function.width or NOT_READ}"
    slow = speed is not None and best is not None and speed < best
    narrow = bool(function.width and function.width_max and function.width < function.width_max)
    most = " ".join(
        part
        for part, is_less in ((f"Gen{best}", slow), (f"x{function.width_max}", narrow))
        if is_less
    )
    return marked(f"{now} of {most}" if most else now, is_marked)


def marked(text: str, is_marked: bool) -> str:
    """A value that a finding is about."""
    return text + MARK if is_marked else text


def short_address(pci: str) -> str:
    """Without the domain that nearly all functions share."""
    return pci.removeprefix("0000:")


DEEPEST = 30  # bridges above one another


class Tree:
    """The functions of one host and what is known about the things among them."""

    def __init__(
        self, functions: list[Function], things: dict[str, list[Line]], of: OfMachine = NOTHING
    ) -> None:
        self._things = things
        self._of = of
        self._below: dict[str, list[Function]] = {}
        known = {function.pci for function in functions}
        for function in functions:
            # A function whose place was not read, or whose bridge is not there, stands at the top.
            parent = function.parent if function.parent in known else ""
            self._below.setdefault(parent or "", []).append(function)
        self.missing = [pci for pci in things if pci not in known]

    def _grow(self, function: Function, depth: int = 0) -> tuple[list[Node], int]:
        """The nodes to show for a function, and how many others are below it."""
        nodes, others = [], 0
        # A tree that is deeper than any real one is a circle: a host that lies about its bridges.
        for child in self._below.get(function.pci, []) if depth < DEEPEST else ():
            more, uncounted = self._grow(child, depth + 1)
            nodes += more
            others += uncounted
        if function.pci in self._things:
            return [Node(function, lines=self._things[function.pci]), *nodes], others
        if not function.is_bridge:
            return nodes, others + 1
        if len(nodes) < 2:
            return nodes, others
        return [Node(function, below=nodes, others=others)], 0

    def numa_nodes(self) -> list[tuple[int | None, str, list[Node], int]]:
        """(number, its CPUs, what hangs on it, how many others), in order."""
        found: dict[int | None, tuple[str, list[Node], int]] = {}
        for function in sorted(self._below.get("", []), key=lambda f: f.pci):
            cpus, nodes, others = found.get(function.numa, (function.cpus or NOT_READ, [], 0))
            more, uncounted = self._grow(function)
            found[function.numa] = cpus, nodes + more, others + uncounted
        order = sorted(found, key=lambda numa: (numa is None, numa or 0))
        return [(numa, *found[numa]) for numa in order]

    def _label(self, node: Node) -> str:
        function = node.function
        ports = [child for child in self._below.get(function.pci, []) if child.is_bridge]
        address = short_address(function.pci)
        if not function.parent:
            parts = [f"root port {address}"]
        elif ports:
            above = short_address(function.parent)
            is_marked = self._of.is_marked("link", function.pci)
            is_marked |= self._of.is_named("link", function.pci)
            link = pcie_link(function, is_marked=is_marked)
            parts = [f"switch {address} below {above}", f"uplink {link}"]
        else:
            parts = [f"bridge {address} below {short_address(function.parent)}"]
        if ports and function.parent:
            parts.append(_acs_text(ports, self._of))
        if node.others:
            parts.append(number_of(node.others, "other function"))
        return ", ".join(parts)

    def draw(self, nodes: list[Node], others: int, screen: Screen, before: str = "") -> list[Drawn]:
        """The lines of one NUMA node, or of one bridge."""
        pipe, fork, end, gap = screen.boxes
        drawn = []
        for place, node in enumerate(nodes):
            last = place + 1 == len(nodes) and not others
            here, after = before + (end if last else fork), before + (gap if last else pipe)
            if node.below:
                drawn.append(Drawn(here, after, self._label(node)))
                drawn += self.draw(node.below, 0, screen, after)
            for number, line in enumerate(node.lines):
                boxes = after if number else here
                drawn.append(Drawn(boxes, after, "", short_address(node.function.pci), line))
        if others:
            text = number_of(others, "other PCI function")
            drawn.append(Drawn(before + end, before + gap, text))
        return drawn


def _acs_text(ports: list[Function], of: OfMachine) -> str:
    """ACS of a switch's ports below, in one phrase."""
    on = [
        marked(short_address(port.pci), of.is_named("acs", port.pci))
        for port in ports
        if port.acs == "on"
    ]
    unknown = sum(port.acs is None for port in ports)
    text = f"ACS on at {' '.join(on)}" if on else "ACS off"
    if not on and all(port.acs == "absent" for port in ports):
        text = "no ACS"
    if unknown:
        text = "ACS not read" if unknown == len(ports) else f"{text}, not read at {unknown}"
    return text


def lay_out(drawn: list[Drawn], screen: Screen) -> dict[Drawn, list[tuple[str, bool]]]:
    """(text, marked) of the one or two lines of each; the columns are those of all together.

    Where a terminal is too narrow, the last two cells go on a second line.
    """
    things = [(item, item.line) for item in drawn if item.line is not None]
    depth = max((len(item.boxes) for item, _ in things), default=0)
    heads = widths((item.pci, line.name, line.link) for item, line in things)
    cells = widths(line.cells for _, line in things)
    whole = depth + sum(heads) + sum(cells) + 2 * (len(heads) + len(cells) - 1)
    columns = Columns(depth, heads, cells, screen.is_terminal and whole > screen.width)
    return {item: _lines(item, screen, columns) for item in drawn}


def _lines(item: Drawn, screen: Screen, columns: Columns) -> list[tuple[str, bool]]:
    line = item.line
    if line is None:
        texts = wrapped(screen, in_phrases(item.label), len(item.boxes))
        is_odd = MARK in item.label
        return [
            ((item.boxes_after if number else item.boxes) + text[len(item.boxes) :], is_odd)
            for number, text in enumerate(texts)
        ]
    _, fork, end, _ = screen.boxes
    fill = fork[1] if item.boxes.endswith((fork, end)) else " "
    boxes = item.boxes[:-1].ljust(columns.depth - 1, fill) + " "
    head = boxes + padded((item.pci, line.name, line.link), columns.heads) + "  "
    is_odd = any(cell.endswith(MARK) for cell in (line.name, line.link, *line.cells))
    if line.text:
        return [(head + line.text, is_odd)]
    if not columns.folded:
        return [(head + padded(line.cells, columns.cells), is_odd)]
    found = [(head + padded(line.cells[:-2], columns.cells), is_odd)]
    rest = [cell for cell in line.cells[-2:] if cell]
    if rest:
        found.append((item.boxes_after.ljust(len(head)) + "  ".join(rest), is_odd))
    return found
