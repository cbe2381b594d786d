"""The truth about processors, memory, kernel, modules, settings and limits."""

from lab.fleet.model import HostModel, RootBus
from lab.fleet.system_model import AcpiNode, Cpu, MemoryNode, Module, Service
from lab.fleet.truth_places import Row, Rows, Tables, cpu_list, cpu_numbers, cpu_total, words

# Options of the fleet's kernels that may leave a host, and those that may not: paths, disks,
# consoles and what nobody asked for.
KEPT_OPTIONS = words(
    """
    iommu intel_iommu amd_iommu pci pcie_aspm processor.max_cstate intel_idle.max_cstate hugepages
    hugepagesz numa_balancing crashkernel systemd.unified_cgroup_hierarchy quiet ro rw
    """
)
PRIVATE_OPTIONS = words(
    """
    BOOT_IMAGE root rootflags console earlyprintk ignition.platform.id nvme_core.io_timeout panic
    """
)
# Modules whose version is asked for.
ASKED_VERSIONS = words(
    """
    mlx5_core mlx5_ib ib_core nvidia nvidia_peermem nv_peer_mem nvidia_fs gdrdrv
    """
)
# Sizes of modules that a model only names.
SIZES = {"nvidia_modeset": 1_511_424, "nvidia_peermem": 16_384, "rdma_cm": 143_360}
# Settings that are asked for.
ASKED_SETTINGS = words(
    """
    fs.file-max kernel.nmi_watchdog kernel.numa_balancing kernel.sched_rt_runtime_us
    net.core.netdev_max_backlog net.core.rmem_default net.core.rmem_max net.core.wmem_default
    net.core.wmem_max net.ipv4.ip_local_reserved_ports net.ipv4.neigh.default.gc_thresh1
    net.ipv4.neigh.default.gc_thresh2 net.ipv4.neigh.default.gc_thresh3 net.ipv4.tcp_mtu_probing
    vm.max_map_count vm.min_free_kbytes vm.nr_hugepages vm.overcommit_memory vm.zone_reclaim_mode
    """
)
# Options of the GPU driver that are asked for, with its own values.
GPU_OPTIONS = {
    "EnableStreamMemOPs": "0",
    "DmaRemapPeerMmio": "1",
    "EnablePCIERelaxedOrderingMode": "0",
    "EnableGpuFirmware": "18",
    "GrdmaPciTopoCheckOverride": "0",
    "RegistryDwords": "",
}
LIMITS_FILE = "/etc/security/limits.d/90-rdma.conf"


def tables(host: HostModel) -> Tables:
    """All tables about the host as a machine."""
    return {
        "dmi": _dmi(host),
        "pci_root": [_root(bus) for bus in host.buses if bus.acpi is not None],
        "cpu": [_cpu(host)],
        "cpu_frequency": [_frequency(host)],
        "cpu_governor": _governors(host),
        "cpu_idle_state": _idle_states(host),
        "numa_node": [_node(node) for node in host.memory],
        "numa_distance": [row for node in host.memory for row in _distances(node)],
        "kernel_argument": _arguments(host),
        "kernel_module": [_module(host, module) for module in loaded(host)],
        "gpu_direct": [_gpu_direct(host)],
        "gpu_driver": _gpu_options(host),
        "boot_module": [
            row for file, line in host.kernel.boot_modules for row in _boot_modules(file, line)
        ],
        "sysctl": _settings(host),
        "resource_limit": _limits(host),
        "job_daemon": [{"unit": unit} for unit in host.kernel.daemons],
        "service": [_service(service) for service in host.kernel.services],
        "library_setting": _library_settings(host),
    }


def _service(service: Service) -> Row:
    return {
        "unit": f"{service.name}.service",
        "load_state": service.load,
        "active_state": service.active,
        "sub_state": service.sub,
        "unit_file_state": service.file,
    }


# ---- what the firmware says


# Fields that a reader asks for; asset tags and serial numbers name one machine.
ASKED_FIELDS = words(
    """
    sys_vendor product_name product_version product_sku product_family board_vendor board_name
    board_version chassis_vendor bios_vendor bios_version bios_date
    """
)


def _dmi(host: HostModel) -> Rows:
    """A field that is not given, or is nothing but blanks, is none."""
    if host.dmi is None:
        return []
    return [{name: (getattr(host.dmi, name) or "").strip() for name in ASKED_FIELDS}]


def _root(bus: RootBus) -> Row:
    node = bus.acpi or AcpiNode("", "", "")
    row: Row = {"root_bus": bus.name, "acpi_path": node.path, "acpi_uid": node.uid}
    return {**row, "acpi_hid": node.hid}


# ---- processors, memory


def _cpu(host: HostModel) -> Row:
    cpu = host.cpu
    return {
        "vendor": cpu.vendor,
        "model": cpu.model,
        "architecture": cpu.architecture,
        "family": cpu.family,
        "model_number": cpu.model_number,
        "stepping": str(cpu.stepping),
        "sockets": cpu.sockets,
        "cores_per_socket": cpu.cores_per_socket,
        "threads_per_core": cpu.threads_per_core,
        "cpus": cpu_total(host),
        "online_cpus": f"0-{cpu_total(host) - 1}",
        "numa_nodes": len(host.memory),
        "hypervisor": cpu.hypervisor,
        "virtualization": cpu.virtualization,
        "l3_text": _third_cache(host),
        **_clock(host),
    }


def _clock(host: HostModel) -> Row:
    if host.cpu.hypervisor:
        return {}
    return {"max_mhz": float(host.cpu.max_mhz), "min_mhz": float(host.cpu.min_mhz)}


def _third_cache(host: HostModel) -> str:
    """All of it; releases from 2.37 on also say how many there are."""
    cpu = host.cpu
    mebibytes = cpu.l3_kb * cpu.l3_instances / 1024
    text = f"{mebibytes:.0f} MiB" if mebibytes == int(mebibytes) else f"{mebibytes:.1f} MiB"
    if tuple(map(int, host.kernel.util_linux.split(".")[:2])) < (2, 37):
        return text
    return f"{text} ({cpu.l3_instances} instance{'s' if cpu.l3_instances > 1 else ''})"


def _frequency(host: HostModel) -> Row:
    """A guest has no frequency control; it still sees whether its CPUs are threads."""
    cpu = host.cpu
    row: Row = {
        "driver": "",
        "energy_preference": "",
        "smt_active": cpu.threads_per_core > 1,
    }
    if cpu.hypervisor:
        return row
    intel = cpu.vendor == "GenuineIntel"
    limit = 1000 * (cpu.max_mhz if cpu.turbo else cpu.base_mhz)
    return row | {
        "driver": "intel_pstate" if intel else "acpi-cpufreq",
        "max_khz": limit,
        "hardware_max_khz": limit,
        "turbo": cpu.turbo,
    }


def _governors(host: HostModel) -> Rows:
    cpu = host.cpu
    if cpu.hypervisor:
        return []
    single = dict.fromkeys(cpu.slow_cpus, "powersave") | dict(cpu.governors)
    sets: dict[str, list[int]] = {cpu.governor: []}
    for number in range(cpu_total(host)):
        sets.setdefault(single.get(number, cpu.governor), []).append(number)
    return [
        {"governor": governor, "cpus": cpu_list(numbers), "cpu_count": len(numbers)}
        for governor, numbers in sets.items()
        if numbers
    ]


def _switched_off(cpu: Cpu, state: int, usual: int) -> int:
    """How many CPUs have an idle state switched off; those that differ from the rest are named."""
    single = [off for _, place, off in cpu.idle_switched if place == state]
    return usual - len(single) + sum(single) if usual else sum(single)


def _idle_states(host: HostModel) -> Rows:
    if host.cpu.hypervisor:
        return []
    count = cpu_total(host)
    return [
        {
            "state": place,
            "name": name,
            "latency_us": latency,
            "disabled_cpus": off,
            "enabled_cpus": count - off,
        }
        for place, (name, latency, disabled) in enumerate(host.cpu.idle_states)
        for off in (_switched_off(host.cpu, place, count if disabled else 0),)
    ]


def _node(node: MemoryNode) -> Row:
    return {
        "node": node.number,
        "cpus": node.cpus,
        "cpu_count": len(cpu_numbers(node.cpus)),
        "memory_total_mb": node.total_mb,
        "memory_free_mb": node.free_mb,
    }


def _distances(node: MemoryNode) -> Rows:
    return [
        {"node": node.number, "other": other, "distance": distance}
        for other, distance in enumerate(node.distances)
    ]


# ---- kernel


def _arguments(host: HostModel) -> Rows:
    rows: Rows = []
    places: dict[str, int] = {}
    for word in host.kernel.command_line.split():
        option, _, value = word.partition("=")
        if option in PRIVATE_OPTIONS:
            continue
        if option not in KEPT_OPTIONS:
            raise ValueError(f"say in truth_host.py whether {option} may leave a host")
        place = places.setdefault(option, 0)
        places[option] += 1
        rows.append({"name": option.replace("-", "_"), "place": place, "value": value})
    return rows


def loaded(host: HostModel) -> list[Module]:
    """What the model tells, and what it only names."""
    told = {module.name: module for module in host.kernel.modules}
    more = [name for name in host.modules if name not in told]
    return [*told.values(), *(Module(name, SIZES[name]) for name in more)]


def _module(host: HostModel, module: Module) -> Row:
    """What brings its own version is not of the kernel's tree; NVIDIA's closed one says so too."""
    closed = module.name.startswith("nvidia") and not host.kernel.gpu_driver_open
    return {
        "name": module.name,
        "size_bytes": module.size,
        "reference_count": len(module.users) + module.references,
        "users": ",".join(module.users),
        "version": module.version if module.name in ASKED_VERSIONS else None,
        "state": "Live",
        "taints": ("POE" if closed else "OE") if module.version else "",
    }


def _gpu_direct(host: HostModel) -> Row:
    names = {module.name for module in loaded(host)}
    peers = [name for name in ("nvidia_peermem", "nv_peer_mem") if name in names]
    driver = "nvidia" in names
    foreign_stack = any(module.name == "ib_core" and module.version for module in loaded(host))
    registered = "nvidia_peermem" in names and foreign_stack and host.kernel.peer_memory_registered
    kind = "open" if host.kernel.gpu_driver_open else "proprietary"
    return {
        "peermem_module": peers[0] if peers else "",
        "memory_peers": "nv_mem" if registered else "",
        "gpu_driver_version": host.gpu_driver if driver else "",
        "gpu_driver_kind": kind if driver else "",
        "gdrdrv_version": "",
        "nvidia_fs_version": "",
    }


def _gpu_options(host: HostModel) -> Rows:
    """What is asked for; a text comes without its quotes."""
    if "nvidia" not in {module.name for module in loaded(host)}:
        return []
    options = GPU_OPTIONS | dict(host.kernel.gpu_driver_options)
    return [{"name": name, "value": value.strip('"')} for name, value in options.items()]


def _boot_modules(file: str, line: str) -> Rows:
    """A list names one module; `softdep a post: b` has b loaded with a."""
    soft = line.startswith("softdep")
    names = [word for word in line.split()[2:] if not word.endswith(":")] if soft else [line]
    how = "softdep" if soft else "initramfs" if "initramfs" in file else "modules-load"
    return [{"file": file, "name": name.replace("-", "_"), "how": how} for name in names]


# ---- settings and limits


def _settings(host: HostModel) -> Rows:
    return [
        {"name": name, "value": value}
        for name, value in host.kernel.sysctls
        if name in ASKED_SETTINGS
    ]


def _bytes(value: str) -> int:
    """pam_limits counts memory in units of 1024 bytes."""
    return -1 if value in ("unlimited", "infinity", "-1") else 1024 * int(value)


def _limits(host: HostModel) -> Rows:
    rows: Rows = []
    for place, (domain, kind, item, value) in enumerate(host.kernel.limits):
        of_memory = item in ("memlock", "stack")
        rows.append(
            {
                "file": LIMITS_FILE,
                "place": place,
                "domain": domain,
                "type": kind,
                "item": item,
                "value": value,
                "soft_bytes": _bytes(value) if of_memory and kind in ("soft", "-") else None,
                "hard_bytes": _bytes(value) if of_memory and kind in ("hard", "-") else None,
            }
        )
    return rows


def _library_settings(host: HostModel) -> Rows:
    """The model has them in the order of precedence."""
    ranks: dict[str, int] = {}
    rows: Rows = []
    for file, name, value in host.kernel.library_settings:
        rank = ranks.setdefault(name, 1)
        ranks[name] += 1
        rows.append(
            {
                "library": name.partition("_")[0].lower(),
                "file": file,
                "name": name,
                "place": 0,
                "section": "",
                "value": value,
                "precedence": rank,
            }
        )
    return rows
