"""A log of NCCL: each process with its network, devices, GPUDirect, channels, settings, errors.

Only what a log of NCCL_DEBUG=INFO says is known; of NCCL_DEBUG=WARN there are errors alone. Words
follow NCCL 2.10 to 2.28 (src/transport/net.cc, net_ib.cc, src/init.cc) and its RDMA plugin.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.nccl_log_errors import error_values
from railwright.parse.nccl_log_lines import Message, messages

_VERSION = re.compile(r"NCCL version ([0-9][0-9A-Za-z.+_-]{1,60})")
_NETWORK = re.compile(r"(?:Using network (.{1,60})|Assigned NET plugin (.{1,60}) to comm)")
_INIT = re.compile(r"\brank ([0-9]{1,8}) nranks ([0-9]{1,8})\b.{0,200} - Init (START|COMPLETE)")
_BUS = re.compile(r"\bbusId ([0-9a-f]{1,13})\b")
_COMM = re.compile(
    r"comm \S{1,20} rank [0-9]{1,8} nRanks ([0-9]{1,8}) nNodes ([0-9]{1,8}) localRanks ([0-9]{1,8})"
)
# " [0]mlx5_0:1/RoCE", or several as one: " [0]={[0] mlx5_8:1/RoCE, [1] mlx5_9:1/RoCE}"
_PORT = r"([A-Za-z0-9_.-]{1,64}):([0-9]{1,3})/([A-Za-z]{1,12})"
_NET = re.compile(rf"\[([0-9]{{1,3}})\](?:=\{{([^}}\n]{{1,600}})\}}|{_PORT})")
_MEMBER = re.compile(rf"\[([0-9]{{1,3}})\] {_PORT}")
_OOB = re.compile(r"; OOB ([A-Za-z0-9_.@-]{1,64}):([0-9A-Fa-f:.%a-z]{2,64})<")
_SOCKET = re.compile(r"\[[0-9]{1,3}\]([A-Za-z0-9_.@-]{1,64}):([0-9A-Fa-f:.%a-z]{2,64})<")
# Printed of a device that stands alone too; then there is no + in the name.
_FUSED = re.compile(r"Made virtual device \[([0-9]{1,3})\] name=(\S{1,200}) ")
_QP = re.compile(
    r"IbDev ([0-9]{1,3}) Port [0-9]{1,3} qpn [0-9]{1,10} mtu ([0-9])\b.{0,200}? GID ([0-9]{1,5}) \("
)
_HCA = re.compile(
    r"NET/.{1,60}? : GPU Direct RDMA (?:\(([A-Za-z-]{1,20})\) )?([Ee]nabled|[Dd]isabled)"
    r" for HCA ([0-9]{1,3}) '([A-Za-z0-9_.+-]{1,200})'?"
)
_PAIR = re.compile(
    r"GPU Direct RDMA (Enabled|Disabled) for GPU ([0-9a-f]{1,8}) / HCA ([0-9a-f]{1,4}) \(distance"
)
_CHANNEL = re.compile(
    r"Channel [0-9]{2,5}(?:/[0-9]{1,5})? : [0-9]{1,8}\[[0-9a-f]{1,8}\]"
    r" -> [0-9]{1,8}\[[0-9a-f]{1,8}\](?: \[(send|receive)\])? via (.{1,120})"
)
_VIA_NETWORK = re.compile(
    r"(NET/[^/]{1,60})/([0-9]{1,4})(\([0-9]{1,8}\))?((?:/[A-Za-z]{1,20}(?:\([A-Za-z]{1,10}\))?"
    r"(?:=[A-Za-z0-9]{1,20})?){0,6})"
)
_VIA_OTHER = re.compile(r"(?!NET/)[A-Za-z0-9]{2,20}(?:/[A-Za-z0-9_ ()]{1,40}){0,5}")
_SETTING = re.compile(r"(NCCL_[A-Z0-9_]{1,80}) set (?:by environment )?to(?: (.{0,500}))?")

_MTU = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}  # enum ibv_mtu
_NO_DEVICE = -1
_LONGEST = 300

Source = tuple[str, int, int]  # host, process, CUDA device


class _Process(NamedTuple):
    """What one process said of itself; the first word counts."""

    said: dict[str, Value]
    devices: dict[tuple[str, int], tuple[int, str]]  # device, port -> index, link layer
    nets: dict[int, str]  # number of a network device, which may be several fused -> its name
    paths: dict[int, set[tuple[int, int]]]  # index -> MTU codes and GID indices of queue pairs
    hcas: dict[int, dict[str, Value]]
    pairs: dict[int, dict[str, bool]]  # HCA -> GPU -> enabled
    channels: dict[tuple[str, str, int, bool], list[int]]  # how many, how many of them by PXN


def _pci(bus: str) -> str:
    """0000:19:00.0 of 19000: NCCL's address without its colons."""
    digits = bus.rjust(9, "0")
    return f"{digits[:-5].rjust(4, '0')}:{digits[-5:-3]}:{digits[-3:-1]}.{digits[-1]}"


def _devices(process: _Process, listed: str) -> None:
    """The RDMA devices, with NCCL's own numbers; of fused ones the number outside is the net's."""
    for net, (number, members, device, port, link) in enumerate(_NET.findall(listed)):
        found = _MEMBER.findall(members) if members else [(number, device, port, link)]
        for index, name, its_port, its_link in found:
            process.devices.setdefault((name, int(its_port)), (int(index), its_link))
        process.nets.setdefault(net, "+".join(name for _, name, _, _ in found))


def _network(process: _Process, text: str) -> None:
    """Lines that begin with NET/."""
    said = process.said
    if text.startswith("NET/IB : Using"):
        listed, end, _ = text.partition("; OOB")
        if not end:  # a torn line: nobody knows how many devices there are, nor whether [RO]
            return
        _devices(process, listed)
        said.setdefault("ib_devices", len(process.devices))
        if process.devices:
            said.setdefault("relaxed_ordering", "[RO]" in listed)
        if oob := _OOB.search(text):
            said.setdefault("oob_netdev", oob[1])
            said.setdefault("oob_address", oob[2])
    elif "No device found" in text:
        said.setdefault("ib_devices", 0)
    elif text.startswith("NET/Socket : Using"):
        found = _SOCKET.findall(text)
        said.setdefault("socket_netdevs", ",".join(name for name, _ in found))
        said.setdefault("socket_addresses", ",".join(address for _, address in found))
    elif hca := _HCA.match(text):
        _gpudirect(process, hca)
    elif path := _QP.search(text):
        process.paths.setdefault(int(path[1]), set()).add((int(path[2]), int(path[3])))
    elif fused := _FUSED.search(text):
        process.nets[int(fused[1])] = fused[2]


def _gpudirect(process: _Process, found: re.Match[str]) -> None:
    """What the core says of an HCA, and by which of two ways the plugin could do it."""
    provider, word, index, device = found.groups()
    enabled = word.lower() == "enabled"
    empty: dict[str, Value] = dict.fromkeys(("enabled", "peermem", "dmabuf"))
    values = process.hcas.setdefault(int(index), {"device": device, **empty})
    column = {"nvidia-peermem": "peermem", "DMABUF": "dmabuf"}.get(provider or "", "enabled")
    if column == "enabled" and provider:
        return
    values[column] = enabled and values[column] is not False


def _channel(process: _Process, text: str) -> None:
    found = _CHANNEL.fullmatch(text)
    if found is None:  # the list of a ring, or a torn line
        return
    direction, via = found[1] or "", found[2]
    network = _VIA_NETWORK.fullmatch(via)
    if network:
        key = (network[1], direction, int(network[2]), "/GDRDMA" in network[4])
    elif _VIA_OTHER.fullmatch(via):
        key = (via, direction, _NO_DEVICE, "/GDRDMA" in via)
    else:
        return
    counts = process.channels.setdefault(key, [0, 0])
    counts[0] += 1
    counts[1] += 1 if network and network[3] else 0


def _communicator(process: _Process, text: str) -> None:
    """Lines on a communicator. The first is the job's; later ones are parts of it."""
    said = process.said
    if found := _INIT.search(text):
        first = said.setdefault("init", found[1] + "/" + found[2]) == found[1] + "/" + found[2]
        said.setdefault("rank", int(found[1]))
        said.setdefault("ranks", int(found[2]))
        if first:
            said["initialised"] = found[3] == "COMPLETE" or said.get("initialised") is True
        if bus := _BUS.search(text):
            said.setdefault("gpu_pci", _pci(bus[1]))
    elif (comm := _COMM.match(text)) and said.get("ranks") in (None, int(comm[1])):
        said.setdefault("nodes", int(comm[2]))
        said.setdefault("local_ranks", int(comm[3]))


def _hca_number(pair: re.Match[str], text: str) -> int | None:
    """The number of the HCA; None where it could be decimal or hex.

    Older releases print `GPU c6000 / HCA 10`, a bus number and a decimal one, later ones
    `GPU 2 / HCA a`, a rank and a hex one (NCCL src/graph/paths.cc).
    """
    is_bus = len(pair[2]) > 3 and pair[2].endswith("0") and " mode " not in text
    return None if is_bus and len(pair[3]) > 1 else int(pair[3], 16)


def _listen(process: _Process, text: str) -> None:
    """One whole message that is no warning."""
    said = process.said
    if text.startswith("Channel "):
        _channel(process, text)
    elif text.startswith("NET/"):
        _network(process, text)
    elif " Init " in text or text.startswith("comm "):
        _communicator(process, text)
    elif pair := _PAIR.match(text):
        hca = _hca_number(pair, text)
        if hca is not None:
            gpus = process.pairs.setdefault(hca, {})
            gpus[pair[2]] = gpus.get(pair[2], True) and pair[1] == "Enabled"
    elif version := _VERSION.match(text):
        said.setdefault("nccl_version", version[1])
    elif network := _NETWORK.fullmatch(text):
        said.setdefault("network", network[1] or network[2])
    elif text.startswith("DMA-BUF is available"):
        said["dmabuf_available"] = True
    elif text.startswith("Failed to open libibverbs"):
        said["libibverbs_missing"] = True


def _setting(text: str) -> tuple[str, str] | None:
    """Name and value. Numbers are printed with a full stop behind them, texts are not."""
    found = _SETTING.fullmatch(text)
    if found is None:
        return None
    value = found[2] or ""
    number = value.removesuffix(".")
    return found[1], number if number.lstrip("-").isdecimal() else value


def _process_row(key: dict[str, Value], process: _Process) -> Row:
    columns = (
        *("rank", "ranks", "nodes", "local_ranks", "gpu_pci", "initialised", "nccl_version"),
        *("network", "ib_devices", "relaxed_ordering", "oob_netdev", "oob_address"),
        *("socket_netdevs", "socket_addresses", "dmabuf_available", "libibverbs_missing"),
    )
    return Row("nccl_process", {**key, **{name: process.said.get(name) for name in columns}})


def _device_rows(key: dict[str, Value], process: _Process) -> Iterator[Row]:
    fused = [name.split("+") for name in process.nets.values() if "+" in name]
    for (device, port), (index, link) in process.devices.items():
        paths = process.paths.get(index, set())
        gids = {gid for _, gid in paths}
        values: dict[str, Value] = {
            **key,
            "device": device,
            "port": port,
            "index": index,
            "link_layer": link,
            "fused_as": next(("+".join(names) for names in fused if device in names), ""),
            "mtu": _MTU.get(min((mtu for mtu, _ in paths), default=0)),
            "gid_index": gids.pop() if len(gids) == 1 else None,
        }
        yield Row("nccl_device", values)


def _gdr_rows(key: dict[str, Value], process: _Process) -> Iterator[Row]:
    for hca in sorted(process.hcas.keys() | process.pairs.keys()):
        gpus = list(process.pairs.get(hca, {}).values())
        found = process.hcas.get(hca, {"device": process.nets.get(hca)})
        columns = ("device", "enabled", "peermem", "dmabuf")
        values: dict[str, Value] = {
            **key,
            "hca": hca,
            **{column: found.get(column) for column in columns},
            "gpus_enabled": gpus.count(True) if gpus else None,
            "gpus_disabled": gpus.count(False) if gpus else None,
        }
        yield Row("nccl_gdr", values)


def _channel_rows(key: dict[str, Value], process: _Process) -> Iterator[Row]:
    names = ("transport", "direction", "net_device", "gdrdma")
    for kind, (count, through_peer) in process.channels.items():
        which: dict[str, Value] = dict(zip(names, kind, strict=True))
        yield Row("nccl_channel", {**key, **which, "channels": count, "through_peer": through_peer})


def _setting_rows(run: str, settings: dict[tuple[str, str, str], set[Source]]) -> Iterator[Row]:
    for (host, name, value), sources in settings.items():
        key: dict[str, Value] = {"run": run, "host": host, "name": name, "value": value}
        yield Row("nccl_setting", {**key, "processes": len(sources)})


def _error_rows(run: str, warnings: Counter[Message]) -> Iterator[Row]:
    for place, (message, times) in enumerate(warnings.items(), start=1):
        values: dict[str, Value] = {
            "run": run,
            "place": place,
            "host": message.host,
            "process": message.process,
            "cuda_device": message.cuda_device,
            "where_raised": message.where,
            "text": message.text[:_LONGEST],
            **error_values(message.text[:2000]),
            "times": times,
        }
        yield Row("nccl_error", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nccl_process, nccl_device, nccl_gdr, nccl_channel, nccl_setting and nccl_error."""
    processes: dict[Source, _Process] = {}
    settings: dict[tuple[str, str, str], set[Source]] = {}
    warnings: Counter[Message] = Counter()
    for message in messages(text_of(data)):
        source = (message.host, message.process, message.cuda_device)
        process = processes.get(source)
        if process is None:
            process = processes[source] = _Process({}, {}, {}, {}, {}, {}, {})
        if message.is_warning:
            warnings[message._replace(whole=True)] += 1
        elif message.whole:
            setting = _setting(message.text) if message.text.startswith("NCCL_") else None
            if setting:
                settings.setdefault((message.host, *setting), set()).add(source)
            else:
                _listen(process, message.text)
    if not processes:
        raise NotUnderstoodError("no message of NCCL")
    spoke = {source[:2] for source, process in processes.items() if any(process)}
    for (host, number, cuda_device), process in processes.items():
        # The proxy's threads may write [0] whatever GPU their process has (seen with 2.28.9).
        if (host, number) in spoke and not any(process):
            continue
        key: dict[str, Value] = {
            "run": instance,
            "host": host,
            "process": number,
            "cuda_device": cuda_device,
        }
        yield _process_row(key, process)
        yield from _device_rows(key, process)
        yield from _gdr_rows(key, process)
        yield from _channel_rows(key, process)
    yield from _setting_rows(instance, settings)
    yield from _error_rows(instance, warnings)
