"""How a value is written for a tool: `{to:bits}` in the file of a setting.

A value has one text in Railwright (`3,4`, `none`, `on`); tools want others. A form that gives a
list becomes as many words of a command.
"""

from collections.abc import Callable

_PRIORITIES = range(8)
_LEAST_READ_REQUEST = 128


def _priorities(value: str) -> set[int]:
    """Those of `3,4`; of `none` no one."""
    return set() if value == "none" else {int(one) for one in value.split(",")}


def bits(value: str) -> str:
    """Eight 0 or 1, priority 0 first: mlnx_qos."""
    chosen = _priorities(value)
    return ",".join("1" if one in chosen else "0" for one in _PRIORITIES)


def switched(value: str) -> list[str]:
    """all:off 3:on: dcb."""
    return ["all:off", *(f"{one}:on" for one in sorted(_priorities(value)))]


def number(value: str) -> str:
    """1 for on, 0 for off."""
    return {"on": "1", "off": "0"}[value]


def off(value: str) -> str:
    """0 for on, 1 for off: for what names the opposite."""
    return {"on": "0", "off": "1"}[value]


def read_request(value: str) -> str:
    """Bits 12 to 14 of the device control register: 4096 -> 5000 (PCI Express Base, 7.5.3.4)."""
    return f"{(int(value) // _LEAST_READ_REQUEST).bit_length() - 1:x}000"


def dcbx(value: str) -> str:
    """Os or fw: mlnx_qos -d."""
    return {"host": "os", "firmware": "fw"}[value]


def first(value: str) -> str:
    """The first part of a value that a tool wants in several words: `1024:512` -> 1024."""
    return value.split(":", maxsplit=1)[0]


def second(value: str) -> str:
    """The second part of such a value."""
    return value.split(":")[1]


def third(value: str) -> str:
    """The third part of such a value."""
    return value.split(":")[2]


def version(value: str) -> str:
    """2 for v2: cma_roce_mode -m."""
    return value.removeprefix("v")


def semicolons(value: str) -> str:
    """A,B -> A;B: pci=disable_acs_redir (Linux kernel-parameters.txt)."""
    return value.replace(",", ";")


def netns(value: str) -> str:
    """1 for shared, 0 for exclusive: ib_core netns_mode (Linux infiniband/core/device.c)."""
    return {"shared": "1", "exclusive": "0"}[value]


def library_file(value: str) -> str:
    """The file of a library by its last name; there are no others."""
    return {
        "nccl.conf": "/etc/nccl.conf",
        "ucx.conf": "/etc/ucx/ucx.conf",
        "environment": "/etc/environment",
    }[value]


def listed(value: str) -> str:
    """3,4; of `none` nothing: pfc_enable of SONiC (SONIC-YANG)."""
    return "" if value == "none" else value


def ethernet(value: str) -> str:
    """Eth1/1 -> 1/1, as Onyx takes a port behind `interface ethernet`."""
    return value.removeprefix("Eth")


def eos_pfc(value: str) -> list[str]:
    """A line for each priority: EOS."""
    chosen = _priorities(value)
    lines = (f"priority-flow-control priority {one} no-drop" for one in _PRIORITIES)
    return [line if one in chosen else f"no {line}" for one, line in enumerate(lines)]


def onyx_pfc(value: str) -> list[str]:
    """A line for each priority, of the whole switch: Onyx."""
    chosen = _priorities(value)
    lines = (f"dcb priority-flow-control priority {one} enable" for one in _PRIORITIES)
    return [line if one in chosen else f"no {line}" for one, line in enumerate(lines)]


def enabled(value: str) -> str:
    """`enable` for on, `disable` for off: NVUE."""
    return {"on": "enable", "off": "disable"}[value]


def layer(value: str) -> str:
    """Of the field that decides a priority its layer: NVUE, l3 for dscp."""
    return {"dscp": "l3", "pcp": "l2", "port": "port"}[value]


def onyx_trust(value: str) -> str:
    """The same for Onyx: L3 for dscp."""
    return {"dscp": "L3", "pcp": "L2", "port": "port"}[value]


def eos_trust(value: str) -> list[str]:
    """The line that sets the trust mode of a port: EOS."""
    return {"dscp": ["qos trust dscp"], "pcp": ["qos trust cos"], "port": ["no qos trust"]}[value]


def eos_fec(value: str) -> list[str]:
    """The line that sets the FEC of a port: EOS."""
    return {
        "rs": ["error-correction encoding reed-solomon"],
        "fc": ["error-correction encoding fire-code"],
        "none": ["no error-correction encoding"],
    }[value]


def base_r(value: str) -> str:
    """`baser` for fc and `off` for none: NVUE."""
    return {"rs": "rs", "fc": "baser", "none": "off", "auto": "auto"}[value]


def gigabits(value: str) -> str:
    """Gb/s of Mb/s."""
    return str(int(value) // 1000)


def kilobytes(value: str) -> str:
    """Thousands of bytes: Onyx prints and takes 150 for 150,000."""
    return str(int(value) // 1000)


FORMS: dict[str, Callable[[str], str | list[str]]] = {
    "bits": bits,
    "switched": switched,
    "number": number,
    "off": off,
    "read_request": read_request,
    "dcbx": dcbx,
    "first": first,
    "second": second,
    "third": third,
    "version": version,
    "semicolons": semicolons,
    "netns": netns,
    "library_file": library_file,
    "listed": listed,
    "ethernet": ethernet,
    "eos_pfc": eos_pfc,
    "onyx_pfc": onyx_pfc,
    "enabled": enabled,
    "layer": layer,
    "onyx_trust": onyx_trust,
    "eos_trust": eos_trust,
    "eos_fec": eos_fec,
    "base_r": base_r,
    "gigabits": gigabits,
    "kilobytes": kilobytes,
}
