"""Output of which a parser makes many rows, or long ones."""

import json
from functools import partial

from tests.hostile.far_end import ALL, FarEnd, scenario
from tests.hostile.honest import lldp
from tests.hostile.values import many_rows, some_specimens
from tests.hostile.words import MIB

rows = partial(scenario, "rows")
FACE = "\U0001f600"


@rows("reached", "ethtool_statistics")
def poison(far: FarEnd) -> None:
    far.hello()
    lines = b"".join(b"     rx%d_counter: %d\n" % (n, n) for n in range(6000))
    far.answer("ethtool_statistics", b"NIC statistics:\n" + lines, instance=FACE * 32)
    far.end()


@rows("reached", "ethtool_statistics")
def poison2(far: FarEnd) -> None:
    far.hello()
    lines = b"".join(b"     c%d: %d\n" % (n, n) for n in range(200_000))
    for number in range(3):
        far.answer(
            "ethtool_statistics", b"NIC statistics:\n" + lines, instance=f"{number}{FACE * 31}"
        )
    far.end()


@rows("reached", "lldpctl", look=True)
def poison3(far: FarEnd) -> None:
    """7.9 MB that is no UTF-8: six characters in JSON for every byte."""
    far.hello()
    text = lldp("eth0", "leaf").replace(b'"name": [', b'"descr": [{"value": "@"}], "name": [')
    far.answer("lldpctl", text.replace(b"@", b"\xff" * int(7.9 * MIB)))
    far.end()


@rows("reached", "ip_route", look=True)
def rows_route(far: FarEnd) -> None:
    far.hello()
    told = [
        {"dst": f"10.{n >> 8 & 255}.{n & 255}.0/24", "gateway": "1.1.1.1", "dev": f"eth{n}",
         "protocol": "bgp", "scope": "link", "prefsrc": "1.2.3.4", "flags": []}
        for n in range(29_000)
    ]  # fmt: skip
    far.answer("ip_route", json.dumps(told).encode())
    far.end()


@rows("reached", "ip_route")
def rows_multi(far: FarEnd) -> None:
    far.hello()
    hop = '{"gateway":"1.1.1.1","dev":"e","weight":1,"flags":[]}'
    hops = ",".join([hop] * 140_000)
    text = f'[{{"dst":"{FACE * 200}","protocol":"bgp","nexthops":[{hops}]}}]'
    far.answer("ip_route", text.encode())
    far.end()


def many_addresses(count: int) -> bytes:
    """As many rows, each with a long name in it that is sent once."""
    address = ",".join(['{"family":"inet","local":"1.2.3.4","prefixlen":24}'] * count)
    return (
        f'[{{"ifindex":1,"ifname":"{FACE * 400}","flags":[],"mtu":1,"operstate":"UP",'
        f'"addr_info":[{address}]}}]'
    ).encode()


@rows("reached", "ip_address")
def rows_addr(far: FarEnd) -> None:
    far.hello()
    far.answer("ip_address", many_addresses(150_000))
    far.end()


@rows("flooding|reached", "", "ip_address")
def rows_addr8(far: FarEnd) -> None:
    """Eight times what an honest runner would send at most."""
    far.hello()
    text = many_addresses(40_000)
    for number in range(8):
        far.answer("ip_address", text, instance=str(number or ""))
    far.end()


@rows("reached", "infiniband")
def rows_files(far: FarEnd) -> None:
    """150,000 files of one byte: as many devices."""
    far.hello()
    entry = b"F 1 /sys/class/infiniband/m%d/ports/1/counters/x\n1\n"
    far.answer("infiniband", b"".join(entry % number for number in range(150_000)))
    far.end()


@rows("reached", ALL, look=True)
def rows_of_every_probe(far: FarEnd) -> None:
    """Every specimen again and again, with other numbers."""
    far.hello()
    for probe, instance, output in some_specimens(far, 0):
        far.answer(probe, many_rows(output), instance=instance)
    far.end()


@rows("reached", "modules", look=True)
def good(far: FarEnd) -> None:
    """Answers one probe of all, and ends: what was asked and not answered is missing (B10)."""
    far.hello()
    far.answer("modules", b"")
    far.end()
