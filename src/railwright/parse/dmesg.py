"""`dmesg`: messages of the NIC and GPU drivers in the kernel's log.

Four ways to begin a line are known: `[ seconds]` (with the caller behind it on some kernels),
`[date]` of `dmesg -T`, `priority,number,microseconds,-;` of /dev/kmsg, and syslog's
`date host kernel:`. Between a device and its message mlx5 may put function, line and process id,
which change from release to release: messages are told by what follows.

The log is a ring: where no message of kind `boot` is left, older ones are gone.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.host_text import whole_lines

_DATE = r"[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8}"  # Mar  4 09:11:02
_HOST = r"[A-Za-z0-9_.-]{1,64} kernel: "
_LEVEL = r"[a-z]{2,10} {0,9}:[a-z]{2,10} {0,9}: "  # kern  :warn  :  of dmesg -x
_SECONDS = r" {0,12}([0-9]{1,10}\.[0-9]{1,9})"
_CALLER = r" ?\[ {0,12}[TC][0-9]{1,9}\]"  # Linux CONFIG_PRINTK_CALLER
_BRACKET = re.compile(
    rf"(?:{_DATE} {_HOST}|{_LEVEL})?\[(?:{_SECONDS}|([A-Z][A-Za-z0-9: ]{{10,30}}))\]"
    rf"(?:{_CALLER})? (?:{_HOST})?",
    re.ASCII,
)
_KMSG = re.compile(r"[0-9]{1,6},[0-9]{1,20},([0-9]{1,15}),[^;\n]{1,40};", re.ASCII)
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.,+-]{8,30}"
_SYSLOG = re.compile(rf"({_DATE}|{_ISO}) {_HOST}", re.ASCII)

_PCI = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_GBPS = r"[0-9]{1,6}(?:\.[0-9]{1,3})?"
_WHOLE = {
    "limited_by_width": r"[0-9]{1,3}",
    "slot_watts": r"[0-9]{1,5}",
    "module": r"[0-9]{1,3}",
    "severity": r"[0-9]{1,3}",
    "xid": r"[0-9]{1,6}(?![0-9])",
    "error": r"-[0-9]{1,4}(?![0-9])",
}
_DECIMAL = {
    "available_gbps": _GBPS,
    "capable_gbps": _GBPS,
    "limited_by_gts": r"[0-9]{1,3}(?:\.[0-9])?",
}
_TEXT = {
    "driver": r"mlx5_core|pci|pcieport",
    "pci": _PCI,
    "netdev": r"[A-Za-z0-9_.-]{1,15}",
    "device": r"[A-Za-z0-9_]{1,60}",
    "state": r"(?:up|down)(?![A-Za-z])",
    "limiting_pci": _PCI,
    "event": r"(?:Cable|Unknown) [a-z]{1,20}(?:, [A-Za-z0-9 ,/()_-]{1,120})?",
    "firmware_version": r"[0-9]{1,3}(?:\.[0-9]{1,6}){2}(?![0-9.])",
    "command": r"[A-Za-z0-9_ ]{1,60}\(0x[0-9a-f]{1,4}\)",
    "syndrome": r"0x[0-9a-f]{1,8}",
    "text": r"[A-Za-z][A-Za-z0-9 ]{0,59}",
}
_PATTERNS = {**_WHOLE, **_DECIMAL, **_TEXT}
_NOTHING: dict[str, Value] = dict.fromkeys(sorted(_PATTERNS))

# What a message says: `{column}` stands for a value, `{column:pattern}` for one of another form,
# `{:pattern}` for what is left aside. Sources: Linux drivers/net/ethernet/mellanox/mlx5/core
# (events.c, health.c, cmd.c, main.c), drivers/pci (pci.c, pcie/aer.c), nvidia-peermem.c.
_DEVICE = "{driver} {pci}{:(?: (?P<netdev>[A-Za-z0-9_.-]{1,15}))?}: "
_WHERE = r"{:(?:\w{1,60}:[0-9]{1,6}:\(pid [0-9]{1,10}\): )?}"
# Linux before 5.6 says "8 GT/s x16 link".
_LINK = r"{:(?:(?P<limited_by_gts>[0-9]{1,3}(?:\.[0-9])?) GT/s(?: PCIe)?|Unknown(?: speed)?)}"
_LINK += " x{limited_by_width} link"
_OPERATION = r"op_mod(0x{:[0-9a-f]{1,4}}) {:(?:uid\([0-9]{1,6}\) )?}"
_STATUS = r"status {text:[A-Za-z ]{1,60}\(0x[0-9a-f]{1,4}\)}"
_OF_DEVICE = (
    ("firmware", "firmware version: {firmware_version}"),
    ("pcie_bandwidth", "{available_gbps} Gb/s available PCIe bandwidth (" + _LINK + ")"),
    (
        "pcie_bandwidth",
        "{available_gbps} Gb/s available PCIe bandwidth, limited by "
        + _LINK
        + " at {limiting_pci} (capable of {capable_gbps} Gb/s with ",
    ),
    ("module", "Port module event: module {module}, {event}"),
    ("module_error", "Port module event[error]: module {module}, {event}"),
    ("power_ok", "PCIe slot advertised sufficient power ({slot_watts}W)"),
    ("power_insufficient", "Detected insufficient power on the PCIe slot ({slot_watts}W)"),
    ("power_unknown", "PCIe slot power capability was not advertised"),
    ("temperature", "High temperature on sensors with bit set"),
    ("temperature", "synd 0x10: High temperature"),
    ("health", "Health issue observed, {text}, severity({severity})"),
    ("health", "{text:device's health compromised|PCI slot is unavailable}"),
    ("health", "{text:health recovery flow aborted, PCI reads still not working}"),
    ("health", "{text:Fatal error [0-9]{1,5} detected}"),
    ("command_timeout", "{command} timeout. Will cause a leak of a command resource"),
    ("command_error", "{command} " + _OPERATION + "failed, " + _STATUS + ", syndrome ({syndrome})"),
    ("link", "Link {state}"),
    ("probe_failed", "probe with driver mlx5_core failed with error {error}"),
    ("probe_failed", "mlx5_init_one failed with error code {error}"),
    ("acs", "{text:Configured ACS to 0x[0-9a-f]{1,8}|disabled ACS redirect}"),
)
_CQE = r"dump_cqe:[0-9]{1,6}:\(pid [0-9]{1,10}\): "
_FAILED_WORK = "{:dump error cqe|WC error: [0-9]{1,4}, Message: }"  # the second since Linux 6.13
_AER = "{driver} {:" + _PCI + "}: AER: {:(?:Multiple )?}"
_RECEIVED = " error {:(?:message )?received(?::| from)} {pci}"
_CONTAINED = "{driver:pcieport} {pci}: DPC: "
_SENT = r"(?:, (?P<text>ERR_(?:FATAL|NONFATAL)))?"
_REPORTED = "{driver:mlx5_core|nvidia|pci|pcieport} {pci}: {:(?:AER: )?}"
_LOADED = "nvidia_peermem|nv_peer_mem|(?:mlx5|ib|rdma)_[a-z]{1,20}"
_NVIDIA_PCI = r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?"
_SLICE = r"(?: GPU-I:[0-9]{1,4}(?: GPU-CI:[0-9]{1,4})?)?"
_ACTION = (  # of Xid 154 what the GPU needs now, of 144 to 150 whether its NVLinks work on
    r"{:(?:(?:, GPU recovery action changed from 0x[0-9a-f]{1,4} \([A-Za-z0-9 ]{1,40}\)"
    r" to 0x[0-9a-f]{1,4} \(|, [A-Z0-9_]{1,40} (?=Fatal |Nonfatal ))"
    r"(?P<text>[A-Za-z0-9 ]{1,40}?)(?:\)| XC))?}"
)
_PEERMEM = "{driver:nvidia-peermem|nv_peer_mem}"
_OTHER = (
    ("boot", r"Linux version {text:[0-9]{1,3}\.[0-9]{1,3}[A-Za-z0-9._+~-]{0,60}}"),
    ("probe_failed", "{driver}: probe of {pci} failed with error {error}"),
    ("error_cqe", "infiniband {device}: {:(?:" + _CQE + ")?}" + _FAILED_WORK),
    ("error_cqe", "{device:mlx5_[a-z0-9_]{1,40}}:{:" + _CQE + "}" + _FAILED_WORK),
    ("peermem_error", _PEERMEM + r" {:\w{1,60}:[0-9]{1,6}} ERROR {text:[a-z0-9_ ,()-]{1,100}}"),
    (
        "symbol_mismatch",
        "{driver:" + _LOADED + "}: disagrees about version of symbol {text:\\w{1,80}}",
    ),
    # A slice of a GPU (MIG) is named behind its address.
    ("xid", "{driver:NVRM}: Xid (PCI:{pci:" + _NVIDIA_PCI + "}{:" + _SLICE + "}): {xid}" + _ACTION),
    (
        "sxid",
        "{driver:nvidia-nvswitch[0-9]{1,3}}: SXid (PCI:{pci:" + _NVIDIA_PCI + "}): {xid}"
        "{:(?:, (?P<text>Fatal|Non-fatal))?}",
    ),
    ("aer_corrected", _AER + "{:Corrected|Correctable}" + _RECEIVED),
    (
        "aer_uncorrected",
        _AER + "{:Uncorrected|Uncorrectable} ({text:Fatal|Non-Fatal})" + _RECEIVED,
    ),
    # A port that has cut off what is below it, a device itself, firmware that owns AER.
    (
        "aer_uncorrected",
        _CONTAINED + "containment event, status:0x{:[0-9a-f]{1,8}}{:" + _SENT + "}",
    ),
    (
        "aer_uncorrected",
        _REPORTED + "PCIe Bus Error: severity=Uncorrected ({text:Fatal|Non-Fatal})",
    ),
    ("aer_uncorrected", _REPORTED + "aer_uncor_severity: 0x{:[0-9a-f]{1,8}}"),
)
_WORTH_A_LOOK = re.compile(
    r"mlx5_|NVRM: Xid|nvidia|peer_mem|Linux version|AER: |DPC: |PCIe Bus Error|ACS |"
    r"PCIe bandwidth|disagrees about"
)


def _compiled(template: str) -> re.Pattern[str]:
    """A template as a pattern. Values hold braces of their own, one level deep."""
    parts = re.split(r"\{([a-z_]*)(?::((?:[^{}]|\{[0-9,]*\})*))?\}", template)
    pattern = re.escape(parts[0])
    for name, form, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        group = f"?P<{name}>" if name else "?:"
        pattern += f"({group}{form or _PATTERNS[name]}){re.escape(after)}"
    return re.compile(pattern, re.ASCII)


_BOOTED = 60.0  # seconds until which a kernel can say that it starts; our judgement
_HEAD = _compiled(_DEVICE + _WHERE)
_Messages = tuple[tuple[str, re.Pattern[str]], ...]
_TAILS: _Messages = tuple((kind, _compiled(says)) for kind, says in _OF_DEVICE)
_WHOLES: _Messages = tuple((kind, _compiled(says)) for kind, says in _OTHER)


def _beginning(line: str) -> tuple[float | None, str | None, int] | None:
    """(seconds, time, where the message begins) of a line of a kernel log."""
    found = _BRACKET.match(line)
    if found:
        return (float(found[1]) if found[1] else None), found[2], found.end()
    found = _KMSG.match(line)
    if found:
        return int(found[1]) / 1_000_000, None, found.end()
    found = _SYSLOG.match(line)
    return (None, found[1], found.end()) if found else None


def _pci(text: str) -> str:
    """An address as the kernel writes it; NVRM leaves out the function, or widens the domain."""
    domain, _, rest = text.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}" + ("" if "." in rest else ".0")


def _value(name: str, text: str | None) -> Value:
    if text is None:
        return None
    if name in _WHOLE:
        return int(text)
    if name in _DECIMAL:
        return float(text)
    return _pci(text) if name == "pci" else text.rstrip()


def _first(messages: _Messages, line: str, at: int) -> tuple[str, dict[str, str | None]] | None:
    """The kind and the parts of the first message that stands at this place."""
    for kind, pattern in messages:
        found = pattern.match(line, at)
        if found:
            return kind, found.groupdict()
    return None


def _message(line: str, at: int) -> dict[str, Value] | None:
    """The kind of a message and what it says; None for a message of another kind."""
    head = _HEAD.match(line, at)
    of_device = _first(_TAILS, line, head.end()) if head else None
    found = of_device or _first(_WHOLES, line, at)
    if found is None:
        return None
    kind, said = found
    if head and of_device:
        said = head.groupdict() | said
    values: dict[str, Value] = {"kind": kind, **_NOTHING}
    values.update((name, _value(name, text)) for name, text in said.items())
    if kind == "pcie_bandwidth" and values["limiting_pci"] is None:
        values["limiting_pci"] = ""
    return values


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table kernel_message; no rows where the log has no message that is known."""
    text = text_of(data)
    place = 0
    for line in whole_lines(text):
        beginning = _beginning(line) if _WORTH_A_LOOK.search(line) else None
        message = _message(line, beginning[2]) if beginning else None
        if beginning and message and message["kind"] == "boot" and (beginning[0] or 0) > _BOOTED:
            continue  # anyone may write to the log, later
        if beginning and message:
            values: dict[str, Value] = {"place": place, "seconds": beginning[0]}
            yield Row("kernel_message", values | {"time": beginning[1]} | message)
            place += 1
    if not place and text.strip() and not any(_beginning(line) for line in text.split("\n")):
        raise NotUnderstoodError("no line of a kernel log")
