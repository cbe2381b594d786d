"""What files say, put in force: at a boot, and when a network device appears."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.fleet.faults.place import functions
from lab.fleet.model import Netdev
from lab.fleet.render.boot import GRUB, IMAGE, entry_path
from lab.fleet.render.gpu_driver import USUAL
from lab.fleet.storage import is_red_hat
from lab.writes import modules, script
from lab.writes.attributes import set_mtu, set_setting
from lab.writes.outcome import KernelError, number

if TYPE_CHECKING:
    from lab.writes.state import HostState

UNITS = "/etc/systemd/system/"
_LINUX = re.compile(r"^\s*linux\s+(\S+)[ \t]*(.*)$", re.MULTILINE)
_OPTIONS = re.compile(r"^options[ \t]+(.*)$", re.MULTILINE)
_TOKEN = re.compile(r'([A-Z_]+(?:\{[^}]*\})?)\s*(==|!=|\+=|:=|=)\s*"((?:[^"\\]|\\.)*)"')
# PCI_ACS_SV, TB, RR, CR, UF, EC, DT: the flags of pci=config_acs=, the last one written first.
_ACS_FLAGS = 7
_REDIRECTS = 0x04 | 0x08 | 0x20


def written(state: "HostState", folder: str, end: str) -> Iterator[tuple[str, str]]:
    """Files that people wrote in a folder, by their names."""
    for path in sorted(state.overlay.files):
        content = state.overlay.files[path]
        name = path.removeprefix(folder)
        fits = path.startswith(folder) and path.endswith(end) and "/" not in name
        if fits and isinstance(content, bytes):
            yield path, content.decode("utf-8", "replace")


def applied(state: "HostState") -> None:
    """In the order in which a boot does it."""
    _kernel_line(state)
    _module_options(state)
    _boot_modules(state)
    for netdev in [one.netdev for one in (*state.model().nics, *state.model().netdevs)]:
        device_added(state, netdev)
    settings_of_files(state)
    state.restarted_services()
    for unit in enabled_units(state):
        start_unit(state, unit)


# ---- the kernel's line


def next_line(state: "HostState") -> tuple[str, str] | None:
    """The image and the arguments of the entry that boots next."""
    model = state.model()
    path = entry_path(model) if is_red_hat(model) else GRUB
    content = state.read_file(path)
    text = content.decode("utf-8", "replace") if content else ""
    image = _LINUX.search(text)
    if image is None:
        return None
    options = _OPTIONS.search(text) if is_red_hat(model) else None
    words = (options[1] if options else image[2]).split()
    # What GRUB itself fills in: $vt_handoff, $tuned_params.
    return image[1], " ".join(word for word in words if not word.startswith("$"))


def _kernel_line(state: "HostState") -> None:
    entry = next_line(state)
    if entry is None:
        return
    now = state.base.kernel.command_line.split()
    head = [word for word in now if word.startswith(IMAGE)]
    line = " ".join([*head, entry[1]])
    if line.split() != now:
        state.force("host", "kernel.command_line", line)
        state.force("host", "kernel.next_arguments", "")
    _access_control(state, line)


def _access_control(state: "HostState", line: str) -> None:
    """pci=disable_acs_redir=… and pci=config_acs=…; the last one wins."""
    wanted: dict[str, tuple[int, int]] = {}  # address -> bits to set, bits to clear
    options = [o for w in line.split() if w.startswith("pci=") for o in _options(w[4:])]
    for option in options:
        name, _, rest = option.strip('"').partition("=")
        if name == "disable_acs_redir":
            wanted |= {_whole(one): (0, _REDIRECTS) for one in rest.split(";") if one}
        elif name == "config_acs":
            for pair in filter(None, rest.split(";")):
                flags, _, address = pair.partition("@")
                if len(flags) <= _ACS_FLAGS and set(flags) <= set("01x"):
                    bits = list(enumerate(reversed(flags)))
                    on = sum(1 << place for place, flag in bits if flag == "1")
                    wanted[_whole(address)] = (on, sum(1 << p for p, f in bits if f == "0"))
    for one in functions(state.model()):
        if one.address in wanted and one.acs is not None:
            on, off = wanted[one.address]
            state.force(one.address, "acs", (one.acs | on) & ~off)
            words = f"Configured ACS to {(one.acs | on) & ~off:#x}"
            state.overlay.messages.append(f"[    3.{len(wanted):06d}] pci {one.address}: {words}")


def _options(text: str) -> list[str]:
    """Commas part options, but a list of addresses has semicolons."""
    return [one for one in text.split(",") if one]


def _whole(address: str) -> str:
    return f"0000:{address}" if address.count(":") == 1 else address


# ---- modules


def _module_options(state: "HostState") -> None:
    """The last file that names an option wins."""
    told: dict[tuple[str, str], str] = {}
    for _, text in written(state, "/etc/modprobe.d/", ".conf"):
        for line in text.splitlines():
            words = line.split(None, 2)
            if len(words) == 3 and words[0] == "options":
                for pair in _pairs(words[2]):
                    name, _, value = pair.partition("=")
                    told[words[1].replace("-", "_"), name] = value
    mode = told.get(("ib_core", "netns_mode"))
    if mode is not None:
        off = mode in ("0", "N", "n")
        state.force("host", "rdma_namespaces", "exclusive" if off else "shared")
    options = dict(state.base.kernel.gpu_driver_options)
    for (module, name), value in told.items():
        plain = name.removeprefix("NVreg_")
        if module == "nvidia" and plain in USUAL:
            options[plain] = f'"{value}"' if USUAL[plain].startswith('"') else value
    if options != dict(state.base.kernel.gpu_driver_options):
        state.force("host", "kernel.gpu_driver_options", tuple(options.items()))


def _pairs(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _boot_modules(state: "HostState") -> None:
    wanted = [
        line.split()[0].replace("-", "_")
        for folder in ("/etc/modules-load.d/", "/usr/lib/modules-load.d/")
        for _, text in written(state, folder, ".conf")
        for line in text.splitlines()
        if line.strip() and line.strip()[0] not in "#;"
    ]
    lists = state.overlay.files.get("/etc/modules")
    if isinstance(lists, bytes):
        lines = lists.decode("utf-8", "replace").splitlines()
        wanted += [one.split()[0].replace("-", "_") for one in lines if one.strip(" #")]
    # What a file named that is not there any more, and nothing else names.
    for path, line in state.base.kernel.boot_modules:
        name = line.replace("-", "_")
        gone = path in state.overlay.files and name not in wanted
        if gone and name.isidentifier() and name in modules.names(state):
            modules.unload(state, name)
    for name in wanted:
        try:
            modules.load(state, name)
        except KernelError:
            state.note(f"modules-load: {name} failed")


# ---- settings


def settings_of_files(state: "HostState") -> None:
    """`sysctl --system`, of the files that people wrote."""
    found = {path.rpartition("/")[2]: text
             for folder in ("/usr/lib/sysctl.d/", "/run/sysctl.d/", "/etc/sysctl.d/")
             for path, text in written(state, folder, ".conf")}  # fmt: skip
    last = state.overlay.files.get("/etc/sysctl.conf")
    texts = [found[name] for name in sorted(found)]
    if isinstance(last, bytes):
        texts.append(last.decode("utf-8", "replace"))
    for text in texts:
        for name, value in setting_lines(text):
            for one in _expanded(state, name):
                try:
                    set_setting(state, one, value)
                except KernelError as error:
                    state.note(f"sysctl: {one}: {error.words}")


def setting_lines(text: str) -> Iterator[tuple[str, str]]:
    """`net.core.rmem_max = 1`, `-net/ipv4/…=1`."""
    for raw in text.splitlines():
        line = raw.strip()
        if line and line[0] not in "#;" and "=" in line:
            name, _, value = line.partition("=")
            yield name.strip().lstrip("-").replace("/", "."), value.strip()


def _expanded(state: "HostState", name: str) -> list[str]:
    """net.ipv4.conf.*.rp_filter."""
    if "*" not in name:
        return [name]
    model = state.model()
    words = ["all", "default", *(one.netdev for one in (*model.nics, *model.netdevs))]
    return [name.replace("*", word) for word in words]


# ---- network devices


def device_added(state: "HostState", netdev: str) -> None:
    """.link files and udev rules; the first .link that fits counts."""
    known = state.netdev(netdev)
    if known is None or not netdev:
        return
    files = [*written(state, "/etc/systemd/network/", ".link"),
             *written(state, "/usr/lib/systemd/network/", ".link")]  # fmt: skip
    for _, text in sorted(files, key=lambda one: one[0].rpartition("/")[2]):
        match, link = _link_file(text)
        if match and all(_fits(known, key, value) for key, value in match.items()):
            _apply_link(state, netdev, link)
            break
    _rules(state, netdev)


def _fits(netdev: Netdev, key: str, value: str) -> bool:
    """One line of [Match]; a key that is not known here fits nothing."""
    words = value.split()
    if key == "OriginalName":
        return any(fnmatchcase(netdev.netdev, word) for word in words)
    if key in ("MACAddress", "PermanentMACAddress"):
        return bool({word.lower() for word in words} & {netdev.mac, netdev.permanent_mac})
    return key == "Driver" and (netdev.driver or "mlx5_core") in words


def _link_file(text: str) -> tuple[dict[str, str], dict[str, str]]:
    parts: dict[str, dict[str, str]] = {}
    now: dict[str, str] = {}
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            now = parts.setdefault(line[1:-1], {})
        elif "=" in line and line[0] not in "#;":
            key, _, value = line.partition("=")
            now[key.strip()] = value.strip()
    return parts.get("Match", {}), parts.get("Link", {})


def _apply_link(state: "HostState", netdev: str, link: dict[str, str]) -> None:
    try:
        mtu = number(link.get("MTUBytes", ""))
        if mtu is not None:
            set_mtu(state, netdev, mtu)
    except KernelError as error:
        state.note(f"{netdev}: MTU: {error.words}")
    nic = state.nic(netdev)
    if nic is None:
        return
    words = {"yes": True, "true": True, "1": True, "on": True, "no": False, "false": False,
             "0": False, "off": False}  # fmt: skip
    for key, field in (("RxFlowControl", "pause_rx"), ("TxFlowControl", "pause_tx")):
        if link.get(key, "").lower() in words:
            state.set(nic.name, f"link.{field}", words[link[key].lower()])
    sizes = [number(link.get(key, "")) for key in ("RxBufferSize", "TxBufferSize")]
    if any(sizes):
        rings = tuple(n or m for n, m in zip(sizes, nic.link.rings, strict=True))
        state.set(nic.name, "link.rings", rings)


def _rules(state: "HostState", netdev: str) -> None:
    for _, text in written(state, "/etc/udev/rules.d/", ".rules"):
        for line in text.replace("\\\n", " ").splitlines():
            if not line.lstrip().startswith("#"):
                _rule(state, netdev, _TOKEN.findall(line))


def _rule(state: "HostState", netdev: str, tokens: list[tuple[str, str, str]]) -> None:
    known = state.netdev(netdev)
    driver = "" if known is None else known.driver or ("mlx5_core" if known.address else "")
    facts = {"ACTION": "add", "SUBSYSTEM": "net", "KERNEL": netdev, "NAME": netdev,
             "INTERFACE": netdev, "DRIVERS": driver, "ENV{ID_NET_DRIVER}": driver}  # fmt: skip
    for key, how, value in tokens:
        if how in ("==", "!="):
            fits = any(fnmatchcase(facts.get(key, ""), one) for one in value.split("|"))
            if key not in facts or fits != (how == "=="):
                return
    if not any(key == "SUBSYSTEM" for key, _, _ in tokens):
        return
    for key, how, value in tokens:
        text = value.replace("%k", netdev).replace("$name", netdev).replace("$kernel", netdev)
        text = text.replace("%%", "%")
        if key == "RUN" and how in ("=", "+="):
            script.run_line(state, text)
        elif key == "ENV{SYSTEMD_WANTS}" and how in ("=", "+="):
            for unit in text.split():
                start_unit(state, unit)


# ---- units


def enabled_units(state: "HostState") -> list[str]:
    """Units that people wrote, and that something wants at boot."""
    wanted = {
        path.rpartition("/")[2]
        for path, content in state.overlay.files.items()
        if path.startswith(UNITS) and ".wants/" in path and content is not None
    }
    return sorted(unit for unit in wanted if unit_text(state, unit))


def unit_text(state: "HostState", unit: str) -> str:
    """The file of a unit, with its instance filled in; '' = there is none of people's own."""
    name, at, rest = unit.partition("@")
    template = f"{name}@.{rest.rpartition('.')[2]}" if at else unit
    for file in (unit, template):
        content = state.overlay.files.get(UNITS + file)
        if isinstance(content, bytes):
            instance = rest.rpartition(".")[0]
            return (
                content.decode("utf-8", "replace").replace("%i", instance).replace("%I", instance)
            )
    return ""


def start_unit(state: "HostState", unit: str) -> bool:
    """What ExecStart says; whether all went well."""
    well = True
    for line in unit_text(state, unit).replace("\\\n", " ").splitlines():
        key, _, value = line.strip().partition("=")
        if key.strip() in ("ExecStartPre", "ExecStart"):
            command = value.strip()
            outcome = script.run_line(state, command.lstrip("-+!@:"))
            well = well and (outcome.code == 0 or command.startswith("-"))
    name = unit.removesuffix(".service")
    service = state.services.get(name)
    if service is not None:
        state.services[name] = replace(
            service,
            active="active" if well else "failed",
            sub="exited" if well else "failed",
        )
        state.changed()
    return well
