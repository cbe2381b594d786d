"""What the host's tools answer: a file per answer, and shell scripts that print it.

The scripts use nothing but shell builtins and `cat`, so that they run in any root, even one that
holds a single static busybox.
"""

import json
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from lab.fakehost.model import Function, Gpu, HostModel, Netdev, Nic
from lab.fakehost.pci import SPEEDS
from lab.fakehost.tree import Folder

ANSWERS = "opt/railwright-lab/answers"
BUSYBOX = Path("/bin/busybox")
# Usable bandwidth per lane that Linux computes from a speed (PCIE_SPEED2MBS_ENC), in Mb/s.
LANE_MBPS = {1: 2000, 2: 4000, 3: 7877, 4: 15753, 5: 31507, 6: 60475}

_MLXCONFIG = f"""#!/bin/sh
# mlxconfig -d DEVICE -e query
device= enhanced= command=
while [ $# -gt 0 ]; do
  case "$1" in
    -d) device=$2; shift ;;
    -e) enhanced=yes ;;
    *) command=$1 ;;
  esac
  shift
done
case "$device" in ????:??:??.?) ;; *) device=0000:$device ;; esac
if [ "$command" != query ] && [ "$command" != q ] || [ -z "$enhanced" ]; then
  echo "-E- this lab's mlxconfig only knows: -d DEVICE -e query" >&2
  exit 1
fi
if [ ! -r "/{ANSWERS}/mlxconfig/$device.txt" ]; then
  echo "-E- Failed to open the device" >&2
  exit 3
fi
exec cat "/{ANSWERS}/mlxconfig/$device.txt"
"""

_ONE_ANSWER = """#!/bin/sh
if [ "$*" != "{arguments}" ]; then
  echo "this lab's {name} only knows: {name} {arguments}" >&2
  exit 1
fi
exec cat "/{answers}/{answer}"
"""


def write_tools(root: Path, host: HostModel) -> None:
    """mlxconfig, lldpctl, nvidia-smi and dmesg with their answers, below a root folder."""
    files = Folder(root)
    answers = {f"{nic.address}.txt": mlxconfig_answer(nic) for nic in host.nics}
    files.write(f"{ANSWERS}/mlxconfig", answers)
    files.write(
        ANSWERS,
        {
            "lldpctl.json": lldpctl_answer(host),
            "nvidia-smi.xml": nvidia_smi_answer(host),
            "dmesg.txt": dmesg_answer(host),
        },
    )
    programs = {
        "mlxconfig": _MLXCONFIG,
        "nvidia-smi": _printer("nvidia-smi", "-q -x", "nvidia-smi.xml"),
        "dmesg": _printer("dmesg", "", "dmesg.txt"),
    }
    files.write("usr/bin", programs, mode=0o755)
    lldpctl = {"lldpctl": _printer("lldpctl", "-f json0", "lldpctl.json")}
    files.write("usr/sbin", lldpctl, mode=0o755)


def _printer(name: str, arguments: str, answer: str) -> str:
    return _ONE_ANSWER.format(name=name, arguments=arguments, answer=answer, answers=ANSWERS)


def write_identity(root: Path, host: HostModel) -> None:
    """What a host says about itself, where no real root says it."""
    files = Folder(root)
    files.write("etc", {"os-release": f'PRETTY_NAME="{host.operating_system}"\nID=ubuntu\n'})
    files.write("proc/sys/kernel", {"hostname": f"{host.name}\n"})
    files.write("proc/sys/kernel/random", {"boot_id": f"{host.boot_id}\n"})


def add_shell(root: Path) -> None:
    """A shell and `cat`, so that the tools run with this folder as root."""
    (root / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy2(BUSYBOX, root / "bin/busybox")
    for name in ("sh", "cat"):
        (root / "bin" / name).unlink(missing_ok=True)
        (root / "bin" / name).hardlink_to(root / "bin/busybox")


# ---- mlxconfig: the layout of the current generation, three value columns


@lru_cache(maxsize=1)
def _parameters() -> tuple[tuple[str, str, str], ...]:
    text = (Path(__file__).parent / "parameters.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return tuple((name, default, current) for name, default, current in rows)


def _table(changed: Mapping[str, tuple[str, str]]) -> str:
    heading = "Configurations:".ljust(56) + "Default".ljust(34) + "Current".ljust(34)
    lines = [heading + "Next Boot".ljust(33)]
    stars = False
    for name, default, usual in _parameters():
        current, following = changed.get(name, (usual, usual))
        star = following not in (default, current) or default != current
        stars = stars or star
        lines.append(
            f"{'*' if star else ' '}       {name:48}{default:33} {current:33} {following:33}"
        )
    if stars:
        lines.append(
            "The '*' shows parameters with next value different from default/current value."
        )
    return "\n".join(lines) + "\n"


_usual_table = lru_cache(maxsize=1)(lambda: _table({}))


def mlxconfig_answer(nic: Nic) -> str:
    """`mlxconfig -d PCI -e query` of one function."""
    head = (
        "\nDevice #1:\n----------\n\n"
        f"Device type:        {nic.family:20}\n"
        f"Name:               {nic.part_number:20}\n"
        f"Description:        {nic.description:20}\n"
        f"Device:             {nic.address:20}\n\n"
    )
    return head + (_table(nic.parameters) if nic.parameters else _usual_table())


# ---- lldpctl


def _interface(number: int, netdev: Netdev) -> dict[str, object]:
    """One neighbour, as `lldpctl -f json0` prints it: lists and values everywhere."""
    neighbor = netdev.neighbor
    assert neighbor is not None
    chassis = {
        "id": [{"type": "mac", "value": neighbor.chassis}],
        "name": [{"value": neighbor.system}],
        "descr": [{"value": neighbor.description}],
        "mgmt-ip": [{"value": neighbor.management}],
        "capability": [
            {"type": "Bridge", "enabled": True},
            {"type": "Router", "enabled": True},
        ],
    }
    port = {
        "id": [{"type": "ifname", "value": neighbor.port}],
        "descr": [{"value": neighbor.port_description}],
        "ttl": [{"value": "120"}],
    }
    return {
        "name": netdev.netdev,
        "via": "LLDP",
        "rid": str(number),
        "age": f"3 days, 04:11:{49 + number % 10}",
        "chassis": [chassis],
        "port": [port],
    }


def lldpctl_answer(host: HostModel) -> str:
    """Neighbours of all ports that have a link."""
    heard = [n for n in (*host.nics, *host.netdevs) if n.up and n.neighbor is not None]
    interfaces = [_interface(number, netdev) for number, netdev in enumerate(heard, 1)]
    lldp = {"interface": interfaces} if interfaces else {}
    return json.dumps({"lldp": [lldp]}, indent=2) + "\n"


# ---- nvidia-smi


def _gpu(gpu: Gpu, function: Function) -> str:
    domain, bus, rest = gpu.address.split(":")
    address = f"0000{domain}:{bus.upper()}:{rest}"
    link = f"""\
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>{function.generation_max}</max_link_gen>
					<current_link_gen>{function.generation}</current_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>{function.width_max}x</max_link_width>
					<current_link_width>{function.width}x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>"""
    return f"""\
	<gpu id="{address}">
		<product_name>{gpu.product}</product_name>
		<product_brand>NVIDIA</product_brand>
		<persistence_mode>Enabled</persistence_mode>
		<serial>{gpu.serial}</serial>
		<uuid>{gpu.uuid}</uuid>
		<minor_number>{gpu.number}</minor_number>
		<vbios_version>96.00.89.00.01</vbios_version>
		<pci>
			<pci_bus>{bus.upper()}</pci_bus>
			<pci_device_id>{function.device:04X}{function.vendor:04X}</pci_device_id>
			<pci_bus_id>{address}</pci_bus_id>
{link}
			<replay_counter>0</replay_counter>
		</pci>
		<processes>
			<process_info>
				<pid>{4242 + gpu.number}</pid>
				<process_name>/home/somebody/train.py --token not-to-leave-the-host</process_name>
			</process_info>
		</processes>
	</gpu>
"""


def _functions(host: HostModel) -> dict[str, tuple[Function, str]]:
    """Every function by address, with the address of the port above it."""
    found: dict[str, tuple[Function, str]] = {}
    waiting = [(function, "") for bus in host.buses for function in bus.functions]
    while waiting:
        function, above = waiting.pop()
        found[function.address] = function, above
        waiting += [(child, function.address) for child in function.below]
    return found


def nvidia_smi_answer(host: HostModel) -> str:
    """`nvidia-smi -q -x`."""
    functions = _functions(host)
    gpus = "\n".join(_gpu(gpu, functions[gpu.address][0]) for gpu in host.gpus)
    return (
        '<?xml version="1.0" ?>\n'
        '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
        "<nvidia_smi_log>\n"
        "\t<timestamp>Tue Mar  4 09:12:55 2025</timestamp>\n"
        f"\t<driver_version>{host.gpu_driver}</driver_version>\n"
        "\t<cuda_version>12.8</cuda_version>\n"
        f"\t<attached_gpus>{len(host.gpus)}</attached_gpus>\n"
        f"{gpus}</nvidia_smi_log>\n"
    )


# ---- dmesg


def _bandwidth(generation: int, width: int) -> str:
    megabits = LANE_MBPS[generation] * width
    return f"{megabits // 1000}.{megabits % 1000:03d} Gb/s"


def dmesg_answer(host: HostModel) -> str:
    """What mlx5_core says at boot: firmware, and the PCIe bandwidth it got."""
    functions = _functions(host)
    lines = []
    for number, nic in enumerate(host.nics):
        function, above = functions[nic.address]
        head = f"[{9.8 + number / 10:12.6f}] mlx5_core {nic.address}: "
        now = f"{SPEEDS[function.generation]} GT/s PCIe x{function.width} link"
        best = f"{SPEEDS[function.generation_max]} GT/s PCIe x{function.width_max} link"
        text = f"{_bandwidth(function.generation, function.width)} available PCIe bandwidth"
        if now == best:
            text += f" ({best})"
        else:
            most = _bandwidth(function.generation_max, function.width_max)
            text += f", limited by {now} at {above} (capable of {most} with {best})"
        lines += [f"{head}firmware version: {nic.firmware}", head + text]
    return "\n".join(lines) + "\n"
