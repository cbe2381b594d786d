"""`nvidia-smi -q -x` and `nvidia-smi topo -m`."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lab.fleet.model import Gpu, HostModel, RootBus
from lab.fleet.render.base import Said
from lab.fleet.render.cpu import cpu_count
from lab.fleet.render.lspci_tree import Spot, spots
from lab.fleet.render.verbs import visible

# nvidia-smi(1), return value 15: the GPU has fallen off the bus or has become inaccessible.
LOST_CODE = 15
LOST = (
    "Unable to determine the device handle for GPU{address}: GPU is lost.  "
    "Reboot the system to recover this GPU\n"
)
_TIME = "Tue Mar  4 09:12:55 2025"
_CUDA = {"525": "12.0", "535": "12.2", "550": "12.4", "560": "12.6", "570": "12.8", "580": "13.0"}


class Product(NamedTuple):
    """What one sort of GPU says about itself."""

    words: tuple[str, ...]  # in the product's name
    architecture: str
    links: int  # NVLinks to each other GPU through the switches; 0 = none
    vbios: str
    memory_mib: int
    power_w: int
    clock_mhz: int
    memory_clocks_mhz: tuple[int, ...]
    clock_low_mhz: int = 345
    part: str = "692-2G520-0200-000"
    chip: str = "2330-885-A1"


# The first whose words are all in the name; the last fits every one and has no NVLink.
PRODUCTS = (
    # Of Blackwell and later the versions, clocks and part numbers are not seen: made up.
    Product(
        ("B300",), "Blackwell", 18, "97.10.4C.00.01", 275040, 1100, 2032, (3996,), 120,
        "692-2G531-0200-000", "3182-886-A1",
    ),
    Product(
        ("B200",), "Blackwell", 18, "97.00.88.00.0F", 183359, 1000, 1965, (3996,), 120,
        "692-2G525-0200-000", "2901-886-A1",
    ),
    Product(("H100", "PCIe"), "Hopper", 0, "96.00.45.00.01", 81559, 350, 1755, (1593,)),
    Product(("H200",), "Hopper", 18, "96.00.BC.00.02", 143771, 700, 1980, (3201, 1593)),
    Product(("H100",), "Hopper", 18, "96.00.89.00.01", 81559, 700, 1980, (2619, 1593)),
    Product(
        ("A100", "PCIe"), "Ampere", 0, "92.00.68.00.01", 81920, 300, 1410, (1512,), 210,
        "900-21001-0020-100", "20B5-895-A1",
    ),
    Product(
        ("A100",), "Ampere", 12, "92.00.45.00.03", 81920, 400, 1410, (1593,), 210,
        "692-2G506-0210-002", "20B2-895-A1",
    ),
    Product(("A40",), "Ampere", 4, "94.02.5C.00.03", 46068, 300, 1740, (7251,), 210),
    Product((), "Ada Lovelace", 0, "95.02.66.00.02", 46068, 350, 2520, (9001,), 210),
)  # fmt: skip


@lru_cache(maxsize=32)
def product_of(name: str) -> Product:
    """The product that a name stands for."""
    return next(found for found in PRODUCTS if all(word in name for word in found.words))


# ---- nvidia-smi -q -x


@lru_cache(maxsize=1)
def _template() -> str:
    return (Path(__file__).parent / "nvidia_smi_gpu.txt").read_text("utf-8")


@lru_cache(maxsize=32)
def _clocks(product: Product) -> str:
    """Every graphics clock for every memory clock: half of the whole answer."""
    steps = range(product.clock_mhz, product.clock_low_mhz - 1, -15)
    graphics = "".join(
        f"\t\t\t\t<supported_graphics_clock>{step} MHz</supported_graphics_clock>\n"
        for step in steps
    )
    return "".join(
        f"\t\t\t<supported_mem_clock>\n\t\t\t\t<value>{memory} MHz</value>\n{graphics}"
        "\t\t\t</supported_mem_clock>\n"
        for memory in product.memory_clocks_mhz
    )


def _gpu(gpu: Gpu, spot: Spot, above: Spot | None, host: HostModel) -> str:
    function, product = spot.function, product_of(gpu.product)
    domain, bus, rest = gpu.address.split(":")
    used = 78_000 * product.memory_mib // 81_559
    switched = product.links > 4
    return _template().format(
        id=f"0000{domain}:{bus.upper()}:{rest}", domain=domain, bus=bus.upper(), device=rest[:2],
        product=gpu.product, architecture=product.architecture, serial=gpu.serial, uuid=gpu.uuid,
        number=gpu.number, vbios=product.vbios, board=f"{int(bus, 16):x}00",
        board_part=product.part, gpu_part=product.chip, driver=host.gpu_driver,
        persistence="Enabled", addressing="HMM" if host.kernel.gpu_driver_open else "None",
        peer="Switch Connected" if switched else "N/A", module=gpu.number + 1,
        image="G520.0200.00.05", ecc_object="7.16",
        virtualization="Pass-Through" if host.virtual else "None",
        pci_id=f"{function.device:04X}{function.vendor:04X}",
        subsystem=f"{function.subsystem[1]:04X}{function.subsystem[0]:04X}",
        generation=function.generation, generation_max=function.generation_max,
        generation_host=above.function.generation_max if above else function.generation_max,
        width=function.width, width_max=function.width_max,
        memory=product.memory_mib, memory_used=used, memory_free=product.memory_mib - 551 - used,
        temperature=31 + gpu.number, headroom=56 - gpu.number, memory_temperature=44 + gpu.number,
        power=f"{69.41 + gpu.number:.2f}", power_limit=f"{product.power_w}.00",
        clock_low=product.clock_low_mhz, clock_high=product.clock_mhz,
        clock_memory=product.memory_clocks_mhz[0], clocks=_clocks(product), pid=4242 + gpu.number,
        fabric="Completed" if switched else "N/A",
        fabric_status="Success" if switched else "N/A",
    )  # fmt: skip


def query(host: HostModel) -> str:
    """`nvidia-smi -q -x`."""
    places = spots(host.buses)
    gpus = []
    for gpu in host.gpus:
        spot = places[gpu.address]
        above = places[spot.above[-1]] if spot.above else None
        gpus.append(_gpu(gpu, spot, above, host))
    return (
        '<?xml version="1.0" ?>\n'
        '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
        "<nvidia_smi_log>\n"
        f"\t<timestamp>{_TIME}</timestamp>\n"
        f"\t<driver_version>{host.gpu_driver}</driver_version>\n"
        f"\t<cuda_version>{_CUDA.get(host.gpu_driver[:3], '12.8')}</cuda_version>\n"
        f"\t<attached_gpus>{len(host.gpus)}</attached_gpus>\n" + "\n".join(gpus) + "\n"
        "</nvidia_smi_log>\n"
    )


# ---- nvidia-smi topo -m

_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
"""  # noqa: E501
_NVLINK_LEGEND = "  NV#  = Connection traversing a bonded set of # NVLinks\n"


def relation(one: Spot, other: Spot, places: dict[str, Spot]) -> str:
    """How a path between two functions runs."""
    if one.numa != other.numa or one.numa < 0:
        return "SYS"
    if one.bus != other.bus:
        return "NODE"
    common = 0
    for left, right in zip(one.above, other.above, strict=False):
        if left != right:
            break
        common += 1
    if not common:
        return "PHB"
    # A switch is one upstream port: those that only one of both is behind add to a common one.
    apart = (*one.above[common:], *other.above[common:])
    more = sum(places[address].function.kind == "upstream" for address in apart)
    return "PXB" if more else "PIX"


@lru_cache(maxsize=256)
def _matrix(
    gpus: tuple[str, ...], links: int, nics: tuple[str, ...], buses: tuple[RootBus, ...]
) -> tuple[tuple[str, ...], ...]:
    places = spots(buses)
    everything = (*gpus, *nics)
    rows = []
    for row, one in enumerate(everything):
        cells = []
        for column, other in enumerate(everything):
            if row == column:
                cells.append(" X ")
            elif links and row < len(gpus) and column < len(gpus):
                cells.append(f"NV{links}")
            else:
                cells.append(relation(places[one], places[other], places))
        rows.append(tuple(cells))
    return tuple(rows)


def links_between(host: HostModel) -> int:
    """NVLinks between two GPUs: boards with four have no switch, each GPU shares its links out."""
    links = product_of(host.gpus[0].product).links if host.gpus else 0
    return links // 3 if "4-GPU" in host.server_model else links


def topology(host: HostModel) -> str:
    """`nvidia-smi topo -m`: tabs between the cells, empty cells behind the NICs."""
    nics = visible(host)
    links = links_between(host)
    gpus = tuple(gpu.address for gpu in host.gpus)
    matrix = _matrix(gpus, links, tuple(nic.address for nic in nics), host.buses)
    newer = int(host.gpu_driver.split(".")[0]) >= 535  # since then with a column for the GPU's node
    names = [f"GPU{place}" for place in range(len(gpus))]
    names += [f"NIC{place}" for place in range(len(nics))]
    heading = [*names, "CPU Affinity", "NUMA Affinity", *(["GPU NUMA ID"] if newer else [])]
    lines = ["\t".join(["", *heading])]
    for place, (name, cells) in enumerate(zip(names, matrix, strict=True)):
        if place < len(gpus):
            numa = spots(host.buses)[gpus[place]].numa
            everywhere = f"0-{cpu_count(host.cpu) - 1}"
            tail = [host.cpus[numa], str(numa)] if numa >= 0 else [everywhere, "N/A"]
            tail += ["", "N/A"] if newer else []
        else:
            tail = [""] * (4 if newer else 3)
        lines.append("\t".join([name, *cells, *tail]))
    text = "\n".join(lines) + "\n" + _LEGEND + (_NVLINK_LEGEND if links else "")
    if nics:
        listed = "\n".join(f"  NIC{place}: {nic.name}" for place, nic in enumerate(nics))
        text += f"\nNIC Legend:\n\n{listed}\n"
    return text + "\n"


def commands(host: HostModel) -> Iterator[Said]:
    """Both; without a GPU there is no nvidia-smi, and one that is lost ends it."""
    places = spots(host.buses)
    lost = [gpu for gpu in host.gpus if places[gpu.address].function.dead]
    for command in ("nvidia-smi -q -x", "nvidia-smi topo -m") if lost else ():
        yield Said(command, LOST.format(address=lost[0].address), code=LOST_CODE)
    if lost:
        return
    if host.gpus:
        yield Said("nvidia-smi -q -x", query(host))
        yield Said("nvidia-smi topo -m", topology(host))
