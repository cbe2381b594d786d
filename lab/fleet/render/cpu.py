"""`lscpu -J`, `numactl -H` and the files of /sys/devices/system."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lab.fleet.model import HostModel
from lab.fleet.render.base import Said
from lab.fleet.system_model import Cpu, MemoryNode

_SYSTEM = "/sys/devices/system"
_INTEL = "GenuineIntel"
_COMMON_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse "
    "sse2 ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc cpuid aperfmperf "
    "pni pclmulqdq monitor ssse3 fma cx16 pcid sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx "
    "f16c rdrand lahf_lm abm 3dnowprefetch fsgsbase bmi1 avx2 smep bmi2 erms invpcid cqm rdt_a "
    "avx512f avx512dq rdseed adx smap clflushopt clwb avx512cd sha_ni avx512bw avx512vl xsaveopt "
    "xsavec xgetbv1 xsaves cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local avx512_bf16 wbnoinvd "
    "arat avx512vbmi umip pku ospke avx512_vbmi2 gfni vaes vpclmulqdq avx512_vnni avx512_bitalg "
    "avx512_vpopcntdq la57 rdpid fsrm"
)
_FLAGS = {
    _INTEL: "dts acpi ss tm pbe ds_cpl vmx smx est tm2 tsc_adjust hle rtm amx_bf16 avx512_fp16 "
    "amx_tile amx_int8 flush_l1d arch_capabilities",
    "AuthenticAMD": "svm extapic cr8_legacy sse4a misalignsse osvw ibs skinit wdt tce topoext "
    "perfctr_core perfctr_nb bpext perfctr_llc mwaitx cpb cat_l3 cdp_l3 invpcid_single "
    "hw_pstate ssbd mba ibrs ibpb stibp vmmcall",
}
_ARM_FLAGS = (
    "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma "
    "lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb dcpodp "
    "sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svebf16 i8mm bf16 dgh bti"
)
_VULNERABILITIES = (
    ("Gather data sampling", "Not affected"),
    ("Itlb multihit", "Not affected"),
    ("L1tf", "Not affected"),
    ("Mds", "Not affected"),
    ("Meltdown", "Not affected"),
    ("Mmio stale data", "Not affected"),
    ("Retbleed", "Not affected"),
    ("Spec rstack overflow", "Not affected"),
    ("Spec store bypass", "Mitigation; Speculative Store Bypass disabled via prctl and seccomp"),
    ("Spectre v1", "Mitigation; usercopy/swapgs barriers and __user pointer sanitization"),
    ("Spectre v2", "Mitigation; Enhanced IBRS, IBPB conditional, RSB filling"),
    ("Srbds", "Not affected"),
    ("Tsx async abort", "Not affected"),
)


def nodes(host: HostModel) -> tuple[MemoryNode, ...]:
    """The NUMA nodes; where the model tells no memory, nodes of one size with its CPUs."""
    if host.memory:
        return host.memory
    count = len(host.cpus)
    return tuple(
        MemoryNode(
            number, cpus, 1_031_882, 902_113, tuple(10 if n == number else 21 for n in range(count))
        )
        for number, cpus in enumerate(host.cpus)
    )


def cpu_count(cpu: Cpu) -> int:
    """All logical CPUs."""
    return cpu.sockets * cpu.cores_per_socket * cpu.threads_per_core


@lru_cache(maxsize=256)
def listed(cpus: str) -> tuple[int, ...]:
    """0-2,8 -> 0, 1, 2, 8."""
    found: list[int] = []
    for part in cpus.split(",") if cpus else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


# ---- lscpu -J

Field = tuple[str, str | None, tuple[Any, ...]]  # name, value, those below it


def _field(name: str, value: object, *below: Field) -> Field:
    return name, None if value is None else str(value), below


def _size(kibibytes: int) -> str:
    if kibibytes % 1024 == 0:
        return f"{kibibytes // 1024} MiB"
    return f"{kibibytes / 1024:.1f} MiB" if kibibytes > 1024 else f"{kibibytes} KiB"


def _caches(cpu: Cpu, *, counted: bool) -> Iterator[tuple[str, str]]:
    cores = cpu.sockets * cpu.cores_per_socket
    intel = cpu.vendor == _INTEL
    for name, each, count in (
        ("L1d", 48 if intel else 32, cores),
        ("L1i", 32, cores),
        ("L2", 2048 if intel else 512, cores),
        ("L3", cpu.l3_kb, cpu.l3_instances),
    ):
        many = f" ({count} instance{'s' if count > 1 else ''})" if counted else ""
        yield name, _size(each * count) + many


def _numbers(cpu: Cpu) -> list[Field]:
    """From the family to the clocks, as release 2.37 and later order them."""
    found = [
        _field("CPU family", cpu.family),
        _field("Model", cpu.model_number),
        _field("Thread(s) per core", cpu.threads_per_core),
        _field("Core(s) per socket", cpu.cores_per_socket),
        _field("Socket(s)", cpu.sockets),
        _field("Stepping", cpu.stepping),
    ]
    if not cpu.hypervisor:
        if cpu.vendor != _INTEL:
            found.append(_field("Frequency boost", "enabled" if cpu.turbo else "disabled"))
        found.append(_field("CPU max MHz", f"{cpu.max_mhz:.4f}"))
        found.append(_field("CPU min MHz", f"{cpu.min_mhz:.4f}"))
    found.append(_field("BogoMIPS", f"{2 * cpu.base_mhz:.2f}"))
    found.append(_field("Flags", f"{_COMMON_FLAGS} {_FLAGS.get(cpu.vendor, '')}".strip()))
    return found


def _virtualization(cpu: Cpu) -> list[Field]:
    found = [_field("Virtualization", cpu.virtualization)] if cpu.virtualization else []
    if cpu.hypervisor:
        found.append(_field("Hypervisor vendor", cpu.hypervisor))
        found.append(_field("Virtualization type", "full"))
    return found


def _nodes(numbered: tuple[tuple[int, str], ...]) -> list[Field]:
    shown = [_field(f"NUMA node{number} CPU(s)", cpus) for number, cpus in numbered]
    return [_field("NUMA node(s)", len(numbered)), *shown]


def _address_sizes(cpu: Cpu) -> str:
    """AMD's before Zen 4 have four levels of page tables."""
    small = cpu.vendor != _INTEL and (cpu.family, cpu.model_number) < (25, 16)
    return "48 bits physical, 48 bits virtual" if small else "52 bits physical, 57 bits virtual"


def _arm(cpu: Cpu, numbered: tuple[tuple[int, str], ...]) -> list[Field]:
    """An Arm server with release 2.39: no family, a revision instead of a stepping, flat."""
    count = cpu_count(cpu)
    caches = [_field(f"{name} cache", size) for name, size in _caches(cpu, counted=True)]
    return [
        _field("Architecture", cpu.architecture),
        _field("CPU op-mode(s)", "64-bit"),
        _field("Byte Order", "Little Endian"),
        _field("CPU(s)", count),
        _field("On-line CPU(s) list", f"0-{count - 1}"),
        _field("Vendor ID", cpu.vendor),
        _field("Model name", cpu.model),
        _field("Model", cpu.model_number),
        _field("Thread(s) per core", cpu.threads_per_core),
        _field("Core(s) per socket", cpu.cores_per_socket),
        _field("Socket(s)", cpu.sockets),
        _field("Stepping", f"r{cpu.stepping}p0"),
        _field("Frequency boost", "disabled"),
        _field("CPU max MHz", f"{cpu.max_mhz:.4f}"),
        _field("CPU min MHz", f"{cpu.min_mhz:.4f}"),
        _field("BogoMIPS", "2000.00"),
        _field("Flags", _ARM_FLAGS),
        *caches,
        *_nodes(numbered),
        *(_field(f"Vulnerability {name}", "Not affected") for name, _ in _VULNERABILITIES),
    ]


def _nested(cpu: Cpu, numbered: tuple[tuple[int, str], ...]) -> list[Field]:
    """Release 2.37, and later ones on a terminal: groups with those below them."""
    count = cpu_count(cpu)
    machine = (
        _field("CPU op-mode(s)", "32-bit, 64-bit"),
        _field("Address sizes", _address_sizes(cpu)),
        _field("Byte Order", "Little Endian"),
    )
    vendor = _field("Model name", cpu.model, *_numbers(cpu))
    caches = [_field(name, size) for name, size in _caches(cpu, counted=True)]
    weak = [_field(name, state) for name, state in _VULNERABILITIES]
    return [
        _field("Architecture", "x86_64", *machine),
        _field("CPU(s)", count, _field("On-line CPU(s) list", f"0-{count - 1}")),
        _field("Vendor ID", cpu.vendor, vendor),
        _field("Virtualization features", None, *_virtualization(cpu)),
        _field("Caches (sum of all)", None, *caches),
        _field("NUMA", None, *_nodes(numbered)),
        _field("Vulnerabilities", None, *weak),
    ]


def _flat(cpu: Cpu, numbered: tuple[tuple[int, str], ...], *, old: bool) -> list[Field]:
    """One list: up to 2.36 (clock and node count early, sums of caches), and 2.38 in a pipe."""
    rows = list(_numbers(cpu))
    named = {row[0]: row for row in rows}
    count = cpu_count(cpu)
    head = [
        _field("Architecture", "x86_64"),
        _field("CPU op-mode(s)", "32-bit, 64-bit"),
        *(() if old else (_field("Address sizes", _address_sizes(cpu)),)),
        _field("Byte Order", "Little Endian"),
        _field("CPU(s)", count),
        _field("On-line CPU(s) list", f"0-{count - 1}"),
    ]
    who, model = _field("Vendor ID", cpu.vendor), _field("Model name", cpu.model)
    weak = [_field(f"Vulnerability {name}", state) for name, state in _VULNERABILITIES]
    caches = [_field(f"{name} cache", size) for name, size in _caches(cpu, counted=not old)]
    below = [*_virtualization(cpu), *caches]
    if not old:
        return [*head, who, model, *rows, *below, *_nodes(numbered), *weak]
    head += [named[name] for name in ("Thread(s) per core", "Core(s) per socket", "Socket(s)")]
    total, *each = _nodes(numbered)
    shown = [named["CPU family"], named["Model"], model, named["Stepping"]]
    shown.append(_field("CPU MHz", f"{cpu.base_mhz:.3f}"))
    names = ("CPU max MHz", "CPU min MHz", "BogoMIPS")
    shown += [named[name] for name in names if name in named]
    return [*head, total, who, *shown, *below, *each, *weak, named["Flags"]]


def _objects(rows: list[Field] | tuple[Any, ...]) -> list[dict[str, Any]]:
    found = []
    for name, value, below in rows:
        item: dict[str, Any] = {"field": f"{name}:", "data": value}
        if below:
            item["children"] = _objects(below)
        found.append(item)
    return found


@lru_cache(maxsize=64)
def lscpu(cpu: Cpu, numbered: tuple[tuple[int, str], ...], util_linux: str) -> str:
    """`lscpu -J` in a pipe, as one release prints it."""
    major, minor = (int(part) for part in util_linux.split(".")[:2])
    if cpu.architecture == "aarch64":
        rows = _arm(cpu, numbered)
    elif (major, minor) == (2, 37):
        rows = _nested(cpu, numbered)
    else:
        rows = _flat(cpu, numbered, old=(major, minor) < (2, 37))
    # The tool closes and opens the braces of a list on one line.
    return re.sub(r"\},\s+\{", "},{", json.dumps({"lscpu": _objects(rows)}, indent=3)) + "\n"


# ---- numactl -H


def numactl(host: HostModel) -> str:
    """`numactl -H`."""
    found = nodes(host)
    last = found[-1].number
    lines = [f"available: {len(found)} nodes ({f'0-{last}' if last else '0'})"]
    for node in found:
        cpus = " ".join(map(str, listed(node.cpus)))
        lines.append(f"node {node.number} cpus: {cpus}")
        lines.append(f"node {node.number} size: {node.total_mb} MB")
        lines.append(f"node {node.number} free: {node.free_mb} MB")
    lines.append("node distances:")
    lines.append("node " + "".join(f"{node.number:4d}" for node in found) + " ")
    lines += [
        f"{node.number:3d}:" + "".join(f"{way:4d}" for way in node.distances) + " "
        for node in found
    ]
    return "\n".join(lines) + "\n"


# ---- files


def _meminfo(node: MemoryNode, huge: int) -> str:
    total, free = node.total_mb * 1024, node.free_mb * 1024
    used = total - free
    rows = (
        ("MemTotal", total), ("MemFree", free), ("MemUsed", used), ("SwapCached", 0),
        ("Active", used // 2), ("Inactive", used // 4), ("Mlocked", 0), ("Dirty", 12),
        ("Writeback", 0), ("FilePages", used // 3), ("Mapped", used // 20),
        ("AnonPages", used // 8), ("Shmem", used // 50), ("KernelStack", 14_032),
        ("PageTables", 9_120), ("Slab", used // 60), ("AnonHugePages", 0),
    )  # fmt: skip
    head = f"Node {node.number} "
    lines = [f"{head}{f'{name}:':15} {value:8d} kB\n" for name, value in rows]
    lines += [f"{head}HugePages_Total: {huge:5d}\n{head}HugePages_Free:  {huge:5d}\n"]
    lines += [f"{head}HugePages_Surp:  {0:5d}\n"]
    return "".join(lines)


@lru_cache(maxsize=64)
def _cpu_files(cpu: Cpu) -> dict[str, str]:
    """Clock and idle states; a virtual machine has neither."""
    base = f"{_SYSTEM}/cpu"
    files = {f"{base}/smt/active": f"{int(cpu.threads_per_core > 1)}\n"}
    if cpu.hypervisor:
        return files
    slow, single = frozenset(cpu.slow_cpus), dict(cpu.governors)
    for number in range(cpu_count(cpu)):
        governor = single.get(number, "powersave" if number in slow else cpu.governor)
        files[f"{base}/cpu{number}/cpufreq/scaling_governor"] = f"{governor}\n"
        for place, (_, _, disabled) in enumerate(cpu.idle_states):
            files[f"{base}/cpu{number}/cpuidle/state{place}/disable"] = f"{int(disabled)}\n"
    for number, place, disabled in cpu.idle_switched:
        files[f"{base}/cpu{number}/cpuidle/state{place}/disable"] = f"{int(disabled)}\n"
    intel = cpu.vendor == _INTEL
    frequency = f"{base}/cpu0/cpufreq"
    limit = cpu.max_mhz if cpu.turbo else cpu.base_mhz
    arm = cpu.architecture == "aarch64"
    driver = "intel_pstate" if intel else "cppc_cpufreq" if arm else "acpi-cpufreq"
    files[f"{frequency}/scaling_driver"] = f"{driver}\n"
    for name in ("cpuinfo_max_freq", "scaling_max_freq"):
        files[f"{frequency}/{name}"] = f"{int(limit * 1000)}\n"
    for place, (name, latency, _) in enumerate(cpu.idle_states):
        files[f"{base}/cpu0/cpuidle/state{place}/name"] = f"{name}\n"
        files[f"{base}/cpu0/cpuidle/state{place}/latency"] = f"{latency}\n"
    # One driver says what is off, another what is on, that of Arm nothing.
    if arm:
        return files
    if intel:
        files[f"{base}/intel_pstate/no_turbo"] = f"{int(not cpu.turbo)}\n"
    else:
        files[f"{base}/cpufreq/boost"] = f"{int(cpu.turbo)}\n"
    return files


def files(host: HostModel) -> dict[str, str]:
    """NUMA nodes, clocks, idle states."""
    found = dict(_cpu_files(host.cpu))
    there = nodes(host)
    with_memory = sum(node.total_mb > 0 for node in there) or 1
    huge = int(dict(host.kernel.sysctls).get("vm.nr_hugepages", "0")) // with_memory
    for node in there:
        folder = f"{_SYSTEM}/node/node{node.number}"
        found[f"{folder}/cpulist"] = f"{node.cpus}\n"
        found[f"{folder}/distance"] = " ".join(map(str, node.distances)) + "\n"
        found[f"{folder}/meminfo"] = _meminfo(node, huge if node.total_mb else 0)
    return found


def commands(host: HostModel) -> Iterator[Said]:
    """`lscpu -J`."""
    numbered = tuple((node.number, node.cpus) for node in nodes(host))
    yield Said("lscpu -J", lscpu(host.cpu, numbered, host.kernel.util_linux))
