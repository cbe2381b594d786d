"""Probe `modules`: the loaded kernel modules, and what GPUDirect needs of them.

Files:  /proc/modules, /sys/module/*/version of some, /proc/driver/nvidia/{version,params},
        /sys/kernel/mm/memory_peers/*/version

What `lsmod` prints is read as well; it shows neither state nor versions.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import (
    BIGINT_BITS,
    NotUnderstoodError,
    Row,
    Value,
    members_once,
    text_of,
    whole_number,
)
from railwright.parse.files import Files, is_missing, read_files
from railwright.parse.host_text import (
    has_gap,
    is_stream,
    whole_lines,
    without_last_line,
)

MODULES = "/proc/modules"
VERSIONS = "/sys/module"
DRIVER = "/proc/driver/nvidia/version"
OPTIONS = "/proc/driver/nvidia/params"
PEERS = "/sys/kernel/mm/memory_peers"

# The modules whose version the probe asks for: only of these is a missing file a fact.
VERSIONED = (
    *("mlx5_core", "mlx5_ib", "ib_core", "nvidia", "nvidia_peermem", "nv_peer_mem"),
    *("nvidia_fs", "gdrdrv"),
)
PEERMEM = ("nvidia_peermem", "nv_peer_mem")

_BUILT_IN = "Built-in"
_NAME = r"([A-Za-z0-9_-]{1,60})"
_SIZE = r"([0-9]{1,18})"
_COUNT = r"(-|-?[0-9]{1,9})"  # `-` where the kernel cannot unload modules
_USERS = r"([A-Za-z0-9_,\[\]-]+)"
_MODULE = re.compile(
    rf"{_NAME} {_SIZE} {_COUNT} {_USERS} (Live|Loading|Unloading) "
    r"0x[0-9a-fA-F]{1,16}(?: \(([A-Z]{0,20})[+-]?\))?",
    re.ASCII,
)
_LSMOD = re.compile(
    rf"{_NAME}\s{{1,200}}{_SIZE}\s{{1,200}}{_COUNT}(?:\s{{1,200}}{_USERS})?", re.ASCII
)
_HEADING = re.compile(r"^\s{0,40}Module\s{1,40}Size\s{1,40}Used by", re.MULTILINE)
# "NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu ...", "NVIDIA UNIX Open Kernel Module for
# x86_64  550.54.15  Release Build ...".
_DRIVER = re.compile(
    r"NVRM version: NVIDIA UNIX (Open )?[A-Za-z0-9_ ]{0,40}?Kernel Module[A-Za-z0-9_ ]{0,40}? "
    r"([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})(?![0-9.])",
    re.ASCII,
)


# nv-procfs.c of NVIDIA's open kernel modules: `Name: number`, and texts in quotes.
_OPTION = re.compile(
    r"(EnableStreamMemOPs|EnablePCIERelaxedOrderingMode|GrdmaPciTopoCheckOverride"
    r"|EnableGpuFirmware|DmaRemapPeerMmio): ([0-9]{1,10})"
    r'|(RegistryDwords): "([A-Za-z0-9_=;, ]{0,300})"',
    re.ASCII,
)


class _Module(NamedTuple):
    """One loaded module as printed; None where this form does not print it."""

    size: int | None
    references: int | None
    users: str | None
    state: str | None
    taints: str | None


class _Modules(NamedTuple):
    """A list of modules. One with a line that is not understood does not say what is not loaded."""

    modules: dict[str, _Module]
    is_whole: bool


def _users(text: str | None) -> str:
    """Who uses it. `[permanent]` is no module: it says that this one cannot be unloaded."""
    return ",".join(
        part for part in (text or "").split(",") if part not in ("", "-", "[permanent]")
    )


def _add(modules: dict[str, _Module], printed: str, module: _Module) -> None:
    name = printed.replace("-", "_")
    if modules.setdefault(name, module) != module:
        raise NotUnderstoodError(f"module {name} is printed twice and differs")


def _of_proc(text: str) -> _Modules:
    modules: dict[str, _Module] = {}
    is_whole = True
    for line in text.split("\n"):
        found = _MODULE.fullmatch(line.rstrip())
        if found:
            size, count = whole_number(found[2], BIGINT_BITS), whole_number(found[3], lowest=-1)
            module = _Module(size, count, _users(found[4]), found[5], found[6] or "")
            _add(modules, found[1], module)
        else:
            is_whole = is_whole and not line.strip()
    return _Modules(modules, is_whole)


def _of_lsmod(text: str) -> _Modules:
    heading = _HEADING.search(text)
    if heading is None:
        raise NotUnderstoodError("no heading of lsmod")
    modules: dict[str, _Module] = {}
    is_whole = not has_gap(text)
    for line in whole_lines(text[heading.end() :]):
        found = _LSMOD.fullmatch(line.strip())
        if found:
            size, count = whole_number(found[2], BIGINT_BITS), whole_number(found[3], lowest=-1)
            _add(modules, found[1], _Module(size, count, _users(found[4]), None, None))
        else:
            is_whole = is_whole and not line.strip()
    return _Modules(modules, is_whole)


def _version(files: Files | None, name: str) -> str | None:
    """Its version; '' where it has none, None where nobody asked or the file was not read."""
    path = f"{VERSIONS}/{name}/version"
    if files is None or name not in VERSIONED:
        return None
    return "" if is_missing(files, path) else files.text(path)


def _module_row(name: str, module: _Module, files: Files | None) -> Row:
    values: dict[str, Value] = {
        "name": name,
        "size_bytes": module.size,
        "reference_count": module.references,
        "users": module.users,
        "version": _version(files, name),
        "state": module.state,
        "taints": module.taints,
    }
    return Row("kernel_module", values)


def _loaded_version(files: Files | None, name: str, loaded: bool | None) -> str | None:
    """The version of a module; '' where it is not loaded, None where that is not known."""
    return "" if loaded is False else _version(files, name) or None


def _gpu_direct(modules: dict[str, _Module], files: Files | None, whole: bool) -> Row:
    def loaded(name: str) -> bool | None:
        return True if name in modules else False if whole else None

    driver = _DRIVER.search((files.text(DRIVER) or "") if files else "")
    peermem = next((name for name in PEERMEM if name in modules), "" if whole else None)
    kind = ("open" if driver[1] else "proprietary") if driver else None
    version = _loaded_version(files, "nvidia", loaded("nvidia"))
    values: dict[str, Value] = {
        "peermem_module": peermem,
        "memory_peers": ",".join(files.below(PEERS)) if files else None,
        "gpu_driver_version": driver[2] if driver else version,
        "gpu_driver_kind": kind or ("" if loaded("nvidia") is False else None),
        "gdrdrv_version": _loaded_version(files, "gdrdrv", loaded("gdrdrv")),
        "nvidia_fs_version": _loaded_version(files, "nvidia_fs", loaded("nvidia_fs")),
    }
    return Row("gpu_direct", values)


def _options(files: Files) -> Iterator[Row]:
    """Options of the GPU driver that are on the list; of a file that was cut all but the last."""
    text = files.text(OPTIONS) or ""
    lines = (without_last_line(text) if files.is_cut(OPTIONS) else text).split("\n")
    found = [found for line in lines if (found := _OPTION.fullmatch(line.rstrip()))]
    options = members_once([(one[1] or one[3], one[2] or one[4] or "") for one in found])
    for name, value in options.items():
        yield Row("gpu_driver", {"name": name, "value": value})


def _rows_of_files(files: Files) -> Iterator[Row]:
    if not any(path.startswith((MODULES, VERSIONS, DRIVER, OPTIONS, PEERS)) for path in files):
        raise NotUnderstoodError(f"neither {MODULES} nor a version")
    text, is_cut = files.text(MODULES), files.is_cut(MODULES)
    modules, is_whole = _of_proc((without_last_line(text or "") if is_cut else text) or "")
    is_whole = bool(text) and is_whole and not is_cut
    if text and not is_cut and not modules:
        raise NotUnderstoodError(f"no module in {MODULES}")
    # One that has a version and is not on the list is built into the kernel.
    for name in VERSIONED:
        if name not in modules and files.text(f"{VERSIONS}/{name}/version"):
            state = _BUILT_IN if is_whole else None
            modules[name] = _Module(None, None, None, state, None)
    for name, module in modules.items():
        yield _module_row(name, module, files)
    # A list that is empty was not understood by the filter: a host with a GPU has modules.
    yield _gpu_direct(modules, files, is_whole)
    yield from _options(files)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables kernel_module, gpu_direct and gpu_driver."""
    if is_stream(data):
        yield from _rows_of_files(read_files(data))
    elif data.strip():
        text = text_of(data)
        modules, is_whole = _of_lsmod(text)
        for name, module in modules.items():
            yield _module_row(name, module, None)
        yield _gpu_direct(modules, None, is_whole)
