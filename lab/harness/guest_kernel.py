"""What the kernel of a guest says of itself, read over ssh with grep and the kernel's own tools.

A second opinion for tests/test_guests.py: no probe, no runner and no parser of ours is asked. Each
function gives the rows of one fact table; a column that is left out is named in NOT_COMPARED.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.guest import GuestMachine

Row = dict[str, object]

# One grep reads all: a program each would take minutes of an emulated processor.
FILES = """cd /sys/class
grep -s '' infiniband/*/* infiniband/*/ports/*/* infiniband/*/ports/*/pkeys/* \
  infiniband/*/ports/*/gid_attrs/*/* infiniband/*/ports/*/hw_counters/* infiniband_verbs/*/ibdev \
  infiniband_mad/*/ibdev infiniband_mad/*/port net/*/*
grep -s -v -e '^\\(0000:\\)*0000$' -e '^fe80:\\(0000:\\)*0000$' infiniband/*/ports/*/gids/*
cd /sys/devices/system && grep -s '' node/node*/cpulist && grep -s MemTotal node/node*/meminfo
for name in /sys/class/net/*; do echo "path/${name##*/}:$(readlink -f $name)"; done
true
"""
COUNTERS = "grep -s '' /sys/class/infiniband/*/ports/*/hw_counters/*"
TOOLS = {
    "address": "ip -j address",
    "route": "ip -o -4 route show table main",
    "lldp": "lldpcli -f keyvalue show neighbors details",
    "link": "rdma link show",
    "dev": "rdma dev show",
    "system": "rdma system show",
}
_MARK = "=====lab====="

# table.column -> why it is not held against the kernel
NOT_COMPARED = {
    "lldp_neighbor.age_text": "grows while it is read",
    "lldp_neighbor.management_addresses": "lldpd chooses some of the neighbor's addresses",
    "lldp_neighbor.port_description": "free text: only names of switch ports leave the host",
    "lldp_neighbor.rid": "lldpd's own number, in order of arrival",
    "lldp_neighbor.system_description": "free text: only that of known switch systems is kept",
    "numa_node.memory_free_mb": "changes while it is read",
    "rdma_counter.value": "held between two readings instead: sshd's own traffic is not RDMA",
    "rdma_statistic.value": "the same",
}

# Tables that a guest fills otherwise, or not at all, and why they are not read twice here.
OTHER_TABLES = {
    "verbs_device, verbs_port, verbs_gid": "libibverbs tells what the kernel tells: pairs of "
    "disagreement.toml, of which a sound guest has none",
    "netdev_counter": "virtio has none of the names that counters.toml knows",
    "ethtool_link, transceiver, netdev_fec, netdev_pause": "virtio has no physical port",
    "ecn_parameter, ecn_priority, roce_tos": "files of mlx5, which a guest does not have",
    "pci_config, pcie_path": "QEMU's own: every endpoint trains at 2.5 GT/s x1",
    "gpu, gpu_nic, gpu_smi": "a guest has no GPU",
    "nic_parameter, mlxlink_port, nic_firmware, nic_reset, qos_port": "of the model: FROM_MODEL",
}


@dataclass
class Kernel:
    """One guest's answers."""

    files: dict[str, str]  # path below /sys/class, /sys/devices/system or `path` -> content
    tools: dict[str, str]

    def below(self, pattern: str) -> list["re.Match[str]"]:
        """Files whose whole path matches."""
        found = (re.fullmatch(pattern, path) for path in self.files)
        return [match for match in found if match]

    def number(self, path: str) -> int | None:
        """Of a file that holds one; None where it is not there or says -1."""
        text = self.files.get(path, "")
        return int(text, 0) if re.fullmatch(r"0x[0-9a-f]+|[0-9]+", text) else None


def read(machine: GuestMachine) -> Kernel:
    """Ask everything in one login."""
    tools = "".join(f"echo {_MARK}{name}\n{command}\n" for name, command in TOOLS.items())
    said = machine.run(FILES + tools).split(_MARK)
    lines = (line.partition(":") for line in said[0].splitlines())
    parts = (part.partition("\n") for part in said[1:])
    return Kernel({path: text for path, _, text in lines}, {name: text for name, _, text in parts})


def counters(machine: GuestMachine) -> dict[tuple[str, int, str], int]:
    """(device, port, name) -> value, now."""
    pattern = r"/sys/class/infiniband/(\w+)/ports/(\d+)/hw_counters/(\w+):(\d+)"
    found = re.findall(pattern, machine.run(COUNTERS))
    return {(device, int(port), name): int(value) for device, port, name, value in found}


def _word(text: str) -> str:
    """ACTIVE of '4: ACTIVE'."""
    return text.partition(": ")[2]


def rdma_device(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"infiniband/(\w+)/node_guid"):
        base = f"infiniband/{found[1]}"
        yield {
            "device": found[1],
            "pci": "",  # no PCI function is behind a software device
            "node_guid": kernel.files[f"{base}/node_guid"],
            "sys_image_guid": kernel.files[f"{base}/sys_image_guid"],
            "firmware_version": kernel.files.get(f"{base}/fw_ver", ""),
            "hca_type": kernel.files.get(f"{base}/hca_type", ""),
            "psid": kernel.files.get(f"{base}/board_id", ""),
            "node_type": _word(kernel.files[f"{base}/node_type"]),
        }


def rdma_port(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"infiniband/(\w+)/ports/(\d+)/state"):
        base = f"infiniband/{found[1]}/ports/{found[2]}"
        rate = kernel.files[f"{base}/rate"]
        first = min(int(gid["index"]) for gid in gid_rows(kernel) if gid["device"] == found[1])  # type: ignore[call-overload]
        yield {
            "device": found[1],
            "port": int(found[2]),
            "link_layer": kernel.files[f"{base}/link_layer"],
            "state": _word(kernel.files[f"{base}/state"]),
            "state_code": int(kernel.files[f"{base}/state"].partition(":")[0]),
            "physical_state": _word(kernel.files[f"{base}/phys_state"]),
            "rate_gbps": float(rate.split(" ")[0]),
            "rate_text": rate,
            "lid": kernel.number(f"{base}/lid"),
            "sm_lid": kernel.number(f"{base}/sm_lid"),
            "lid_mask_count": kernel.number(f"{base}/lid_mask_count"),
            "capability_mask": kernel.number(f"{base}/cap_mask"),
            "netdev": kernel.files[f"{base}/gid_attrs/ndevs/{first}"],
        }


def gid_rows(kernel: Kernel) -> Iterator[Row]:
    """Empty slots were left out by grep."""
    for found in kernel.below(r"infiniband/(\w+)/ports/(\d+)/gids/(\d+)"):
        base = f"infiniband/{found[1]}/ports/{found[2]}/gid_attrs"
        yield {
            "device": found[1],
            "port": int(found[2]),
            "index": int(found[3]),
            "gid": kernel.files[found[0]],
            "type": kernel.files[f"{base}/types/{found[3]}"],
            "netdev": kernel.files[f"{base}/ndevs/{found[3]}"],
        }


def pkey(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"infiniband/(\w+)/ports/(\d+)/pkeys/(\d+)"):
        key = int(kernel.files[found[0]], 16)
        if key:
            yield {
                "device": found[1],
                "port": int(found[2]),
                "index": int(found[3]),
                "pkey": kernel.files[found[0]],
                "partition": key & 0x7FFF,
                "membership": "full" if key & 0x8000 else "limited",
            }


def rdma_node(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"infiniband_(?:verbs|mad)/((uverbs|umad)\d+)/ibdev"):
        port = 0 if found[2] == "uverbs" else kernel.number(found[0].replace("ibdev", "port"))
        yield {
            "name": found[1],
            "kind": found[2],
            "device": kernel.files[found[0]],
            "port": port,
        }


def rdma_link(kernel: Kernel) -> Iterator[Row]:
    pattern = r"link (\w+)/(\d+) state (\w+) physical_state (\w+) netdev (\S+)"
    for device, port, state, physical, netdev in re.findall(pattern, kernel.tools["link"]):
        yield {
            "device": device, "port": int(port), "state": state, "physical_state": physical,
            "netdev": netdev, "lid": None, "sm_lid": None, "lid_mask_count": None,
            "subnet_prefix": None,
        }  # fmt: skip


def rdma_dev(kernel: Kernel) -> Iterator[Row]:
    pattern = (
        r"(\d+): (\w+): node_type (\w+)(?: protocol (\w+))?(?: fw (\S+))?"
        r"(?: fw)? node_guid (\S+) sys_image_guid (\S+)"
    )
    for found in re.findall(pattern, kernel.tools["dev"]):
        index, device, kind, protocol, firmware, guid, image = found
        yield {
            "device": device, "index": int(index), "node_type": kind, "protocol": protocol or None,
            # Soft-RoCE has none; this `rdma` then prints no word of it, hence NULL.
            "firmware_version": firmware or None, "node_guid": guid, "sys_image_guid": image,
        }  # fmt: skip


def rdma_system(kernel: Kernel) -> Iterator[Row]:
    words = kernel.tools["system"].split()
    copies = words[words.index("copy-on-fork") + 1] == "on" if "copy-on-fork" in words else None
    yield {"netns_mode": words[words.index("netns") + 1], "copy_on_fork": copies}


def netdev(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"net/(\w+)/ifindex"):
        base, path = f"net/{found[1]}", kernel.files[f"path/{found[1]}"]
        functions = re.findall(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", path)
        carrier = kernel.files.get(f"{base}/carrier")
        yield {
            "name": found[1],
            "pci": functions[-1] if functions else "",
            "kind": "virtual" if "/virtual/" in path else "physical",
            "mac": kernel.files[f"{base}/address"],
            "mtu": kernel.number(f"{base}/mtu"),
            "operstate": kernel.files[f"{base}/operstate"],
            "carrier": None if carrier is None else carrier == "1",
            "speed_mbps": kernel.number(f"{base}/speed"),
            "duplex": kernel.files.get(f"{base}/duplex"),
            "ifindex": kernel.number(f"{base}/ifindex"),
            "arp_type": kernel.number(f"{base}/type"),
            "dev_port": kernel.number(f"{base}/dev_port"),
            "port_name": kernel.files.get(f"{base}/phys_port_name", ""),
            "switch_id": kernel.files.get(f"{base}/phys_switch_id", ""),
            "carrier_changes": kernel.number(f"{base}/carrier_changes"),
            "flags": kernel.files[f"{base}/flags"],
            "master": "",
        }


def address(kernel: Kernel) -> Iterator[Row]:
    for link in json.loads(kernel.tools["address"]):
        for one in link["addr_info"]:
            # What is no number and no text of its own is a flag that is on.
            flags = sorted(name for name, value in one.items() if value is True)
            yield {
                "netdev": link["ifname"], "family": one["family"], "address": one["local"],
                "place": 0, "prefix_length": one["prefixlen"], "peer": "", "scope": one["scope"],
                "label": one.get("label", ""), "flags": ",".join(flags),
            }  # fmt: skip


def route(kernel: Kernel) -> Iterator[Row]:
    """IPv4 of table main: what the addresses brought along."""
    pattern = r"(\S+) dev (\w+) proto (\w+) scope (\w+) src (\S+)"
    for destination, device, protocol, scope, source in re.findall(pattern, kernel.tools["route"]):
        yield {
            "family": "inet", "routing_table": "main", "destination": destination, "place": 0,
            "prefix_length": int(destination.partition("/")[2]), "other": "", "type": "unicast",
            "gateway": "", "netdev": device, "weight": 0, "source": source, "protocol": protocol,
            "scope": scope, "metric": 0, "mtu": 0, "flags": "", "nexthop_id": 0,
        }  # fmt: skip


def lldp_neighbor(kernel: Kernel) -> Iterator[Row]:
    """Neighbors of one rail have the same keys; each begins with the protocol it was heard by."""
    neighbors: list[tuple[str, dict[str, str]]] = []
    for line in kernel.tools["lldp"].splitlines():
        key, _, value = line.partition("=")
        _, name, key = key.split(".", 2)
        if key == "via":
            neighbors.append((name, {}))
        neighbors[-1][1][key] = value
    for name, said in neighbors:
        yield {
            "netdev": name,
            "chassis_id": said["chassis.mac"],
            "chassis_id_type": "mac",
            "system_name": said["chassis.name"],
            "port_id": said["port.ifname"],
            "port_id_type": "ifname",
            "ttl_s": int(said["port.ttl"]),
        }


def numa_node(kernel: Kernel) -> Iterator[Row]:
    for found in kernel.below(r"node/node(\d+)/cpulist"):
        memory = kernel.files[f"node/node{found[1]}/meminfo"]
        cpus = kernel.files[found[0]]
        yield {
            "node": int(found[1]),
            "cpus": cpus,
            "cpu_count": 1 if cpus else 0,  # a guest has one
            "memory_total_mb": int(memory.split()[-2]) // 1024,
        }


def compared(
    table: str, columns: set[str], found: list[Row], kernel: Kernel
) -> tuple[list[Row], list[Row]]:
    """What was read and what the kernel says, in an order that does not depend on the reading."""
    expected = list(TABLES[table](kernel))
    assert expected, f"{table}: the kernel says nothing"
    chosen = {name for name in columns if f"{table}.{name}" not in NOT_COMPARED}
    assert chosen == set(expected[0]), f"{table}: a column is neither compared nor given a reason"
    if table == "route":
        found = [r for r in found if (r["family"], r["routing_table"]) == ("inet", "main")]
    return only(found, chosen), only(expected, chosen)


def only(rows: list[Row], columns: set[str]) -> list[Row]:
    """Rows with these columns, sorted."""
    return sorted(({name: row[name] for name in sorted(columns)} for row in rows), key=str)


TABLES: dict[str, Callable[[Kernel], Iterator[Row]]] = {
    "rdma_device": rdma_device,
    "rdma_port": rdma_port,
    "gid": gid_rows,
    "pkey": pkey,
    "rdma_node": rdma_node,
    "rdma_link": rdma_link,
    "rdma_dev": rdma_dev,
    "rdma_system": rdma_system,
    "netdev": netdev,
    "address": address,
    "route": route,
    "lldp_neighbor": lldp_neighbor,
    "numa_node": numa_node,
}
