"""Configuration space: our decoding against pciutils' own (`lspci -F <dump> -vvv`)."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import IN_CI, SHARED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_pci_config import SPACES, acs, aer, as_files, ats, config, decoded, dump

from railwright.parse.pci_config import parse
from railwright.schema.table import tables

TYPES = {  # as lspci writes them -> (code in PCI_EXP_FLAGS_TYPE, our name)
    "Endpoint": (0, "endpoint"),
    "Legacy Endpoint": (1, "legacy_endpoint"),
    "Root Port": (4, "root_port"),
    "Upstream Port": (5, "switch_upstream"),
    "Downstream Port": (6, "switch_downstream"),
    "PCI-Express to PCI/PCI-X Bridge": (7, "pcie_to_pci_bridge"),
    "PCI/PCI-X to PCI-Express Bridge": (8, "pci_to_pcie_bridge"),
    "Root Complex Integrated Endpoint": (9, "rc_endpoint"),
    "Root Complex Event Collector": (10, "rc_event_collector"),
}
UNCORRECTABLE = {  # lspci's word in UESta -> PCI_ERR_UNC_*
    "DLP": 0x10,
    "SDES": 0x20,
    "TLP": 0x1000,
    "FCP": 0x2000,
    "CmpltTO": 0x4000,
    "CmpltAbrt": 0x8000,
    "UnxCmplt": 0x10000,
    "RxOF": 0x20000,
    "MalfTLP": 0x40000,
    "ECRC": 0x80000,
    "UnsupReq": 0x100000,
    "ACSViol": 0x200000,
}
CORRECTABLE = {  # lspci's word in CESta -> PCI_ERR_COR_*
    "RxErr": 0x1,
    "BadTLP": 0x40,
    "BadDLLP": 0x80,
    "Rollover": 0x100,
    "Timeout": 0x1000,
    "AdvNonFatalErr": 0x2000,
}
ASPM = {"Disabled": "disabled", "L0s Enabled": "L0s", "L1 Enabled": "L1"} | dict.fromkeys(
    ("L0s L1 Enabled", "L0s and L1 Enabled"), "L0s+L1"
)
CODE_OF = {ours: code for code, ours in TYPES.values()}
needs_lspci = pytest.mark.skipif(
    not shutil.which("lspci") and not IN_CI, reason="pciutils is not installed"
)


def flag(text: str, word: str) -> bool | None:
    found = re.search(rf"\b{word}([+-])", text)
    return None if found is None else found[1] == "+"


def bits(text: str, words: dict[str, int]) -> int:
    return sum(bit for word, bit in words.items() if flag(text, word))


def number(text: str, pattern: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def link_told(text: str) -> dict[str, Any]:
    able, status = (re.search(rf"{name}:\t(.*)", text) for name in ("LnkCap", "LnkSta"))
    if not able or not status:  # lspci shows no link of a function inside the CPU
        return {"link_width": 0, "link_width_max": 0, "aspm": ""}
    speed, width = r"Speed ([\d.]+)GT/s", r"Width x(\d+)"
    aspm = re.search(r"LnkCtl:\tASPM ([^;]*);", text)
    told = {"aspm": ASPM[aspm[1]] if aspm else None}
    told |= {"link_speed_gts": number(status[1], speed), "link_width": number(status[1], width)}
    told |= {"link_speed_max_gts": number(able[1], speed), "link_width_max": number(able[1], width)}
    target = r"LnkCtl2: Target Link Speed: ([\d.]+)GT/s"
    return told | {"link_target_speed_gts": number(text, target)}


def express_told(text: str) -> dict[str, Any]:
    kind = re.search(r"Express \(v\d\) ([^(,]*\w)", text)
    if not kind:
        return {"port_type": ""}
    control = text.partition("DevCtl:")[2].partition("DevSta:")[0]
    status = re.search(r"DevSta:(.*)", text)
    assert status is not None
    payload = r"MaxPayload (\d+) bytes"
    return link_told(text) | {
        "port_type": TYPES[kind[1]][1],
        "max_payload_supported": number(text, rf"DevCap:\t{payload}"),
        "max_payload": number(control, payload),
        "max_read_request": number(control, r"MaxReadReq (\d+) bytes"),
        "relaxed_ordering": flag(control, "RlxdOrd"),
        "extended_tag": flag(control, "ExtTag"),
        "no_snoop": flag(control, "NoSnoop"),
        "correctable_error": flag(status[1], "CorrErr"),
        "nonfatal_error": flag(status[1], "NonFatalErr"),
        "fatal_error": flag(status[1], "FatalErr"),
        "unsupported_request": flag(status[1], "UnsupReq"),
        "slot_power_limit_w": number(text, r"PowerLimit ([\d.]+)W") or 0.0,
    }


def told_by_lspci(text: str) -> dict[str, dict[str, Any]]:
    """What `lspci -vvv` says, per address, in our columns; reserved codes are None, as with us."""
    every = {}
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        told = express_told(block)
        for name in ("max_payload_supported", "max_payload", "max_read_request"):
            if (told.get(name) or 0) > 4096:
                told[name] = None
        for name in ("link_width", "link_width_max"):
            if told.get(name) not in (0, 1, 2, 4, 8, 12, 16, 32):
                told[name] = None
        control = re.search(r"ACSCtl:(.*)", block)
        told["acs"] = "present" if control else "absent"
        for name, word in (
            ("acs_source_validation", "SrcValid"),
            ("acs_request_redirect", "ReqRedir"),
            ("acs_completion_redirect", "CmpltRedir"),
            ("acs_upstream_forwarding", "UpstreamFwd"),
            ("acs_direct_translated", "DirectTrans"),
        ):
            told[name] = flag(control[1], word) if control else None
        control = re.search(r"ATSCtl:(.*)", block)
        told["ats"] = "present" if control else "absent"
        told["ats_enabled"] = flag(control[1], "Enable") if control else None
        status = [re.search(rf"{name}:(.*)", block) for name in ("UESta", "CESta")]
        told["aer"] = "present" if status[0] else "absent"
        told["aer_uncorrectable_status"] = bits(status[0][1], UNCORRECTABLE) if status[0] else None
        told["aer_correctable_status"] = bits(status[1][1], CORRECTABLE) if status[1] else None
        every[block.split(" ", 1)[0]] = told
    return every


def lspci(spaces: dict[str, bytes], path: Path) -> dict[str, dict[str, Any]]:
    path.write_text(dump(spaces))
    done = subprocess.run(
        ["lspci", "-F", str(path), "-D", "-n", "-vvv"], capture_output=True, text=True, check=True
    )
    return told_by_lspci(done.stdout)


RESERVED = (
    "max_payload",
    "max_read_request",
    "relaxed_ordering",
    "no_snoop",
    "extended_tag",
    "aspm",
)


def assert_agree(spaces: dict[str, bytes], path: Path) -> None:
    """Both forms of the answer give, in every column, what lspci makes of the same bytes."""
    told = lspci(spaces, path)
    every_column = set(tables()["pci_config"].column_types()) - {"target", "read_at"}
    for data in (as_files(spaces), dump(spaces).encode()):
        rows = {str(row.values["pci"]): row.values for row in parse(data, "")}
        assert set(rows) == set(told) == set(spaces)
        for pci, values in rows.items():
            expected = dict.fromkeys(every_column) | told[pci]
            expected |= {"pci": pci, "bytes_read": len(spaces[pci]), "responds": True}
            if expected["port_type"] == "endpoint" and expected["link_width"] == 0:
                # A virtual function that a hypervisor hands through: lspci prints its zeros.
                expected |= dict.fromkeys(RESERVED)
            assert values == expected, pci


@needs_lspci
def test_lspci_agrees_on_a_gpu_host(tmp_path: Path) -> None:
    assert_agree(SPACES, tmp_path / "dump")


@needs_lspci
def test_lspci_agrees_on_this_machine(tmp_path: Path) -> None:
    found = sorted(Path("/sys/bus/pci/devices").glob("*/config"))
    spaces = {path.parent.name: path.read_bytes() for path in found}
    if not spaces or min(map(len, spaces.values())) < 256:
        pytest.skip("no PCI functions, or not root")
    for pci, told in lspci(spaces, tmp_path / "dump").items():
        ours = decoded(spaces[pci], pci)
        # With 256 bytes lspci is silent about extended capabilities, and we do not know of them.
        known = [name for name in told if ours["acs"] or not name.startswith(("acs", "ats", "aer"))]
        assert {name: ours[name] for name in known} == {name: told[name] for name in known}


SPEEDS = st.integers(0, 15).filter(lambda code: code != 7)  # pciutils 3.9 does not know Gen 7
WORD = st.integers(0, 0xFFFF)
LONG = st.integers(0, 0xFFFFFFFF)
REGISTERS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from((0, 4, 5, 6, 7, 8, 9, 10)),
        "at": st.sampled_from((0x48, 0x60, 0xAC, 0xC0)),
        "slot": st.integers(0, 1),
        "version": st.integers(1, 2),
        # lspci writes ">600W" for the limit 0xff with scale 0
        "devcap": LONG.filter(lambda value: value >> 18 & 0x3FF != 0xFF),
        "sltcap": LONG.filter(lambda value: value >> 7 & 0x3FF != 0xFF),
        "devctl": WORD,
        "devsta": WORD,
        "lnkcap": st.builds(lambda value, speed: value & ~0xF | speed, LONG, SPEEDS),
        "lnksta": st.builds(lambda value, speed: value & ~0xF | speed, WORD, SPEEDS),
        "lnkctl": WORD,
        "lnkctl2": SPEEDS.filter(bool),  # lspci takes 0 for 2.5 GT/s
        "extended": st.lists(
            st.builds(acs, WORD)
            | st.builds(ats, WORD)
            | st.builds(aer, LONG.map(lambda bits: bits & 0x3FF030), WORD.map(lambda b: b & 0x31C1))
            | st.sampled_from([(0x03, bytes(8)), (0x00, b"")]),  # serial number, null capability
            unique_by=lambda entry: entry[0],
        ),
    }
)


@needs_lspci
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=st.lists(REGISTERS, min_size=1, max_size=20))
def test_lspci_agrees_on_any_registers(tmp_path: Path, drawn: list[dict[str, Any]]) -> None:
    # Function 0 of a device each: lspci leaves out the target speed of other endpoint functions.
    spaces = {f"0000:{bus:02x}:00.0": config(**registers) for bus, registers in enumerate(drawn)}
    assert_agree(spaces, tmp_path / "dump")


def encoded(told: dict[str, Any]) -> bytes:
    """A configuration space that holds what an lspci text says."""
    speeds = {None: 0, 2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
    if told["port_type"] == "":
        return config(None)
    payload = {name: int(told[name]).bit_length() - 8 for name in told if name.startswith("max_")}
    control = payload["max_payload"] << 5 | payload["max_read_request"] << 12
    control |= told["relaxed_ordering"] << 4 | told["extended_tag"] << 8 | told["no_snoop"] << 11
    names = ("correctable_error", "nonfatal_error", "fatal_error", "unsupported_request")
    linked = {"aspm": "disabled", "link_width": 0, "link_width_max": 0} | told
    names_acs = ("source_validation", "", "request_redirect", "completion_redirect")
    names_acs += ("upstream_forwarding", "", "direct_translated")
    listed = [
        acs(sum(bool(told.get(f"acs_{name}")) << bit for bit, name in enumerate(names_acs))),
        ats(bool(told["ats_enabled"]) << 15),
        aer(told["aer_uncorrectable_status"] or 0, told["aer_correctable_status"] or 0),
    ]
    watts = int(told["slot_power_limit_w"])
    return config(
        CODE_OF[told["port_type"]],
        slot=told["port_type"] in ("root_port", "switch_downstream"),
        devcap=payload["max_payload_supported"] | watts << 18,
        sltcap=watts << 7,
        devctl=control,
        devsta=sum(told[name] << bit for bit, name in enumerate(names)),
        lnkcap=speeds[linked.get("link_speed_max_gts")] | int(linked["link_width_max"]) << 4,
        lnksta=speeds[linked.get("link_speed_gts")] | int(linked["link_width"]) << 4,
        lnkctl=("disabled", "L0s", "L1", "L0s+L1").index(linked["aspm"] or "disabled"),
        lnkctl2=speeds[linked.get("link_target_speed_gts")],
        extended=[
            entry
            for name, entry in zip(("acs", "ats", "aer"), listed, strict=True)
            if told[name] == "present"
        ],
    )


@pytest.mark.shared
def test_values_of_a_real_gpu_host() -> None:
    text = (SHARED / "captures/lspci/gpud-h100-host-vvv.txt").read_text()
    host = told_by_lspci(text)
    assert len(host) == text.count("\n\n")
    assert sum(told["port_type"] == "switch_downstream" for told in host.values()) == 38
    for pci, told in host.items():
        ours = decoded(encoded(told))
        assert {name: ours[name] for name in told} == told, pci
