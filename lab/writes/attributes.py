"""Attributes of /sys and /proc/sys that can be written, and what the kernel says to a value."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from lab.fleet import fill_sys
from lab.fleet.model import HostModel, Nic
from lab.fleet.render import all_files
from lab.fleet.render.cpu import cpu_count
from lab.fleet.render.ecn import VENDOR_PACKAGE, settings
from lab.fleet.tree import Below, Memory
from lab.writes import qos
from lab.writes.find import function, value_of
from lab.writes.outcome import KernelError, number

if TYPE_CHECKING:
    from lab.writes.state import HostState

Write = Callable[["HostState", "re.Match[str]", str], None]
# The path as it is now is read from the model; None = the attribute is not there.
Read = Callable[[HostModel, "re.Match[str]"], str | None]
MODES = ("IB/RoCE v1", "RoCE v2")
GOVERNORS = {
    "intel_pstate": ("performance", "powersave"),
    "other": ("performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"),
}
MTU = (68, 9978)
BYTE = 255


class Attribute(NamedTuple):
    """One kind of file."""

    pattern: "re.Pattern[str]"
    read: Read
    write: Write


def _nic(model: HostModel, match: "re.Match[str]") -> Nic | None:
    word = match["name"]
    return next((n for n in model.nics if word in (n.netdev, n.name) and not n.in_guest), None)


def _here(state: "HostState", match: "re.Match[str]") -> Nic:
    state.writing(match["name"])
    found = _nic(state.model(), match)
    if found is None:
        raise KernelError("ENOENT")
    return found


# ---- congestion control, of the vendor's driver package


def _read_ecn(model: HostModel, match: "re.Match[str]") -> str | None:
    nic = _nic(model, match)
    if nic is None or nic.link_layer != "Ethernet" or not VENDOR_PACKAGE.match(nic.driver_version):
        return None
    value = settings(nic.qos).get(match["path"])
    return None if value is None else f"{value}\n"


_NP_FIELDS = {"cnp_dscp": ("qos.cnp_dscp", 63), "cnp_802p_prio": ("qos.cnp_priority", 7)}


def _write_ecn(state: "HostState", match: "re.Match[str]", text: str) -> None:
    nic = _here(state, match)
    point, _, rest = match["path"].partition("/")
    if rest.startswith("enable/"):
        field = "ecn_np" if point == "roce_np" else "ecn_rp"
        value, place = _number(text, 1), int(rest[-1])
        now: tuple[bool, ...] = getattr(nic.qos, field)
        state.set(nic.name, f"qos.{field}", (*now[:place], bool(value), *now[place + 1 :]))
    elif rest in _NP_FIELDS and point == "roce_np":
        name, most = _NP_FIELDS[rest]
        state.set(nic.name, name, _number(text, most))
    else:
        field = "np_parameters" if point == "roce_np" else "rp_parameters"
        now_set = dict(getattr(nic.qos, field))
        state.set(nic.name, f"qos.{field}", {**now_set, rest: _number(text, 2**32 - 1)})


def _number(text: str, most: int, least: int = 0) -> int:
    found = number(text, least, most)
    if found is None:
        raise KernelError("EINVAL")
    return found


# ---- trust, MTU


def _read_trust(model: HostModel, match: "re.Match[str]") -> str | None:
    nic = _nic(model, match)
    return f"{nic.qos.trust}\n" if nic is not None and nic.qos.sysfs else None


def _write_trust(state: "HostState", match: "re.Match[str]", text: str) -> None:
    qos.set_trust_file(state, _here(state, match), text.strip())


def _read_mtu(model: HostModel, match: "re.Match[str]") -> str | None:
    value = value_of(model, match["name"], "mtu")
    return None if value is None else f"{value}\n"


def _write_mtu(state: "HostState", match: "re.Match[str]", text: str) -> None:
    set_mtu(state, match["name"], _number(text, 2**31 - 1))


def set_mtu(state: "HostState", netdev: str, value: int) -> None:
    """dev_set_mtu(): a bond takes its members along, a VLAN cannot have more than its netdev."""
    known = state.netdev(netdev)
    if known is None:
        raise KernelError("ENODEV")
    most = 65536 if netdev == "lo" else 4092 if _is_infiniband(state, netdev) else MTU[1]
    if not MTU[0] <= value <= most:
        raise KernelError("EINVAL")
    model = state.model()
    members = next((bond.members for bond in model.bonds if bond.netdev == netdev), ())
    if known.lower:
        lower = state.netdev(known.lower)
        if lower is not None and value > lower.mtu:
            raise KernelError("ERANGE")
    for name in (*members, netdev):
        if value_of(state.model(), name, "mtu") != value:
            state.set(name, "mtu", value)
            nic = state.nic(name)
            # The RDMA port follows the netdev: a site may have had it otherwise before.
            if nic is not None and (nic.name, "active_mtu") in state.overlay.runtime:
                del state.overlay.runtime[nic.name, "active_mtu"]
                state.changed()


def _is_infiniband(state: "HostState", netdev: str) -> bool:
    nic = state.nic(netdev)
    return nic is not None and nic.link_layer == "InfiniBand"


# ---- RDMA


def _read_class(model: HostModel, match: "re.Match[str]") -> str | None:
    nic = _nic(model, match)
    if nic is None or nic.link_layer != "Ethernet" or nic.driver_version == model.kernel.release:
        return None
    return f"Global tclass={nic.qos.traffic_class}\n" if nic.qos.traffic_class else ""


def _write_class(state: "HostState", match: "re.Match[str]", text: str) -> None:
    """`106` or `tclass=106`; how a class is taken away is not documented: -1 does, here."""
    nic = _here(state, match)
    word = text.strip().removeprefix("tclass=")
    value = 0 if word == "-1" else _number(word, BYTE)
    state.set(nic.name, "qos.traffic_class", value)


def _read_cma(model: HostModel, match: "re.Match[str]") -> str | None:
    nic = _nic(model, match)
    if nic is None or nic.link_layer != "Ethernet" or nic.qos.default_tos is None:
        return None
    told = nic.qos.default_tos if match["what"] == "tos" else nic.qos.default_mode
    return f"{told}\n"


def _write_cma(state: "HostState", match: "re.Match[str]", text: str) -> None:
    nic = _here(state, match)
    if match["what"] == "tos":
        state.set(nic.name, "qos.default_tos", _number(text, BYTE))
    elif text.strip() in MODES:
        state.set(nic.name, "qos.default_mode", text.strip())
    else:
        raise KernelError("EINVAL")


# ---- PCI


def _read_functions(model: HostModel, match: "re.Match[str]") -> str | None:
    found = function(model, _address(model, match))
    if found is None or not found.virtual_functions:
        return None
    return f"{found.made_functions}\n"


def _address(model: HostModel, match: "re.Match[str]") -> str:
    if match["name"].count(":") == 2:
        return match["name"]
    nic = _nic(model, match)
    return nic.address if nic is not None else ""


def _write_functions(state: "HostState", match: "re.Match[str]", text: str) -> None:
    """sriov_numvfs_store(): from one number to another only through 0."""
    address = _address(state.model(), match)
    set_functions(state, address, _number(text, 0xFFFF))


def set_functions(state: "HostState", address: str, count: int) -> None:
    """Make virtual functions, or take all of them away."""
    found = function(state.model(), address)
    if found is None or not found.virtual_functions:
        raise KernelError("ENOENT")
    if count == found.made_functions:
        return
    if count > found.virtual_functions:
        raise KernelError("ERANGE")
    if count and found.made_functions:
        raise KernelError("EBUSY")
    state.writing(address)
    if state.misbehaves("set_ignored", address):
        return
    state.overlay.functions_made[state.overlay.unmoved(address)] = count
    state.tell_change(f"{address} sriov_numvfs", found.made_functions, count)
    state.changed()


# ---- processors


def _read_governor(model: HostModel, match: "re.Match[str]") -> str | None:
    cpu, place = model.cpu, int(match["name"])
    if cpu.hypervisor or place >= cpu_count(cpu):
        return None
    slow = "powersave" if place in cpu.slow_cpus else cpu.governor
    return f"{dict(cpu.governors).get(place, slow)}\n"


def _write_governor(state: "HostState", match: "re.Match[str]", text: str) -> None:
    set_governors(state, (int(match["name"]),), text.strip())


def set_governors(state: "HostState", cpus: tuple[int, ...], governor: str) -> None:
    """Of some CPUs."""
    cpu = state.model().cpu
    driver = "intel_pstate" if cpu.vendor == "GenuineIntel" else "other"
    if cpu.hypervisor or governor not in GOVERNORS[driver]:
        raise KernelError("EINVAL")
    new = dict(cpu.governors) | dict.fromkeys(cpus, governor)
    state.set("host", "cpu.governors", tuple(sorted(new.items())))


def _read_idle(model: HostModel, match: "re.Match[str]") -> str | None:
    cpu, place, idle = model.cpu, int(match["name"]), int(match["state"])
    if cpu.hypervisor or place >= cpu_count(cpu) or idle >= len(cpu.idle_states):
        return None
    single = {(number, which): off for number, which, off in cpu.idle_switched}
    return f"{int(single.get((place, idle), cpu.idle_states[idle][2]))}\n"


def _write_idle(state: "HostState", match: "re.Match[str]", text: str) -> None:
    cpu = state.model().cpu
    key = (int(match["name"]), int(match["state"]))
    now = {(number, which): off for number, which, off in cpu.idle_switched}
    new = now | {key: bool(_number(text, 1))}
    state.set("host", "cpu.idle_switched", tuple((*k, off) for k, off in sorted(new.items())))


# ---- /proc/sys


def _read_setting(model: HostModel, match: "re.Match[str]") -> str | None:
    content = all_files(model).get(match[0])
    return content if isinstance(content, str) else None


def _write_setting(state: "HostState", match: "re.Match[str]", text: str) -> None:
    set_setting(state, match["name"].replace("/", "."), text.strip())


def set_setting(state: "HostState", name: str, value: str) -> None:
    """A kernel setting by its name with dots; a number stays one."""
    path = "/proc/sys/" + name.replace(".", "/")
    before = _SETTING.read(state.model(), _must(_SETTING, path))
    if before is None:
        raise KernelError("ENOENT")
    words = before.split()
    if words and all(number(w, -(2**63)) is not None for w in words):
        given = value.split()
        if len(given) != len(words) or any(number(w, -(2**63)) is None for w in given):
            raise KernelError("EINVAL")
        value = "\t".join(str(number(word, -(2**63))) for word in given)
    if len(value) > 4096:
        raise KernelError("EINVAL")
    state.writing(name)
    if state.misbehaves("set_ignored", name):
        return
    if state.misbehaves("lying_read_back", name):
        state.overlay.false_files[path] = f"{value}\n".encode()
    else:
        state.overlay.sysctls[name] = value
        state.tell_change(name, before.strip(), value)
    state.changed()


def _attribute(pattern: str, read: Read, write: Write) -> Attribute:
    return Attribute(re.compile(pattern, re.ASCII), read, write)


_NETDEV = r"/sys/class/net/(?P<name>[^/]{1,15})"
_RDMA = r"(?P<name>[A-Za-z0-9_]{1,63})"
_CPU = r"/sys/devices/system/cpu/cpu(?P<name>[0-9]{1,5})"
_SETTING = _attribute(r"/proc/sys/(?P<name>[A-Za-z0-9_./@-]+)", _read_setting, _write_setting)
ATTRIBUTES = (
    _attribute(rf"{_NETDEV}/ecn/(?P<path>roce_(?:np|rp)/(?:enable/[0-7]|[a-z0-9_]+))",
               _read_ecn, _write_ecn),
    _attribute(rf"{_NETDEV}/qos/trust", _read_trust, _write_trust),
    _attribute(rf"{_NETDEV}/mtu", _read_mtu, _write_mtu),
    _attribute(rf"/sys/class/infiniband/{_RDMA}/tc/1/traffic_class", _read_class, _write_class),
    _attribute(rf"/sys/kernel/config/rdma_cm/{_RDMA}/ports/1/default_roce_(?P<what>tos|mode)",
               _read_cma, _write_cma),
    _attribute(r"/sys/bus/pci/devices/(?P<name>[0-9a-f:.]{12})/sriov_numvfs",
               _read_functions, _write_functions),
    _attribute(rf"{_NETDEV}/device/sriov_numvfs", _read_functions, _write_functions),
    _attribute(rf"{_CPU}/cpufreq/scaling_governor", _read_governor, _write_governor),
    _attribute(rf"{_CPU}/cpuidle/state(?P<state>[0-9]{{1,2}})/disable", _read_idle, _write_idle),
    _SETTING,
)  # fmt: skip


def _must(attribute: Attribute, path: str) -> "re.Match[str]":
    found = attribute.pattern.fullmatch(path)
    if found is None:
        raise KernelError("ENOENT")
    return found


def find(path: str) -> tuple[Attribute, "re.Match[str]"] | None:
    """The kind of attribute that a path is."""
    for one in ATTRIBUTES:
        match = one.pattern.fullmatch(path)
        if match:
            return one, match
    return None


def write(state: "HostState", path: str, content: bytes | str | None) -> None:
    """What `echo VALUE > PATH` does; KernelError as the kernel refuses."""
    found = find(path)
    if found is None or found[0].read(state.model(), found[1]) is None:
        there = content_of(state, path) is not None
        raise KernelError("EACCES" if there else "ENOENT")
    if not isinstance(content, bytes):
        raise KernelError("EPERM")
    text = content[:65536].decode("utf-8", "replace")
    if not text.strip() or "\0" in text:
        raise KernelError("EINVAL")
    subject = found[1]["name"]
    if found[0] is not _SETTING and state.misbehaves("lying_read_back", subject):
        state.writing(subject)
        state.overlay.false_files[path] = text.strip().encode() + b"\n"
        state.changed()
        return
    found[0].write(state, found[1], text)


def content_of(state: "HostState", path: str) -> bytes | None:
    """A file of the host's, links followed."""
    model = state.model()
    for _ in range(8):
        told = model.files.get(path, b"")
        if not isinstance(told, str):
            break
        path = told if told.startswith("/") else f"{path.rpartition('/')[0]}/{told}"
    if path in model.files:
        content = model.files[path]
        return content if isinstance(content, bytes) else None
    found = find(path)
    if found is not None:
        text = found[0].read(model, found[1])
        return None if text is None else text.encode()
    if path.startswith("/sys/"):
        return _in_tree(model, path)
    rendered = all_files(model).get(path)
    return rendered.encode() if isinstance(rendered, str) else rendered


def _in_tree(model: HostModel, path: str) -> bytes | None:
    files = Memory()
    fill_sys(Below(files, "sys"), model)
    words, done = path.lstrip("/").split("/"), ""
    for word in words:
        name = f"{done}/{word}" if done else word
        entry = files.entries.get(name)
        done = files.make(name) if entry is not None and entry.link else name
    entry = files.entries.get(done)
    return None if entry is None or entry.link else entry.content
