"""The 4096 bytes of a function's configuration space.

Register names are those of Linux' include/uapi/linux/pci_regs.h. Only lspci judges this: the test
runs the real one over the tree.
"""

import struct

from lab.fleet.model import KINDS, Function

POWER, EXPRESS = 0x40, 0x60  # where our capabilities lie: as on ConnectX cards
SLOT_POWER_W = 75
ACS_ABLE = 0x5F  # everything but the egress control vector


def _buses_below(function: Function) -> tuple[int, int]:
    """Secondary and subordinate bus; 0, 0 where nothing is below."""
    if not function.below:
        return 0, 0
    numbers = [int(child.address[5:7], 16) for child in function.below]
    return numbers[0], max(*numbers, *(_buses_below(child)[1] for child in function.below))


def _header(space: bytearray, function: Function, several: bool) -> None:
    memory_master_no_interrupt, capability_list = 0x0406, 0x0010
    # A virtual function has no identity registers of its own (they read ffff); a hypervisor that
    # hands it through fills them in.
    identity = (0xFFFF, 0xFFFF) if function.physical else (function.vendor, function.device)
    struct.pack_into(
        "<HHHH", space, 0, *identity, memory_master_no_interrupt, capability_list,
    )  # fmt: skip
    struct.pack_into("<I", space, 0x08, function.class_code << 8 | function.revision)
    space[0x0C] = 0x10  # cache line of 64 bytes
    more = 0x80 if several else 0
    if function.class_code >> 8 == 0x0604:
        space[0x0E] = 0x01 | more
        space[0x18] = int(function.address[5:7], 16)
        space[0x19], space[0x1A] = _buses_below(function)
    else:
        space[0x0E] = more
        struct.pack_into("<HH", space, 0x2C, *function.subsystem)
        space[0x3D] = 0x01
    space[0x34] = POWER


def _size_code(size: int) -> int:
    """128 bytes is 0, 4096 is 5."""
    return size.bit_length() - 8


def _express(space: bytearray, function: Function) -> None:
    kind = KINDS[function.kind]
    above_a_slot = function.kind in ("root_port", "downstream")
    below_a_slot = function.kind in ("endpoint", "upstream", "to_pci")
    space[EXPRESS] = 0x10
    put16 = struct.Struct("<H").pack_into
    put32 = struct.Struct("<I").pack_into
    put16(space, EXPRESS + 0x02, 2 | kind << 4 | above_a_slot << 8)
    power = SLOT_POWER_W << 18 if below_a_slot else 0
    put32(space, EXPRESS + 0x04, _size_code(function.max_payload_supported) | 0x8020 | power)
    control = 0x0907 | function.relaxed_ordering << 4  # errors reported, 8-bit tags, no-snoop
    control |= _size_code(function.max_payload) << 5 | _size_code(function.read_request) << 12
    put16(space, EXPRESS + 0x08, control)
    if function.kind == "inside":
        return
    active = 0x2000 if above_a_slot and function.width else 0
    put32(
        space, EXPRESS + 0x0C,
        function.generation_max | function.width_max << 4 | above_a_slot << 20,
    )  # fmt: skip
    put16(space, EXPRESS + 0x10, 0x0040)  # common clock, ASPM off
    put16(space, EXPRESS + 0x12, function.generation | function.width << 4 | 0x1000 | active)
    put32(space, EXPRESS + 0x14, SLOT_POWER_W << 7 if above_a_slot else 0)
    put32(space, EXPRESS + 0x2C, (1 << function.generation_max + 1) - 2)  # speeds it can do
    put16(space, EXPRESS + 0x30, function.generation_max)  # target speed: not capped
    put16(space, EXPRESS + 0x32, 0x001E)  # equalization complete


def _extended(function: Function) -> list[tuple[int, int, bytes]]:
    """(id, version, the bytes behind the header)."""
    found = [(0x01, 2, bytes(0x44))]  # error reporting, nothing reported
    if function.acs is not None:
        found.append((0x0D, 1, struct.pack("<HH", ACS_ABLE, function.acs)))
    if function.ats is not None:
        found.append((0x0F, 1, struct.pack("<HH", 0x0020, 0x8000 if function.ats else 0)))
    if function.virtual_functions:
        total, made = function.virtual_functions, function.made_functions
        enabled = 0x0009 if made else 0  # the functions, and their memory
        body = struct.pack("<IHHHHHHHH", 0, enabled, 0, total, total, made, 0, 1, 1)
        found.append((0x10, 1, body + struct.pack("<HHII", 0, 0x101E, 0x553, 1) + bytes(0x18)))
    return found


def config_space(function: Function, *, several: bool = False) -> bytes:
    """The configuration space of a function; 256 bytes where it is no PCI Express one.

    `several`: it is not the only function of its slot.
    """
    size = 0x100 if function.kind == "plain" else 0x1000
    if function.dead:
        return b"\xff" * size
    space = bytearray(size)
    _header(space, function, several)
    struct.pack_into("<BBHH", space, POWER, 0x01, EXPRESS, 0x0003, 0x0008)
    if function.kind == "plain":
        space[POWER + 1] = 0
        return bytes(space)
    _express(space, function)
    capabilities = _extended(function)
    for number, (identity, version, body) in enumerate(capabilities):
        at = 0x100 + 0x50 * number
        following = at + 0x50 if number + 1 < len(capabilities) else 0
        struct.pack_into("<I", space, at, identity | version << 16 | following << 20)
        space[at + 4 : at + 4 + len(body)] = body
    return bytes(space)
