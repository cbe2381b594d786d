"""The truth about mounts, the next boot, Secure Boot, and who owns settings."""

import zlib

from lab.fleet.model import HostModel
from lab.fleet.render.boot import machine_id, red_hat_title, releases
from lab.fleet.render.owners import UNIT, managed, mtu_of
from lab.fleet.storage import is_red_hat
from lab.fleet.truth_host import KEPT_OPTIONS
from lab.fleet.truth_places import Row, Rows, Tables


def tables(host: HostModel) -> Tables:
    """All tables of the probes mounts, boot_entries, secure_boot and config_owners."""
    return {
        "mount": _mounts(host),
        "boot_entry": _red_hat_entries(host) if is_red_hat(host) else _ubuntu_entries(host),
        "boot_setting": _settings(host),
        "boot_kernel": _kernels(host),
        "secure_boot": [_secure_boot(host)],
        "config_owner": _owners(host),
    }


def short(number: str) -> str:
    """What is left of the id of a machine: eight digits, equal for equal ids."""
    return f"{zlib.crc32(number.encode()):08x}"


# ---- mounts


def _mounts(host: HostModel) -> Rows:
    kind = "xfs" if is_red_hat(host) else "ext4"
    local: Row = {"rests_on": "local", "transport": "", "server": ""}
    found: Rows = [
        {"mount_point": "/", "file_system": kind, **local},
        {"mount_point": "/boot", "file_system": kind, **local},
        {"mount_point": "/boot", "file_system": "vfat", **local},
    ]
    for mount in host.kernel.network_mounts:
        first = f"/{mount.point.split('/')[1]}"
        found.append(
            {
                "mount_point": first if first in ("/home", "/var", "/opt") else "",
                "file_system": mount.file_system,
                "rests_on": "network",
                "transport": mount.protocol or None,
                "server": mount.server,
            }
        )
    return [{"place": place, "told_by": "mount", **row} for place, row in enumerate(found)]


# ---- the next boot


def _arguments(host: HostModel) -> str:
    words = [*host.kernel.command_line.split(), *host.kernel.next_arguments.split()]
    return " ".join(word for word in words if word.partition("=")[0] in KEPT_OPTIONS)


def _entry(file: str, place: str, title: str, kernel: str, arguments: str | None) -> Row:
    return {
        "file": file,
        "place": place,
        "title": title,
        "kernel": kernel,
        "arguments": arguments,
        "is_default": place == "0",
    }


def _ubuntu_entries(host: HostModel) -> Rows:
    """The first one; below the second all kernels, each also to mend what is broken."""
    file, arguments = "/boot/grub/grub.cfg", _arguments(host)
    rows = [_entry(file, "0", "Ubuntu", releases(host)[0], arguments)]
    titles = [
        (r, f"Ubuntu, with Linux {r}{end}")
        for r in releases(host)
        for end in ("", " (recovery mode)")
    ]
    for number, (release, title) in enumerate(titles):
        rows.append(_entry(file, f"1>{number}", title, release, arguments))
    return [*rows, _entry(file, "2", "UEFI Firmware Settings", "", None)]


def _red_hat_entries(host: HostModel) -> Rows:
    file, own = "/boot/grub2/grub.cfg", machine_id(host)
    rows = []
    for number, release in enumerate((*releases(host), f"0-rescue-{own}")):
        shown = release.replace(own, short(own))
        title = red_hat_title(host, shown)
        rows.append(_entry(file, str(number), title, shown, _arguments(host)))
    return [*rows, _entry(file, "3", "UEFI Firmware Settings", "", None)]


def _setting(file: str, place: int, name: str, value: str) -> Row:
    return {"file": file, "place": place, "name": name, "value": value}


def _settings(host: HostModel) -> Rows:
    if is_red_hat(host):
        saved = f"{short(machine_id(host))}-{host.kernel.release}"
        return [_setting("/boot/grub2/grubenv", 0, "saved_entry", saved)]
    options = [word for word in _arguments(host).split() if word not in ("ro", "rw")]
    file = "/etc/default/grub"
    return [
        _setting(file, 0, "GRUB_DEFAULT", "0"),
        _setting(file, 1, "GRUB_CMDLINE_LINUX_DEFAULT", ""),
        _setting(file, 2, "GRUB_CMDLINE_LINUX", " ".join(options)),
    ]


def _kernels(host: HostModel) -> Rows:
    newest, older = releases(host)
    rows: Rows = [
        {"release": newest, "has_modules": True, "is_newest": True},
        {"release": older, "has_modules": not is_red_hat(host), "is_newest": False},
    ]
    if is_red_hat(host):
        release = f"0-rescue-{short(machine_id(host))}"
        rows.append({"release": release, "has_modules": False, "is_newest": False})
    return [{**row, "has_image": True} for row in rows]


def _secure_boot(host: HostModel) -> Row:
    return {
        "firmware": "other" if host.kernel.secure_boot is None else "efi",
        "secure_boot": host.kernel.secure_boot is True,
        "lockdown": host.kernel.lockdown,
        "modules_need_signature": host.kernel.lockdown == "integrity",
    }


# ---- owners


def _owned(file: str, said: list[tuple[str, str, str, str]]) -> Rows:
    return [
        {"file": file, "place": n, "owner": owner, "netdev": netdev, "name": name, "value": value}
        for n, (owner, netdev, name, value) in enumerate(said)
    ]


def _owners(host: HostModel) -> Rows:
    rows: Rows = []
    if is_red_hat(host):
        for netdev in managed(host):
            file = f"/etc/NetworkManager/system-connections/{netdev}.nmconnection"
            said = [("interface", ""), ("type", "ethernet"), ("mtu", str(mtu_of(host, netdev)))]
            rows += _owned(file, [("NetworkManager", netdev, *one) for one in said])
        tuned = [("tuned", "", "profile", "throughput-performance")]
        rows += _owned("/etc/tuned/active_profile", tuned)
    else:
        marker = "generated from information provided by the datasource"
        found = [("cloud-init", "", "marker", marker)]
        for netdev in managed(host):
            found.append(("netplan", netdev, "interface", "ethernets"))
            found.append(("netplan", netdev, "mtu", str(mtu_of(host, netdev))))
        rows += _owned("/etc/netplan/50-cloud-init.yaml", found)
    if host.kernel.managed_by:
        tool = host.kernel.managed_by
        rows += _owned(
            "/etc/sysctl.d/90-rdma.conf", [(tool.lower(), "", "marker", f"{tool} managed")]
        )
    if host.kernel.qos_unit:
        calls = [
            ("unit", "", "mlnx_qos", f"-i {netdev} --trust dscp --pfc 0,0,0,1,0,0,0,0")
            for netdev in host.kernel.qos_unit
        ]
        rows += _owned(f"/etc/systemd/system/{UNIT}", calls)
    return rows
