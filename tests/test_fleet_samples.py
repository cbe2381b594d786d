"""What the fleet's host-level tools print, held to the project's samples.

Each sample is rendered from a model that is changed until it is the sample's host. Lines that still
differ stand in DIFFERENT with the reason; nothing else may differ, and no entry may be idle.
"""

import difflib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from lab.fleet import ACS_ON
from lab.fleet.render import cpu, devlink, kernel, nvidia_smi, rdma_tool, verbs
from tests import fleet_host_samples as made
from tests.fleet_host_samples import (
    SAMPLES,
    SHARED,
    degraded,
    ember,
    infiniband,
    paragraphs,
    rails,
    said,
)

COMMANDS = (
    *("lspci", "nvidia-smi", "rdma", "devlink", "ibv_devinfo", "ibstat", "ibdev2netdev"),
    *("show_gids", "lscpu", "numactl", "dmesg", "lsmod", "cmdline"),
)
NOT_RENDERED = {
    "lspci/tv-gpu-nic-under-switches": "no probe runs lspci -tv",
    "rdma/error-no-device": "answer to a device name that is wrong",
    "devlink/error-no-such-device": "answer to a device name that is wrong",
    "lscpu/text-plain": "the probe asks for JSON",
    "cmdline/iommu-translating-amd": "a command line is the model's own text",
}
FIVE_DOWN = {("mlx5_5", "up"): False}
LARGE = {"max_payload": 512}
ACS = {f"0000:{port}": ACS_ON for port in ("15:01.0", "17:00.0", "17:01.0")}


def one_card(address: str, pciutils: str = "3.8.0", **values: Any) -> str:
    return paragraphs(ember(degraded(address, **values), pciutils=pciutils), address)


def acs_on() -> str:
    faults = {(port, "acs"): value for port, value in ACS.items()} | degraded("18:00.0", **LARGE)
    ports = ("15:01.0", "16:00.0", "17:00.0", "17:01.0", "18:00.0")
    return paragraphs(ember(faults, pciutils="3.8.0"), *ports)


def eight(faults: Any = None) -> Any:
    return rails(ember(faults), *range(8))


def with_infiniband() -> Any:
    return replace(ember(), nics=(*eight(FIVE_DOWN).nics, infiniband()))


def three() -> Any:
    return rails(ember({("mlx5_1", "active_mtu"): 1024, ("mlx5_2", "up"): False}), 0, 1, 2)


RENDERED: dict[str, Callable[[], str]] = {
    "lspci/vvv-domain-prefix-numa-missing": lambda: paragraphs(
        made.without_numa(), "84:00.0", "84:00.1", domains=True
    ),
    "lspci/vvv-nic-degraded-gen4-x8": lambda: one_card(
        "29:00.0", generation=4, width=8, read_request=512
    ),
    "lspci/vvv-nic-degraded-width-old-pciutils": lambda: paragraphs(made.old_card(), "3b:00.0"),
    "lspci/vvv-nic-gen5-x16-good-new-pciutils": lambda: one_card("18:00.0", "3.13.0", **LARGE),
    "lspci/vvv-not-root-access-denied": lambda: paragraphs(
        ember(pciutils="3.13.0"), "18:00.0", root=False
    ),
    "lspci/vvv-relaxed-ordering-off-readreq-512": lambda: one_card(
        "5b:00.0", relaxed_ordering=False, read_request=512, max_payload=512
    ),
    "lspci/vvv-switch-acs-off-uplink-downgraded": lambda: paragraphs(
        made.slow_uplink(), "97:01.0", "98:00.0", "99:00.0"
    ),
    "lspci/vvv-switch-acs-on-above-gpu-and-nic": acs_on,
    "nvidia-smi/q-x-hgx-h100-gpu6-degraded": lambda: nvidia_smi.query(
        ember(degraded("bb:00.0", generation=4, width=8))
    ),
    "nvidia-smi/topo-m-a100-8gpu-4nic": made.a100_topology,
    "nvidia-smi/topo-m-bad-all-nics-on-far-socket": made.far_topology,
    "nvidia-smi/topo-m-hgx-h100-8gpu-8nic-storage": lambda: nvidia_smi.topology(ember()),
    "nvidia-smi/topo-m-no-nic-visible": made.lone_topology,
    "nvidia-smi/topo-m-spaces-instead-of-tabs": made.four_topology,
    "rdma/dev-json": lambda: said(rdma_tool, rails(ember(), 0, 1, 2, 3), "rdma -j dev show"),
    "rdma/dev-text": lambda: rdma_tool.devices_text(rails(ember(), 0, 1, 2, 3)),
    "rdma/link-json-eight-rails": lambda: said(rdma_tool, eight(FIVE_DOWN), "rdma -j link show"),
    "rdma/link-text-roce-and-ib": lambda: rdma_tool.links_text(with_infiniband()),
    "rdma/statistic-json-good-and-lossy": lambda: said(
        rdma_tool, made.lossy(), "rdma -j statistic show"
    ),
    "rdma/statistic-text": lambda: rdma_tool.statistics_text(made.lossy()),
    "devlink/dev-info-json-running-older-than-stored": lambda: said(
        devlink, made.waiting_firmware(), "devlink -j dev info"
    ),
    "devlink/dev-info-text-stored-unreadable": lambda: devlink.information_text(
        made.firmware(3, stored="255.255.65535")
    ),
    "devlink/dev-info-text-with-function-uid": lambda: devlink.information_text(
        made.firmware(2), function_uid=True
    ),
    "ibv_devinfo/error-no-devices": lambda: verbs.devinfo(rails(ember())).stderr,
    "ibv_devinfo/plain-three-devices": lambda: verbs.devinfo(three(), verbose=False).stdout,
    "ibv_devinfo/verbose-cx7-400g-roce": lambda: verbs.devinfo(rails(ember(), 0)).stdout,
    "ibv_devinfo/verbose-hdr-infiniband": lambda: (
        verbs.devinfo(replace(ember(), nics=(infiniband(),))).stdout
    ),
    "ibstat/eight-roce-rails-one-down": lambda: verbs.ibstat(eight(FIVE_DOWN)),
    "ibstat/ib-active-and-initializing-no-sm": lambda: verbs.ibstat(made.fabric()),
    "ibdev2netdev/plain-rail5-down": lambda: verbs.ibdev2netdev(eight(FIVE_DOWN)),
    "ibdev2netdev/verbose-eight-rails": lambda: verbs.ibdev2netdev(eight(FIVE_DOWN), verbose=True),
    "ibdev2netdev/verbose-dual-port-and-ib": lambda: verbs.ibdev2netdev(
        made.dual_port(), verbose=True
    ),
    "show_gids/eight-rails-ipv4": lambda: verbs.show_gids(eight()),
    "show_gids/no-gids": lambda: verbs.show_gids(rails(ember())),
    "show_gids/rail1-without-ipv4-and-ipv6-on-rail0": lambda: verbs.show_gids(made.odd_gids()),
    "lscpu/json-flat-two-sockets-intel": lambda: said(cpu, ember(util_linux="2.34"), "lscpu -J"),
    "lscpu/json-nested-nps4-amd": lambda: said(cpu, made.amd(), "lscpu -J"),
    "numactl/two-nodes": lambda: cpu.numactl(ember()),
    "numactl/four-nodes-one-without-memory": lambda: cpu.numactl(made.four_nodes()),
    "dmesg/boot-pcie-bandwidth-good-and-limited": made.boot_log,
    "dmesg/health-and-command-errors": lambda: made.log_of("health-and-command-errors"),
    "dmesg/insufficient-power-and-high-temperature": lambda: made.log_of(
        "insufficient-power-and-high-temperature"
    ),
    "dmesg/link-flap": lambda: made.log_of("link-flap"),
    "lsmod/peermem-and-mlx5-loaded": lambda: kernel.lsmod(ember().kernel.modules),
    "lsmod/no-peermem-inbox-driver": lambda: kernel.lsmod(made.INBOX),
    "cmdline/iommu-passthrough-tuned": lambda: kernel.files(ember())["/proc/cmdline"],
}

# Of which samples, which lines (`-` the sample's, `+` ours), and why they differ.
DIFFERENT = (
    ("lspci/vvv-(domain|nic|relaxed|switch-acs-on)", r"[-+] \[(V3|VA)\] Vendor specific: .*",
     "made up: one model for all cards, one identity for each function"),
    ("lspci/vvv-(domain|nic|relaxed|switch-acs-on)",
     r"- (Capabilities: \[230 v1\] Access Control Services|ACSC(ap|tl): SrcValid- .* DirectTrans-)",
     "the model's NICs have no such capability"),
    ("lspci/vvv-switch", r"- (Capabilities: \[190 v1\] Access.*|ACSCap: SrcValid\+ .* EgressCtrl\+ .*)",
     "at another place, and without egress control, as on real switches"),
    ("lspci/vvv-(nic-gen5|not-root)", r"[-+] IOMMU group: (40|16)", "groups are counted by the model"),
    ("lspci/vvv-domain", r"- (LnkCtl2: .*|Transmit Margin.*|Compliance Preset.*)",
     "the real lspci prints these of function 0 only"),
    ("lspci/vvv-nic-degraded-width", r"[-+] .*(SlotPowerLimit|DevCtl2|Compliance|IOVCap|IOVCtl).*",
     "the sample has the words of 3.8 but for LnkSta"),
    ("lspci/vvv-nic-degraded-width", r"[-+] \[V0\] Vendor specific: PCIeGen[45] x16", "a Gen 4 card"),
    ("lspci/vvv-switch", r"[-+] (ExtTag[-+] (AttnBtn.* )?RBE\+.*|DevCtl: .*UnsupReq[-+]|RlxdOrd\+ ExtTag.*)",
     "what the configuration space in /sys says"),
    ("lspci/vvv-switch",
     r"[-+] (LnkCap: Port #\d+, Speed 32GT/s, Width x16, ASPM.*|LnkCtl: .*|ClockPM.*|ExtSynch.*|TrErr.*)",
     "what the configuration space in /sys says"),
    ("lspci/vvv-switch", r"\+ (DevCtl2|Compliance Preset).*", "left out there; words of 3.8"),
    ("lspci/vvv-switch", r"\+ Capabilities: \[b0\] Subsystem: Broadcom / LSI Device 1000", "made up"),
    ("nvidia-smi/q-x", r"[-+] <replay_counter>(41|0)</replay_counter>", "no model has replays"),
    ("nvidia-smi/topo-m-spaces", r"[-+] NIC\d .*", "the sample's NICs are nearer than it says"),
    ("devlink/.*uid", r"- (auxiliary/mlx5_core\.eth\.2:|driver mlx5_core\.eth)", "not in the model"),
    ("ibstat/ib", r"[-+] Capability mask: 0xa[67]51e848", "one mask for all ports, as in /sys"),
    ("lscpu/", r"\+ field: (L1d|L1i|L2|Flags|BogoMIPS|Vulnerabilit).*", "the samples are shortened"),
    ("lscpu/json-nested", r"\+ field: [A-Z][a-z0-9 ]+: data: (Not affected|Mitigation;.*)",
     "the samples are shortened"),
    ("dmesg/boot", r"[-+] .*E-Switch: Total vports (2|10),.*", "our cards can make 8 functions"),
    ("dmesg/boot", r"[-+] .*29:00\.0: 126\.0(16|24) Gb/s.* x8 link at 0000:2[78]:00\.0 .*",
     "the kernel names the port above the card; 8 lanes have 15,753 Mb/s each"),
)  # fmt: skip


def flattened(value: Any) -> list[str]:
    """A line per object with its plain values."""
    if isinstance(value, list):
        return [line for item in value for line in flattened(item)]
    plain = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
    inner = [v for v in value.values() if isinstance(v, dict | list)]
    own = [" ".join(f"{name}: {item}" for name, item in plain.items())] if plain else list(value)
    return own + [line for item in inner for line in flattened(item)]


def folded(name: str, text: str) -> list[str]:
    if text.startswith(("{", "[{")):
        return flattened(json.loads(text))
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if name.startswith("dmesg/boot"):  # when a line comes is not compared
        return sorted(re.sub(r"^\[[ \d.]+\] ", "", line) for line in lines)
    return lines


def shape(line: str) -> str:
    """A line of lspci without its values."""
    line = re.sub(r"[-+](?=[\s,]|$)", "±", " ".join(line.split()))
    return re.sub(r"[0-9a-zA-Z/.-]*\d[0-9a-zA-Z/.-]*", "#", line)


def left_out(name: str, line: str) -> bool:
    """Shortened samples: whether a real tool prints this line of ours, as a witness has it."""
    if not line.startswith("+"):
        return False
    if name.startswith("lspci/"):
        return shape(line[2:]) in real_shapes()
    if name.startswith("nvidia-smi/q-x"):
        return bool(re.match(r"\+ (</?\w+>|None$)", line))
    witness = SAMPLES / "ibv_devinfo/verbose-cx7-400g-roce.txt"
    return "verbose-hdr" in name and line[2:] in [
        row.replace("400000000kbps", "200000000kbps") for row in folded(name, witness.read_text())
    ]


@lru_cache(maxsize=1)
def real_shapes() -> frozenset[str]:
    text = (SHARED / "captures/lspci/gpud-h100-host-vvv.txt").read_text()
    return frozenset(shape(line) for line in text.splitlines())


def differing(name: str, ours: str) -> list[str]:
    (file,) = (path for path in SAMPLES.glob(f"{name}.*") if ".expect." not in path.name)
    sample = folded(name, file.read_text())
    rows = list(difflib.unified_diff(sample, folded(name, ours), lineterm="", n=0))[2:]
    found = [f"{row[0]} {row[1:]}" for row in rows if not row.startswith("@@")]
    return [row for row in found if not left_out(name, row)]


needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")


@pytest.mark.shared
@needs_shared
@pytest.mark.parametrize("name", RENDERED)
def test_a_sample_is_rendered(name: str) -> None:
    known = [pattern for samples, pattern, _ in DIFFERENT if re.match(samples, name)]
    rows = differing(name, RENDERED[name]())
    assert [row for row in rows if not any(re.fullmatch(p, row) for p in known)] == []


@pytest.mark.shared
@needs_shared
def test_every_sample_is_accounted_for_and_no_excuse_is_idle() -> None:
    files = [p for command in COMMANDS for p in (SAMPLES / command).iterdir()]
    names = {str(p.relative_to(SAMPLES).with_suffix("")) for p in files if ".expect." not in p.name}
    assert names == {*RENDERED, *NOT_RENDERED}
    rows = [(name, row) for name, make in RENDERED.items() for row in differing(name, make())]
    for samples, pattern, _ in DIFFERENT:
        assert any(re.match(samples, n) and re.fullmatch(pattern, row) for n, row in rows), pattern
