"""`lspci -D -vvv`: PCI functions as people read them, one paragraph each.

A paragraph begins with an address at the start of a line; blank lines are dropped on the machine
and copies have blanks for tabs. Without root lspci prints `Capabilities: <access denied>`.

pci_config has the same facts from the bytes themselves and more of them; this is what is left
where only lspci may be run, and the second opinion. A host prints up to a megabyte, of which most
paragraphs are alike on one host and between hosts: each is read once and remembered.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.lspci_express import ACS_FLAGS, COLUMNS, express_values, register_flags

# The newline in front is what makes the search fast: one scan for it, no try at each character.
_FUNCTION = re.compile(r"\n((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=[ \n])")
_CLASS = re.compile(r" ([^:\n]{1,100}): ([^\n]{1,300})")
# With -nn a first line ends in the device's ids and a revision: then its names are not cut.
_WHOLE_NAMES = re.compile(r"[^\n]{1,400}(?: \[[0-9a-f]{4}:[0-9a-f]{4}\]| \(rev [0-9a-f]{2}\))")
_REVISION = re.compile(r" \(rev [0-9a-f]{2}\)$")
# With -v alone both stand in one line of flags, without the colon.
_FLAGS = r"\n[ \t]*(?:Flags: [^\n]{0,200}, )?"
# Names are free text, in which the words of a line may stand: only a line's beginning counts.
_NUMA = re.compile(_FLAGS + r"NUMA node:? ([0-9]{1,9})(?=[\s,]|$)")
_GROUP = re.compile(_FLAGS + r"IOMMU group:? ([0-9]{1,9})(?=[\s,]|$)")
_DRIVER = re.compile(r"\n[ \t]*Kernel driver in use: ([!-~]{1,64})")
_BUSES = re.compile(
    r"\n[ \t]*Bus: primary=[0-9a-f]{2}, secondary=([0-9a-f]{2}), subordinate=([0-9a-f]{2})"
)
_VIRTUAL = re.compile(
    r"\n[ \t]*Initial VFs: [0-9]{1,5}, Total VFs: ([0-9]{1,5}), Number of VFs: ([0-9]{1,5})"
)
_PART_NUMBER = re.compile(r"\n[ \t]*\[PN\] Part number: ([!-~]{1,40})[ \t]*(?:\n|$)")
_EXTENDED = re.compile(r"Capabilities: \[[0-9a-f]{3}[ \]]")
_GAP = re.compile(r"\n[ \t]{0,40}[(\[]?\.\.\.[)\]]?[ \t]{0,40}(?=\n|$)")
# Dots at a line's beginning may stand for another function's first line: what follows is its own.
_GAP_OF_FUNCTIONS = re.compile(r"\n[(\[]?\.\.\.[)\]]?[ \t]{0,40}(?:\n|$)")
_TREE = re.compile(r"[-+\\]-?\[[0-9a-f]{4,8}:[0-9a-f]{2}\]-")
_ERROR = re.compile(r"^(?:lspci|pcilib): [^\n]{1,200}", re.MULTILINE)

# The second is of pciutils before 3.0.
_DENIED = ("Capabilities: <access denied>", "Capabilities: <available only to root>")
_BROKEN = "] <chain "  # <chain looped>, <chain broken>: what comes behind is not known
_GONE = "!!! Unknown header type 7f"  # all ones: the function does not answer

_REMEMBERED = 4096  # paragraphs; about 500 per host, nearly all alike within a fleet
_LONGEST = 16384  # characters; a NIC's paragraph has 6,000. Longer ones are not remembered.


def _names(text: str) -> tuple[str | None, str | None]:
    """Class and device of the first line, without revision and programming interface."""
    found = _CLASS.match(text)
    if found is None:
        return None, None
    device = found[2].split(" (prog-if ")[0].rstrip()
    return found[1], _REVISION.sub("", device)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    number = int(found[1]) if found else None
    return number if number is not None and number < 2**31 else None


def _placement(text: str, has_details: bool) -> dict[str, Value]:
    """Driver and buses: lines that lspci leaves out where there is nothing to say."""
    none = "" if has_details else None
    driver = _DRIVER.search(text)
    buses = _BUSES.search(text)
    return {
        "numa_node": _number(_NUMA, text),
        "iommu_group": _number(_GROUP, text),
        "driver": driver[1] if driver else none,
        "secondary_bus": buses[1] if buses else none,
        "subordinate_bus": buses[2] if buses else none,
    }


def _extended(text: str, presence: str | None) -> dict[str, Value]:
    """ACS, ATS and SR-IOV; `presence` is what to say of a capability that is not printed."""
    has_acs = "] Access Control Services" in text
    has_ats = "] Address Translation Service" in text
    virtual = _VIRTUAL.search(text)
    acs = register_flags(text, "ACSCtl:")
    none = 0 if presence == "absent" and "] Single Root I/O Virtualization" not in text else None
    return {
        "acs": "present" if has_acs or acs else presence,
        **{column: acs.get(flag) for column, flag in ACS_FLAGS.items()},
        "ats": "present" if has_ats else presence,
        "ats_enabled": register_flags(text, "ATSCtl:").get("Enable"),
        "vf_limit": int(virtual[1]) if virtual else none,
        "vf_count": int(virtual[2]) if virtual else none,
    }


def _part_number(text: str, listed: bool) -> str | None:
    found = _PART_NUMBER.search(text)
    if found:
        return found[1]
    return "" if listed and "] Vital Product Data" not in text else None


def _read(text: str, whole: bool) -> dict[str, Value]:
    """All columns but the address, of one paragraph without it."""
    text, *behind = _GAP_OF_FUNCTIONS.split(text, maxsplit=1)
    class_text, device_text = _names(text)
    cut = not whole or bool(behind) or ("..." in text and _GAP.search(text) is not None)
    gone = _GONE in text
    has_details = not cut and not gone and ("Control:" in text or "Flags:" in text)
    denied = any(words in text for words in _DENIED)
    # The list of capabilities was printed to its end, or the function says that it has none.
    some = "Capabilities: [" in text or "Status: Cap-" in text
    listed = has_details and not denied and some and _BROKEN not in text
    express = express_values(text, device_text)
    if express is None:
        express = dict.fromkeys(COLUMNS)
        express["port_type"] = "" if listed else None
    # Extended capabilities are not printed where only 256 bytes could be read; without PCI Express
    # there are none.
    absent = listed and (express["port_type"] == "" or _EXTENDED.search(text) is not None)
    return {
        "class_text": class_text,
        "device_text": device_text,
        **_placement(text, has_details),
        "responds": False if gone else True if has_details else None,
        "capabilities_denied": True if denied else False if listed else None,
        **express,
        **_extended(text, "absent" if absent else None),
        "part_number": _part_number(text, listed),
    }


_remembered = lru_cache(maxsize=_REMEMBERED)(_read)


def _text(data: bytes) -> str:
    # A few scans for fixed bytes are much faster than text_of's search on a megabyte.
    if any(odd in data for odd in (b"\r", b"\x1b", b"\x00", b"<std", b" pid=")):
        return text_of(data)
    return data.decode("utf-8", errors="replace")


def _reason(text: str) -> str:
    """Why a text without any function is not understood: every host has some."""
    if error := _ERROR.search(text):
        return error[0]
    if _TREE.search(text):
        return "the drawing of -t: bus numbers of -vvv say the same"
    return "no PCI function"


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - one answer per host
    """Rows of lspci_function."""
    text = _text(data)
    parts = _FUNCTION.split("\n" + text)
    if len(parts) == 1:
        raise NotUnderstoodError(_reason(text))
    rows: dict[str, Row] = {}
    last = len(parts) - 2
    for at in range(1, len(parts), 2):
        address, paragraph = parts[at], parts[at + 1]
        whole = True
        if at == last and not text.endswith("\n"):  # x16 may be cut to x1
            whole = False
            if not _WHOLE_NAMES.fullmatch(paragraph):
                paragraph = paragraph.rpartition("\n")[0] or " "
        read = _remembered if len(paragraph) <= _LONGEST else _read
        pci = address if address.count(":") == 2 else f"0000:{address}"
        row = Row("lspci_function", {"pci": pci, **read(paragraph, whole)})
        if rows.setdefault(pci, row) != row:
            raise NotUnderstoodError(f"{pci} is printed twice and differs")
    return iter(rows.values())
