"""Configuration spaces built by hand, and what must come of them; lspci's word is in the oracle's
test beside this one."""

import random
import runpy
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_parsers import assert_storable

from railwright.collect.request import RUNNER
from railwright.parse.base import NotUnderstoodError
from railwright.parse.files import read_files
from railwright.parse.pci_config import parse


def config(kind: int | None, size: int = 4096, **registers: Any) -> bytes:
    """A configuration space. `kind` None: no PCI Express capability; registers are raw numbers.

    `extended` is a list of (id, the capability's bytes after its header), laid out in order.
    """
    at = registers.get("at", 0x60)
    space = bytearray(4096)
    bridge = kind in (4, 5, 6, 7, 8)
    struct.pack_into("<HHHH", space, 0, registers.get("vendor", 0x15B3), 0x1021, 0x406, 0x10)
    struct.pack_into("<I", space, 8, 0x06040000 if bridge else 0x02070000)
    space[0x0E] = 1 if bridge else 0
    space[0x34], space[0x40], space[0x41] = 0x40, 0x01, at if kind is not None else 0
    if kind is not None:
        space[at] = 0x10
        flags = registers.get("version", 2) | kind << 4 | registers.get("slot", 0) << 8
        struct.pack_into("<H", space, at + 0x02, flags)
        for name, offset, form in (
            ("devcap", 0x04, "<I"),
            ("devctl", 0x08, "<H"),
            ("devsta", 0x0A, "<H"),
            ("lnkcap", 0x0C, "<I"),
            ("lnkctl", 0x10, "<H"),
            ("lnksta", 0x12, "<H"),
            ("sltcap", 0x14, "<I"),
            ("lnkctl2", 0x30, "<H"),
        ):
            struct.pack_into(form, space, at + offset, registers.get(name, name == "lnkctl2"))
    extended = registers.get("extended", [])
    for number, (identity, body) in enumerate(extended):
        position = 0x100 + 0x80 * number
        following = position + 0x80 if number + 1 < len(extended) else 0
        struct.pack_into("<I", space, position, identity | 1 << 16 | following << 20)
        space[position + 4 : position + 4 + len(body)] = body
    return bytes(space[:size])


def acs(control: int) -> tuple[int, bytes]:
    return 0x0D, struct.pack("<HH", 0x7F, control)


def ats(control: int) -> tuple[int, bytes]:
    return 0x0F, struct.pack("<HH", 0x20, control)


def aer(uncorrectable: int, correctable: int) -> tuple[int, bytes]:
    return 0x01, struct.pack("<IIII", uncorrectable, 0, 0, correctable)


def dump(spaces: dict[str, bytes]) -> str:
    """The text of `lspci -D -n -xxxx`."""
    text = ""
    for pci, space in spaces.items():
        text += f"{pci} 0207: 15b3:1021\n"
        for at in range(0, len(space), 16):
            text += f"{at:02x}: {space[at : at + 16].hex(' ')}\n"
        text += "\n"
    return text


def as_files(spaces: dict[str, bytes]) -> bytes:
    """The answer of the file probe."""
    path = "/sys/bus/pci/devices/{}/config"
    return b"".join(
        b"F %d %s\n%s\n" % (len(space), path.format(pci).encode(), space)
        for pci, space in spaces.items()
    )


def decoded(space: bytes, pci: str = "0000:18:00.0") -> dict[str, Any]:
    rows = list(parse(as_files({pci: space}), ""))
    assert_storable(rows, "pci_config")
    assert len(rows) == 1
    return rows[0].values


# A Gen5 x16 NIC as it should be: MPS 512, MRRS 4096, relaxed ordering, captured limit 75 W.
GOOD_NIC = {
    "devcap": 0x112C8FE2,
    "devctl": 0x5950,
    "devsta": 0x0009,
    "lnkcap": 0x0043F105,
    "lnkctl": 0x0040,
    "lnksta": 0x1105,
    "lnkctl2": 0x0005,
}
SPACES = {
    "0000:18:00.0": config(0, extended=[aer(0, 0x2000), (0x10, b""), acs(0), ats(0)], **GOOD_NIC),
    "0000:29:00.0": config(0, extended=[aer(0x4000, 0x41)], **GOOD_NIC | {"lnksta": 0x1084}),
    "0000:15:01.0": config(4, slot=1, sltcap=0x25 << 7 | 1 << 15, extended=[acs(0x1D)], lnkctl=2),
    "0000:16:00.0": config(5, devcap=0xFE << 18, lnkctl=3, devctl=0x0020, extended=[acs(0x5F)]),
    "0000:17:00.0": config(6, lnkctl=1, lnksta=0x2104, lnkcap=0x06104, extended=[acs(0x00)]),
    "0000:19:00.0": config(0, extended=[aer(0x100000, 0), ats(0x8000)], **GOOD_NIC),
    "0000:1a:00.0": config(1, version=1, lnkcap=0x101, lnksta=0x101),
    "0000:00:14.0": config(9, devcap=0, devctl=0),
    "0000:00:1d.0": config(10, at=0x80),
    "0000:00:1f.0": config(None),
}


def test_a_good_nic_by_hand() -> None:
    assert decoded(SPACES["0000:18:00.0"]) == {
        "pci": "0000:18:00.0",
        "bytes_read": 4096,
        "responds": True,
        "port_type": "endpoint",
        "max_payload_supported": 512,
        "max_payload": 512,
        "max_read_request": 4096,
        "relaxed_ordering": True,
        "no_snoop": True,
        "extended_tag": True,
        "aspm": "disabled",
        "link_speed_gts": 32.0,
        "link_width": 16,
        "link_speed_max_gts": 32.0,
        "link_width_max": 16,
        "link_target_speed_gts": 32.0,
        "slot_power_limit_w": 75.0,
        "correctable_error": True,
        "nonfatal_error": False,
        "fatal_error": False,
        "unsupported_request": True,
        "acs": "present",
        "acs_source_validation": False,
        "acs_request_redirect": False,
        "acs_completion_redirect": False,
        "acs_upstream_forwarding": False,
        "acs_direct_translated": False,
        "ats": "present",
        "ats_enabled": False,
        "aer": "present",
        "aer_uncorrectable_status": 0,
        "aer_correctable_status": 0x2000,
    }


OFF_BUS = b"\xff" * 4096
UNREAD_EXTENDED = {"acs": None, "acs_source_validation": None, "ats": None, "aer": None}
UNREAD = {"port_type": None, "max_read_request": None, "link_width": None, **UNREAD_EXTENDED}
NO_NUMBERS = {"max_payload": None, "link_speed_gts": None, "link_width": None}


def changed(space: bytes, changes: dict[int, int]) -> bytes:
    copy = bytearray(space)
    for at, value in changes.items():
        copy[at] = value
    return bytes(copy)


def chain(*headers: tuple[int, int, int]) -> bytes:
    """A NIC whose extended list is laid out by hand: (position, id, next)."""
    space = bytearray(config(0, **GOOD_NIC))
    for position, identity, following in headers:
        struct.pack_into("<I", space, position, identity | 1 << 16 | following << 20)
    return bytes(space)


EVERY_HEADER = [(at, 0x0B, at + 4 if at < 0xFF8 else 0) for at in range(0x100, 0xFFC, 4)]
CASES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "generation 6": (config(0, lnksta=0x106, lnkcap=0x106), {"link_speed_gts": 64.0}),
    "generation 7": (
        config(0, lnksta=0x107, lnkcap=0x107, lnkctl2=7),
        {"link_speed_gts": 128.0, "link_speed_max_gts": 128.0, "link_target_speed_gts": 128.0},
    ),
    "no target speed": (config(0, lnkctl2=0), {"link_target_speed_gts": None}),
    "reserved codes": (config(0, devctl=0xF0E0, lnksta=0x3FF), NO_NUMBERS),
    "reserved port type": (config(3), {"port_type": "unknown_3"}),
    "more than 600 W": (config(0, devcap=0xFF << 18), {"slot_power_limit_w": None}),
    "empty slot": (config(4, lnksta=0x0001), {"link_width": 0, "link_speed_gts": 2.5}),
    "not root": (SPACES["0000:18:00.0"][:64], UNREAD | {"bytes_read": 64, "responds": True}),
    "no extended space": (
        SPACES["0000:18:00.0"][:256],
        UNREAD_EXTENDED | {"bytes_read": 256, "port_type": "endpoint", "max_read_request": 4096},
    ),
    "cut inside a capability": (
        config(0, 0x100 + 6, extended=[acs(0x1D)]),
        {"acs": "present", "acs_source_validation": None, "ats": "absent", "aer": "absent"},
    ),
    "cut inside the express capability": (
        SPACES["0000:18:00.0"][:0x66],
        {"port_type": "endpoint", "max_read_request": None, "link_width": None},
    ),
    "less than a header": (b"\xb3\x15", UNREAD | {"bytes_read": 2, "responds": None}),
    "nothing": (b"", UNREAD | {"bytes_read": 0, "responds": None}),
    "too much": (SPACES["0000:18:00.0"] + bytes(9000), {"bytes_read": 4096, "ats": "present"}),
    "off the bus": (OFF_BUS, UNREAD | {"bytes_read": 4096, "responds": False}),
    "virtual function": (
        changed(config(0, lnkcap=0x105, extended=[ats(0x8000)]), dict.fromkeys(range(4), 0xFF)),
        {"responds": True, "port_type": "endpoint", "max_payload": None, "aspm": None}
        | {"max_read_request": None, "relaxed_ordering": None, "no_snoop": None}
        | {"link_width": 0, "link_width_max": 16, "ats_enabled": True, "acs": "absent"},
    ),
    "no capability list": (
        changed(config(0), {6: 0}),
        {"port_type": "", "acs": "absent", "ats": "absent", "aer": "absent", "max_payload": None},
    ),
    "cardbus": (changed(config(0), {0x0E: 2, 0x14: 0x60, 0x34: 0}), {"port_type": "endpoint"}),
    "unknown header": (changed(config(0), {0x0E: 0x7E}), UNREAD | {"responds": True}),
    "list loops": (changed(config(None), {0x41: 0x40}), UNREAD),
    "list points into the header": (changed(config(None), {0x41: 0x10}), UNREAD),
    "list ends in ones": (changed(config(None), {0x41: 0xF8, 0xF8: 0xFF}), UNREAD),
    "express capability leaves its area": (
        changed(config(None), {0x41: 0xF8, 0xF8: 0x10, 0xFA: 0x42}),
        {"port_type": "root_port", "max_read_request": None, "link_width": None},
    ),
    "extended list loops": (
        chain((0x100, 0x0D, 0x140), (0x140, 0x0B, 0x100)),
        {"acs": "present", "acs_source_validation": False, "ats": None, "aer": None},
    ),
    "extended list points below itself": (chain((0x100, 0x0B, 0x40)), UNREAD_EXTENDED),
    "extended list reads as ones": (
        changed(chain(), dict.fromkeys(range(0x100, 0x104), 0xFF)),
        UNREAD_EXTENDED,
    ),
    "a capability twice": (
        config(6, extended=[acs(0x01), acs(0x04)]),
        {"acs_source_validation": True, "acs_request_redirect": False},
    ),
    "longest list": (chain(*EVERY_HEADER), {"acs": "absent", "ats": "absent", "aer": "absent"}),
    "capability in the last bytes": (
        chain((0x100, 0x01, 0xFFC), (0xFFC, 0x0D, 0)),
        {"acs": "present", "acs_source_validation": None, "ats": "absent", "aer": "present"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case: str) -> None:
    space, expected = CASES[case]
    values = decoded(space)
    assert {name: values[name] for name in expected} == expected


@given(seed=st.integers(0, 2**32), size=st.sampled_from((0, 63, 64, 65, 200, 256, 300, 4096)))
def test_any_bytes_give_a_row(seed: int, size: int) -> None:
    noise = random.Random(seed).randbytes(size)
    if size > 64 and seed % 2:  # a head that leads into the noise
        noise = changed(noise, {0x06: 0x10, 0x0E: 0, 0x34: 0x40, 0x40: 0x10})
    assert decoded(noise)["bytes_read"] == size


NIC = SPACES["0000:18:00.0"]
TEXT = dump({"0000:18:00.0": NIC})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT.replace("0000:18:00.0", "18:00.0"), {"0000:18:00.0": 4096}),
        (TEXT.replace("\n", "\r\n"), {"0000:18:00.0": 4096}),
        (TEXT[:-20], {"0000:18:00.0": 4090}),  # whole bytes of a cut line count
        (
            TEXT.replace("\n40: ", "\n50: ", 1),
            {"0000:18:00.0": 0x40},
        ),  # a gap: what follows is lost
        ("0000:18:00.0 0207: 15b3:1021\n", {"0000:18:00.0": 0}),
        ("lspci: Unable to load libkmod resources: error -2\n" + TEXT, {"0000:18:00.0": 4096}),
        (TEXT + TEXT, {"0000:18:00.0": 4096}),
        (
            dump({"10000:e1:00.0": NIC[:256], "0000:00:1f.7": NIC[:64]}),
            {"10000:e1:00.0": 256, "0000:00:1f.7": 64},
        ),
        ("", {}),
        ("\n", {}),
    ],
)
def test_text_forms(text: str, expected: dict[str, int]) -> None:
    rows = list(parse(text.encode(), ""))
    assert_storable(rows, "pci_config")
    assert {row.values["pci"]: row.values["bytes_read"] for row in rows} == expected


@pytest.mark.parametrize(
    "data",
    [b"bash: lspci: command not found\n", b"00: ff ff\n", b"\x00\xff" * 99, b"F 1 /etc/x\nx\n"],
)
def test_not_understood(data: bytes) -> None:
    with pytest.raises(NotUnderstoodError):
        list(parse(data, ""))


def test_a_file_that_could_not_be_read_is_a_row() -> None:
    data = b"E 6 /sys/bus/pci/devices/0000:18:00.0/config\nEACCES\n"
    (row,) = parse(data, "")
    assert (row.values["bytes_read"], row.values["port_type"]) == (0, None)


# ---- zeros are counted, not sent -------------------------------------------------------------


def files_of(tmp_path: Path, contents: dict[str, bytes]) -> bytes:
    """What the runner sends of config files in a tree of its own."""
    for pci, content in contents.items():
        file = tmp_path / f"sys/bus/pci/devices/{pci}/config"
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
    runner = runpy.run_path(str(RUNNER))
    probe = {"files": ["/sys/bus/pci/devices/*/config"]}
    return runner["read_files"](runner["Machine"](str(tmp_path)), probe, {})  # type: ignore[no-any-return]


def test_trailing_zeros_are_counted_and_come_back(tmp_path: Path) -> None:
    space = config(0, devcap=0x8001)
    contents = {
        "0000:01:00.0": space,
        "0000:02:00.0": bytes(4096),
        "0000:03:00.0": space[:64],
        "0000:04:00.0": space[:60] + b"\n" + bytes(3),
    }
    sent = files_of(tmp_path, contents)
    assert len(sent) < 700  # of 8 KB
    assert b"F 0+4096 /sys/bus/pci/devices/0000:02:00.0/config\n\n" in sent
    files = read_files(sent)
    found = {pci: files.content(f"/sys/bus/pci/devices/{pci}/config") for pci in contents}
    assert found == contents
    sizes = {row.values["pci"]: row.values["bytes_read"] for row in parse(sent, "")}
    assert sizes == {pci: len(content) for pci, content in contents.items()}


def test_a_few_bytes_cannot_stand_for_gigabytes() -> None:
    with pytest.raises(NotUnderstoodError, match="no file entry"):
        read_files(b"F 1+99999 /a\nx\n")
