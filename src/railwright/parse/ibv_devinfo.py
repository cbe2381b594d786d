"""`ibv_devinfo -v` (and without -v): RDMA devices as applications see them.

Blocks by heading: `hca_id:`, below it the device's attributes, then `port:` and the port's. Depth
of indentation is not relied on: copies turn tabs into blanks. Numbers of a choice stand behind the
word, `PORT_ACTIVE (4)`; a tool older than the card says `invalid speed (128)` and is still right.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, gid_of, whole_number
from railwright.parse.iproute_text import answer_text, before_cut, ended_lines, merged, no_answer

_DEVICE = re.compile(r"^[ \t]*hca_id:[ \t]*([^\s:]{1,64})[ \t]*$", re.MULTILINE)
_PORT = re.compile(r"^[ \t]*port:[ \t]*([0-9]{1,3})[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*([a-z][a-z0-9_]{1,40}):[ \t]*(\S[^\n]{0,120})$", re.MULTILINE)
_GID = re.compile(
    r"^[ \t]*GID\[ *([0-9]{1,5})\]:[ \t]*([0-9a-fA-F:.]{2,45})(?:, ([A-Za-z0-9 /]{1,20}?))?[ \t]*$",
    re.MULTILINE,
)
_NOT_IN_USE = ":0000:0000:0000:0000"  # the tool leaves such places out by itself
_CODED = re.compile(r"(.{1,60}?) ?\(([0-9]{1,9})\)")
_WIDTH = re.compile(r"([0-9]{1,2})X")
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?) Gbps")
# InfiniBand's numbers for the speed of a lane, for tools that do not know the newest names.
_SPEEDS = {1: 2.5, 2: 5.0, 4: 10.0, 8: 10.0, 16: 14.0, 32: 25.0, 64: 50.0, 128: 100.0, 256: 200.0}
_TEXTS = {
    "firmware_version": "fw_ver",
    "node_guid": "node_guid",
    "sys_image_guid": "sys_image_guid",
    "vendor_id": "vendor_id",
    "hardware_version": "hw_ver",
    "psid": "board_id",
    "max_mr_size": "max_mr_size",  # 64 bits, all of them set: more than a BIGINT holds
    "page_size_cap": "page_size_cap",
}
_NUMBERS = {
    "vendor_part_id": "vendor_part_id",
    "port_count": "phys_port_cnt",
    "completion_vectors": "num_comp_vectors",
    "max_qp": "max_qp",
    "max_qp_wr": "max_qp_wr",
    "max_sge": "max_sge",
    "max_cq": "max_cq",
    "max_cqe": "max_cqe",
    "max_mr": "max_mr",
    "max_pd": "max_pd",
    "max_qp_rd_atom": "max_qp_rd_atom",
    "max_qp_init_rd_atom": "max_qp_init_rd_atom",
    "max_srq": "max_srq",
    "max_srq_wr": "max_srq_wr",
    "max_pkeys": "max_pkeys",
    "local_ca_ack_delay": "local_ca_ack_delay",
}
_KEYS = {
    "verbs_device": ("device",),
    "verbs_port": ("device", "port"),
    "verbs_gid": ("device", "port", "index"),
}

_MOST_BLOCKS = 2 * 8192  # names and texts; a card has at most 1,000 virtual functions

Fields = dict[str, str]


def _fields(block: str) -> Fields:
    """The first of each name: with tag matching `max_sge` stands twice, the device's first."""
    return {name: value.strip() for name, value in reversed(_FIELD.findall(block))}


def _coded(text: str | None) -> tuple[str | None, int | None]:
    """('PORT_ACTIVE', 4) of 'PORT_ACTIVE (4)'; no word where the tool has none for the number."""
    found = _CODED.fullmatch(text or "")
    if found is None:
        return None, None
    return (None if found[1].startswith("invalid") else found[1]), int(found[2])


def _device(device: str, fields: Fields) -> Row:
    values: dict[str, Value] = {"device": device}
    values["transport"] = _coded(fields.get("transport"))[0]
    values.update({column: fields.get(name) for column, name in _TEXTS.items()})
    values.update({column: whole_number(fields.get(name)) for column, name in _NUMBERS.items()})
    values["atomic_capability"] = _coded(fields.get("atomic_cap"))[0]
    values["capability_flags"] = whole_number(fields.get("device_cap_flags"), BIGINT_BITS)
    return Row("verbs_device", values)


def _rate(fields: Fields) -> dict[str, Value]:
    width, _ = _coded(fields.get("active_width"))
    speed, code = _coded(fields.get("active_speed"))
    lanes = _WIDTH.fullmatch(width or "")
    printed = _SPEED.fullmatch(speed or "")
    lane = float(printed[1]) if printed else _SPEEDS.get(code or 0)
    return {
        "active_width": lanes[0] if lanes else None,
        "active_speed": printed[0] if printed else None,
        "lane_gbps": lane,
        "total_gbps": lane * int(lanes[1]) if lanes and lane else None,
    }


def _port(device: str, port: int, fields: Fields) -> Row:
    state, state_code = _coded(fields.get("state"))
    values: dict[str, Value] = {
        "device": device,
        "port": port,
        "state": state,
        "state_code": state_code,
        "physical_state": _coded(fields.get("phys_state"))[0],
        "link_layer": fields.get("link_layer"),
        "max_mtu": whole_number(_coded(fields.get("max_mtu"))[0]),
        "active_mtu": whole_number(_coded(fields.get("active_mtu"))[0]),
        "lid": whole_number(fields.get("port_lid")),
        "sm_lid": whole_number(fields.get("sm_lid")),
        "lid_mask_count": whole_number(fields.get("port_lmc")),
        "gid_table_length": whole_number(fields.get("gid_tbl_len")),
        **_rate(fields),
    }
    return Row("verbs_port", values)


_gid = lru_cache(maxsize=4096)(gid_of)


def _gids(device: str, port: int, block: str) -> Iterator[Row]:
    for index, printed, kind in _GID.findall(block):
        gid = _gid(printed)
        if gid and gid.endswith(_NOT_IN_USE):
            continue
        values: dict[str, Value] = {
            "device": device,
            "port": port,
            "index": int(index),
            "gid": gid,
            "type": kind or None,
        }
        yield Row("verbs_gid", values)


def _rows(text: str) -> Iterator[Row]:
    _, *blocks = _DEVICE.split(text)
    if max(len(blocks), len(_PORT.findall(text))) > _MOST_BLOCKS:
        raise NotUnderstoodError("more devices than a machine can have")
    for device, block in zip(blocks[::2], blocks[1::2], strict=True):
        head, *ports = _PORT.split(before_cut(block))
        yield _device(device, _fields(head))
        for number, part in zip(ports[::2], ports[1::2], strict=True):
            yield _port(device, int(number), _fields(part))
            yield from _gids(device, int(number), part)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables verbs_device, verbs_port and verbs_gid."""
    text = answer_text(data)
    rows = list(_rows("\n".join(ended_lines(text))))
    if not rows:
        raise no_answer(text)
    return merged(rows, _KEYS)
