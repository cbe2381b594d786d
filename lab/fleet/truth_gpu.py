"""The truth about GPUs as their driver tells it: nvidia-smi -q and nvidia-smi topo."""

from typing import NamedTuple

from lab.fleet.model import HostModel, rdma_is_here
from lab.fleet.truth_places import Placed, Row, Rows, Tables, cpu_total, placed


class Product(NamedTuple):
    """What all GPUs of one name have."""

    vbios: str
    nvlinks: int  # to each other GPU where a switch connects them; 0 = no NVLink


PRODUCTS = {
    "NVIDIA H100 80GB HBM3": Product("96.00.89.00.01", 18),
    "NVIDIA A100-SXM4-80GB": Product("92.00.45.00.03", 12),
    "NVIDIA A100 80GB PCIe": Product("92.00.68.00.01", 0),
}
# Branch of the driver -> the newest CUDA that it supports.
CUDA = {"535": "12.2", "550": "12.4", "570": "12.8"}


def tables(host: HostModel) -> Tables:
    """gpu_smi, gpu_topology, gpu_affinity."""
    return {
        "gpu_smi": _smi(host),
        "gpu_topology": _topology(host),
        "gpu_affinity": _affinity(host),
    }


def _smi(host: HostModel) -> Rows:
    spots = placed(host)
    rows = []
    for gpu in host.gpus:
        spot = spots[gpu.address]
        generation, width = spot.link
        slot = spot.above[-1] if spot.above else spot.function
        rows.append(
            {
                "pci": gpu.address,
                "name": gpu.product,
                "uuid": gpu.uuid,
                "serial": gpu.serial,
                "minor_number": gpu.number,
                "vbios_version": PRODUCTS[gpu.product].vbios,
                "driver_version": host.gpu_driver,
                "cuda_version": CUDA[host.gpu_driver.split(".")[0]],
                "persistence_mode": "Enabled",
                "pcie_gen_current": generation,
                "pcie_gen_max": min(spot.function.generation_max, slot.generation_max),
                "pcie_width_current": width,
                "pcie_width_max": min(spot.function.width_max, slot.width_max),
                "replay_counter": 0,
                "fabric_state": "Completed" if PRODUCTS[gpu.product].nvlinks else "",
                "fabric_status": "Success" if PRODUCTS[gpu.product].nvlinks else "",
            }
        )
    return rows


def nearness(one: Placed, other: Placed) -> str:
    """How a path between two PCI functions runs, in the words of nvidia-smi topo.

    A switch is known by its upstream port: PIX where both are below one and the same switch with no
    further one between, PXB where more switches are on the way.
    """
    if one.numa < 0 or other.numa < 0 or one.numa != other.numa:
        return "SYS"
    if one.root_bus != other.root_bus:
        return "NODE"
    if not one.above or not other.above or one.above[0] != other.above[0]:
        return "PHB"
    switches = [{f.address for f in spot.above if f.kind == "upstream"} for spot in (one, other)]
    return "PXB" if switches[0] ^ switches[1] else "PIX"


def _affinity(host: HostModel) -> Rows:
    """No processor of the fleet can use a GPU's memory as its own."""
    spots = placed(host)
    rows: Rows = []
    for place, gpu in enumerate(host.gpus):
        numa = spots[gpu.address].numa
        rows.append(
            {
                "gpu": f"GPU{place}",
                "cpu_affinity": host.cpus[numa] if numa >= 0 else f"0-{cpu_total(host) - 1}",
                "numa_affinity": str(numa) if numa >= 0 else "",
                "gpu_numa_id": "",
            }
        )
    return rows


def _nvlinks(host: HostModel) -> int:
    """A board of four GPUs has no switch: each shares its links out among the three others."""
    links = PRODUCTS[host.gpus[0].product].nvlinks
    return links // (len(host.gpus) - 1) if "4-GPU" in host.server_model else links


def _topology(host: HostModel) -> Rows:
    """Both directions of each pair; NICs in the order of their RDMA names."""
    spots = placed(host)
    nics = [nic for nic in host.nics if rdma_is_here(host, nic)]
    things = [(f"GPU{place}", "", gpu.address) for place, gpu in enumerate(host.gpus)]
    things += [(f"NIC{place}", nic.name, nic.address) for place, nic in enumerate(nics)]
    links = _nvlinks(host)
    rows: list[Row] = []
    for a, a_device, a_pci in things:
        for b, b_device, b_pci in things:
            if a == b:
                continue
            joined = bool(links) and not a_device and not b_device
            far = nearness(spots[a_pci], spots[b_pci])
            rows.append(
                {
                    "a": a,
                    "b": b,
                    "a_device": a_device,
                    "b_device": b_device,
                    "relation": f"NV{links}" if joined else far,
                    "nvlinks": links if joined else 0,
                }
            )
    return rows
