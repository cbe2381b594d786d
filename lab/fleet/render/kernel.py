"""The kernel of a host: its log, command line, modules, settings, and files of /etc beside them."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lab.fleet.model import HostModel, Nic, RootBus
from lab.fleet.render.base import Said
from lab.fleet.render.cpu import cpu_count, listed, nodes
from lab.fleet.render.ethtool_netdevs import ports
from lab.fleet.render.ip import netdevs
from lab.fleet.render.lspci_tree import Spot, bandwidth, buses_below, spots
from lab.fleet.system_model import Cpu, Module

SLOT_POWER_W = 75
_UBUNTU_BUILD = (
    "(buildd@lcy02-amd64-075) (x86_64-linux-gnu-gcc-12 (Ubuntu 12.3.0-1ubuntu1~22.04) 12.3.0, "
    "GNU ld (GNU Binutils for Ubuntu) 2.38) #45~22.04.1-Ubuntu"
)
_RED_HAT_BUILD = (
    "(mockbuild@x86-64-01) (gcc (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3), GNU ld version "
    "2.35.2-43.el9) #1"
)
# (who built the kernel and with what, systemd, compiler of the GPU driver)
_UBUNTU = (
    _UBUNTU_BUILD,
    "249.11-0ubuntu3.12",
    "11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)",
)
_RED_HAT = (
    _RED_HAT_BUILD,
    "252-46.el9_5.2",
    "11.4.1 20231218 (Red Hat 11.4.1-3)",
)


def _built(host: HostModel) -> tuple[str, str, str]:
    return _UBUNTU if host.operating_system.startswith("Ubuntu") else _RED_HAT


# Sizes of modules that a model only names.
USUAL_SIZES = {
    "ib_core": 507_904, "ib_uverbs": 196_608, "mlx5_core": 2_473_984, "mlx5_ib": 512_000,
    "nvidia": 11_505_664, "nvidia_modeset": 1_511_424, "nvidia_peermem": 16_384,
    "nvidia_uvm": 4_956_160, "rdma_cm": 143_360,
}  # fmt: skip
# Taint of modules that are not the kernel's own: out of tree, and not signed with its key; the
# closed GPU driver is proprietary too.
_FOREIGN, _CLOSED = "(OE)", "(POE)"


@lru_cache(maxsize=64)
def _modules(told: tuple[Module, ...], named: tuple[str, ...]) -> tuple[Module, ...]:
    known = {module.name for module in told}
    more = (Module(n, USUAL_SIZES.get(n, 16_384)) for n in named if n not in known)
    return (*told, *more)


def modules(host: HostModel) -> tuple[Module, ...]:
    """What is loaded: what the model tells, then what it only names."""
    return _modules(host.kernel.modules, host.modules)


def references(module: Module) -> int:
    """What `lsmod` counts: modules that use it, and others."""
    return len(module.users) + module.references


def lsmod(loaded: tuple[Module, ...]) -> str:
    """`lsmod`."""
    lines = ["Module                  Size  Used by"]
    for module in loaded:
        line = f"{module.name:19} {module.size:8d}  {references(module)}"
        lines.append(f"{line} {','.join(module.users)}".rstrip())
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=64)
def _proc_modules(loaded: tuple[Module, ...], gpu_driver_open: bool) -> str:
    lines = []
    for number, module in enumerate(loaded):
        users = "".join(f"{user}," for user in module.users) or "-"
        closed = module.name.startswith("nvidia") and not gpu_driver_open
        foreign = f" {_CLOSED if closed else _FOREIGN}" if module.version else ""
        place = 0xFFFFFFFFC0000000 + number * 0x1000000
        lines.append(
            f"{module.name} {module.size} {references(module)} {users} Live {place:#x}{foreign}\n"
        )
    return "".join(lines)


def _settings(host: HostModel) -> dict[str, str]:
    """/proc/sys; the files of a netdev are those of the host's own namespace."""
    found = {
        f"/proc/sys/{name.replace('.', '/')}": f"{value}\n" for name, value in host.kernel.sysctls
    }
    folder = "/proc/sys/net/ipv4/conf"
    for name in ("all", "default"):
        for setting in ("arp_announce", "arp_filter", "arp_ignore", "rp_filter", "accept_local"):
            found.setdefault(f"{folder}/{name}/{setting}", "0\n")
    for netdev in netdevs(host):
        for setting, value in (*netdev.arp, ("accept_local", 0)):
            found.setdefault(f"{folder}/{netdev.netdev}/{setting}", f"{value}\n")
    return found


def _configuration(host: HostModel) -> dict[str, str]:
    """Limits and settings of the communication libraries."""
    found: dict[str, str] = {}
    if host.kernel.limits:
        rows = (f"{' '.join(row)}\n" for row in host.kernel.limits)
        found["/etc/security/limits.d/90-rdma.conf"] = "".join(rows)
    # Of a unit only lines about limits leave the host, and packages set none that matter here.
    for unit in host.kernel.daemons:
        found[f"/etc/systemd/system/multi-user.target.wants/{unit}"] = ""
    for file, name, value in host.kernel.library_settings:
        line = f"export {name}={value}\n" if file.endswith(".sh") else f"{name}={value}\n"
        found[file] = found.get(file, "") + line
    return found


def has_peer_registry(host: HostModel) -> bool:
    """Only a vendor's RDMA stack has one, and only a peer memory module registers there."""
    loaded = {module.name: module for module in modules(host)}
    stack = loaded.get("ib_core")
    return "nvidia_peermem" in loaded and stack is not None and stack.version != ""


def files(host: HostModel) -> dict[str, str]:
    """Of /proc, /sys/module and /etc."""
    loaded = modules(host)
    found = {
        "/proc/cmdline": f"{host.kernel.command_line}\n",
        "/proc/modules": _proc_modules(loaded, host.kernel.gpu_driver_open),
        **{f"/sys/module/{m.name}/version": f"{m.version}\n" for m in loaded if m.version},
        **_settings(host),
        **_configuration(host),
    }
    if has_peer_registry(host) and host.kernel.peer_memory_registered:
        found["/sys/kernel/mm/memory_peers/nv_mem/version"] = f"{host.gpu_driver}\n"
    if any(module.name == "nvidia" for module in loaded):
        found["/proc/driver/nvidia/version"] = (
            f"NVRM version: {driver_title(host)}  Mon Jan 27 03:52:53 UTC 2025\n"
            f"GCC version:  gcc version {_built(host)[2]}\n"
        )
    return found


# ---- dmesg


def _line(seconds: float, text: str) -> str:
    return f"[{seconds:12.6f}] {text}\n"


@lru_cache(maxsize=1)
def _template() -> tuple[tuple[str, str, str], ...]:
    """(seconds, tag, text); ('', '', name) for what stands for many lines."""
    text = (Path(__file__).parent / "kernel_boot.txt").read_text("utf-8")
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            found.append(("", "", line.strip("{}")))
        elif not line.startswith("#"):
            seconds, tag, rest = line.split(" ", 2)
            found.append((seconds, tag, rest))
    return tuple(found)


def _secondary(cpu_lists: tuple[str, ...]) -> Iterator[str]:
    seconds = 0.8074
    for node, cpus in enumerate(cpu_lists):
        numbers = [number for number in listed(cpus) if number]
        for at in range(0, len(numbers), 16):
            shown = "".join(f"{f'#{number}':>5}" for number in numbers[at : at + 16])
            yield _line(seconds, f".... node {f'#{node}':>3}, CPUs:     {shown}")
            seconds += 0.03


def _function_lines(spot: Spot) -> Iterator[str]:
    function = spot.function
    head = f"pci {function.address}: "
    bridge = function.class_code >> 8 == 0x0604
    yield (
        f"{head}[{function.vendor:04x}:{function.device:04x}] type {int(bridge):02d} "
        f"class {function.class_code:#08x}"
    )
    bus = int(function.address[5:7], 16)
    if bridge:
        secondary, subordinate = buses_below(function)
        yield f"{head}PCI bridge to [bus {secondary:02x}-{subordinate:02x}]"
        yield f"{head}  bridge window [mem 0x94000000-0x95ffffff]"
        yield f"{head}  bridge window [mem 0x220000000000-0x228fffffffff 64bit pref]"
        yield f"{head}PME# supported from D0 D3hot D3cold"
    elif function.kind == "endpoint":
        start = 0x200000000000 + bus * 0x100000000
        yield f"{head}reg 0x10: [mem {start:#x}-{start + 0x1FFFFFF:#x} 64bit pref]"
        yield f"{head}reg 0x30: [mem 0xfff00000-0xffffffff pref]"
        most = function.max_payload_supported
        yield f"{head}Max Payload Size set to {function.max_payload} (was 128, max {most})"


def _pci(buses: tuple[RootBus, ...]) -> Iterator[str]:
    places, seconds = spots(buses), 3.1
    bus = ""
    for spot in places.values():
        if spot.bus != bus:
            bus = spot.bus
            yield _line(seconds, f"PCI host bridge to bus {bus}")
            yield _line(seconds, f"pci_bus {bus}: root bus resource [bus {bus[5:7]}-ff]")
        for text in _function_lines(spot):
            yield _line(seconds, text)
            seconds += 0.0009
        function = spot.function
        if function.kind == "endpoint" and not function.virtual and not function.dead:
            text, limited = bandwidth(spot, places)
            if limited:
                yield _line(seconds, f"pci {function.address}: {text}")


def _groups(buses: tuple[RootBus, ...]) -> Iterator[str]:
    seconds = 5.41
    for spot in spots(buses).values():
        yield _line(seconds, f"pci {spot.function.address}: Adding to iommu group {spot.group}")
        seconds += 0.0004


def _drives(buses: tuple[RootBus, ...]) -> Iterator[str]:
    found = [s.function for s in spots(buses).values() if s.function.class_code >> 8 == 0x0108]
    for number, function in enumerate(found):
        seconds = 7.5 + number / 10
        name = f"nvme nvme{number}"
        yield _line(seconds, f"{name}: pci function {function.address}")
        yield _line(seconds + 0.04, f"{name}: 128/0/0 default/read/poll queues")
        yield _line(seconds + 0.05, f" nvme{number}n1: p1")


_OF_A_HOST = (
    *("release", "command_line", "server", "host", "pages", "memory_kb", "build", "systemd"),
)


@lru_cache(maxsize=64)
def _boot(
    buses: tuple[RootBus, ...], cpu: Cpu, cpu_lists: tuple[str, ...], virtual: bool, iommu: str
) -> tuple[tuple[str, str], ...]:
    """Pieces of the log; (text, '') or ('', the name of what a host fills in)."""
    many = {
        "secondary": "".join(_secondary(cpu_lists)),
        "pci": "".join(_pci(buses)),
        "groups": "" if virtual else "".join(_groups(buses)),
    }
    metal = "I" if cpu.vendor == "GenuineIntel" else "A"
    tags = ("-", "V") if virtual else ("-", "M", metal)
    count = cpu_count(cpu)
    values = {
        "mhz": cpu.base_mhz, "sockets": cpu.sockets, "threads": cpu.threads_per_core,
        "cpus": count, "nodes": len(cpu_lists), "bogomips": 2 * cpu.base_mhz,
        "bogomips_all": 2 * cpu.base_mhz * count, "cpu": cpu.model, "family": cpu.family,
        "model": cpu.model_number, "stepping": cpu.stepping, "pids": max(32768, count * 1024),
        "pids_least": max(301, count * 8), "bare": "KVM" if virtual else "bare hardware",
        "iommu": iommu,
    }  # fmt: skip
    # What differs from host to host stays in braces.
    for name in _OF_A_HOST:
        values[name] = f"{{{name}}}"
    pieces: list[tuple[str, str]] = []
    text = ""
    for seconds, tag, rest in _template():
        if not tag:
            if rest in many:
                text += many[rest]
            else:
                pieces += [(text, ""), ("", rest)]
                text = ""
        elif tag in tags:
            text += _line(float(seconds), rest.format(**values))
    return (*pieces, (text, ""))


def _nic_lines(number: int, nic: Nic, spot: Spot, places: dict[str, Spot]) -> Iterator[str]:
    """mlx5_core at its start."""
    head = f"mlx5_core {nic.address}: "
    at = 9.812345 + number * 0.6
    function = spot.function
    yield _line(at, f"{head}enabling device (0140 -> 0142)")
    yield _line(at + 0.000156, f"{head}firmware version: {nic.firmware}")
    if function.virtual:  # a virtual function has no link, no slot and no switch of its own
        return
    if not function.dead:  # what it said at boot is not what its links are now
        yield _line(at + 0.000199, head + bandwidth(spot, places)[0])
    yield _line(at + 0.41, f"{head}Rate limit: 127 rates are supported, range: 0Mbps to 195312Mbps")
    vports = 2 + function.virtual_functions
    yield _line(
        at + 0.42, f"{head}E-Switch: Total vports {vports}, per vport: max uc(128) max mc(2048)"
    )
    module = int(nic.address[-1])
    plugged = "unplugged" if nic.optic.kind == "none" else "plugged"
    yield _line(at + 0.44, f"{head}Port module event: module {module}, Cable {plugged}")
    power = f"PCIe slot advertised sufficient power ({SLOT_POWER_W}W)."
    yield _line(at + 0.45, f"{head}mlx5_pcie_event:301:(pid {412 + number}): {power}")


def driver_title(host: HostModel) -> str:
    """What the GPU driver calls itself: the open modules name themselves so."""
    if host.kernel.gpu_driver_open:
        built = "Release Build  (dvs-builder@U22-I3-AE18-23-3)"
        return f"NVIDIA UNIX Open Kernel Module for x86_64  {host.gpu_driver}  {built}"
    return f"NVIDIA UNIX x86_64 Kernel Module  {host.gpu_driver}"


def _gpu_lines(host: HostModel) -> Iterator[str]:
    if not host.gpus:
        return
    yield _line(23.1, "nvidia: loading out-of-tree module taints kernel.")
    yield _line(23.2, "nvidia-nvlink: Nvlink Core is being initialized, major device number 509")
    for gpu in host.gpus:
        at = 23.3 + gpu.number / 100
        yield _line(at, f"nvidia {gpu.address}: enabling device (0140 -> 0142)")
    yield _line(23.9, f"NVRM: loading {driver_title(host)}  Mon Jan 27 03:52:53 UTC 2025")
    yield _line(
        24.1, f"nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver  {host.gpu_driver}"
    )
    yield _line(24.3, "nvidia-uvm: Loaded the UVM driver, major device number 507.")
    for gpu in host.gpus:
        minor = gpu.number + 1
        text = f"[drm] Initialized nvidia-drm 0.0.0 for {gpu.address} on minor {minor}"
        yield _line(24.5 + gpu.number / 100, text)


def _link_lines(host: HostModel) -> Iterator[str]:
    for number, netdev in enumerate((*host.nics, *host.netdevs)):
        if netdev.address and netdev.up:
            name = f"{netdev.driver} {netdev.address} {netdev.netdev}"
            text = f"{name}: Link up" if netdev.driver == "mlx5_core" else f"{name}: NIC Link is Up"
            if "ipoib" in netdev.driver:
                text = f"IPv6: ADDRCONF(NETDEV_CHANGE): {netdev.netdev}: link becomes ready"
            yield _line(25.0 + number / 10, text)


def dmesg(host: HostModel) -> str:
    """Everything since boot; messages of the model that have no time follow one another."""
    places = spots(host.buses)
    kernel = host.kernel
    passes = "iommu=pt" in kernel.command_line
    iommu = "Passthrough (set via kernel command line)" if passes else "Translated"
    memory_kb = sum(node.total_mb for node in nodes(host)) * 1024
    values = {
        "{release}": kernel.release, "{command_line}": kernel.command_line, "{host}": host.name,
        "{server}": host.server_model, "{memory_kb}": str(memory_kb),
        "{pages}": str(memory_kb // 4), "{build}": _built(host)[0], "{systemd}": _built(host)[1],
    }  # fmt: skip
    cards = [
        line
        for number, nic in enumerate(ports(host))
        for line in _nic_lines(number, nic, places[nic.address], places)
    ]
    many = {
        "devices": [*_drives(host.buses), *cards],
        "drivers": [*_gpu_lines(host), *_link_lines(host)],
    }
    parts = []
    for text, name in _boot(host.buses, host.cpu, host.cpus, host.virtual, iommu):
        parts += sorted(many[name]) if name else [text]
    whole = "".join(parts)
    for name, value in values.items():
        whole = whole.replace(name, value)
    return whole + "".join(
        f"{text}\n" if text.startswith("[") else _line(100.0 + number, text)
        for number, text in enumerate(kernel.messages)
    )


def commands(host: HostModel) -> Iterator[Said]:
    """`dmesg`."""
    yield Said("dmesg", dmesg(host))
