"""What a live host has below /proc beyond what its renderers write."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lab.fleet.model import HostModel
from lab.fleet.system_model import Cpu
from lab.fleet.tree import Tree

# Over /proc/sys lies a folder of the host's own: whoever sets something there sets it on this host
# and never on the machine that the lab runs on. The price is that only these of the real settings
# are there, which programs of the root file system ask for.
_OF_THE_MACHINE = (
    *("kernel/osrelease", "kernel/ostype", "kernel/version", "kernel/ngroups_max"),
    *("kernel/cap_last_cap", "kernel/pid_max", "kernel/threads-max", "kernel/overflowuid"),
    *("kernel/overflowgid", "fs/nr_open", "fs/pipe-max-size", "net/core/somaxconn"),
    "net/ipv4/ip_local_port_range",
)


@lru_cache(maxsize=1)
def _real_settings() -> tuple[tuple[str, str, str], ...]:
    """(folder, file, content)."""
    found = []
    for name in _OF_THE_MACHINE:
        path = Path("/proc/sys") / name
        if path.exists():
            found.append((str(path.parent).lstrip("/"), path.name, path.read_text()))
    return tuple(found)


def _cpus(text: str) -> list[int]:
    """0-2,8 -> 0, 1, 2, 8."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _cpu_lines(cpu: Cpu, number: int, socket: int, core: int) -> Iterator[str]:
    siblings = cpu.cores_per_socket * cpu.threads_per_core
    yield from (
        f"processor\t: {number}",
        f"vendor_id\t: {cpu.vendor}",
        f"cpu family\t: {cpu.family}",
        f"model\t\t: {cpu.model_number}",
        f"model name\t: {cpu.model}",
        f"stepping\t: {cpu.stepping}",
        f"cpu MHz\t\t: {cpu.base_mhz}.000",
        f"cache size\t: {cpu.l3_kb} KB",
        f"physical id\t: {socket}",
        f"siblings\t: {siblings}",
        f"core id\t\t: {core}",
        f"cpu cores\t: {cpu.cores_per_socket}",
        "",
    )


@lru_cache(maxsize=16)
def cpuinfo(cpu: Cpu, nodes: tuple[str, ...]) -> str:
    """/proc/cpuinfo: CPUs in the order of their numbers, sockets as the NUMA nodes lie."""
    per_socket = max(1, len(nodes) // cpu.sockets)
    of_socket: dict[int, list[int]] = {}
    for node, text in enumerate(nodes):
        of_socket.setdefault(node // per_socket, []).extend(_cpus(text))
    placed = sorted(
        (number, socket, position % cpu.cores_per_socket)
        for socket, numbers in of_socket.items()
        for position, number in enumerate(sorted(numbers))
    )
    lines = [line for number, *rest in placed for line in _cpu_lines(cpu, number, *rest)]
    return "\n".join(lines) + "\n"


def fill_proc(tree: Tree, host: HostModel) -> None:
    """Processors, and settings of the real machine."""
    tree.write("proc", {"cpuinfo": cpuinfo(host.cpu, host.cpus)})
    for folder, file, content in _real_settings():
        tree.write(folder, {file: content})
