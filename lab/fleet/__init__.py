"""A host that is not there: its /sys and what its tools answer, written below a folder.

    build(folder, hgx_h100(1))                              a whole root for `rw.py --root folder`
    write_sys(folder, host) and write_tools(folder, host)   the parts, to be laid over a real root
    MODELS["socket_direct"](7)                              another kind of host

What makes the test data may not know what reads it: nothing here imports railwright.parse.
"""

from collections.abc import Callable
from pathlib import Path

from lab.fleet.a100 import hgx_a100_infiniband
from lab.fleet.dmi import write_dmi, write_root_bridges
from lab.fleet.ember import hgx_h100, with_uncore
from lab.fleet.kubernetes import kubernetes_worker
from lab.fleet.model import ACS_ON, HostModel
from lab.fleet.pci import write_pci
from lab.fleet.rdma import write_network
from lab.fleet.render import all_files
from lab.fleet.socket_direct import socket_direct
from lab.fleet.storage import write_storage
from lab.fleet.tools import add_shell, in_sys, write_files, write_identity, write_tools
from lab.fleet.tree import Folder, Tree
from lab.fleet.two_socket import two_socket_4x400g
from lab.fleet.virtual_machine import passthrough_vm

__all__ = [
    "ACS_ON",
    "MODELS",
    "HostModel",
    "add_shell",
    "build",
    "fill_sys",
    "hgx_a100_infiniband",
    "hgx_h100",
    "kubernetes_worker",
    "passthrough_vm",
    "socket_direct",
    "two_socket_4x400g",
    "with_uncore",
    "write_sys",
    "write_tools",
]

# name -> (number, faults) -> host
MODELS: dict[str, Callable[..., HostModel]] = {
    model.__name__: model
    for model in (
        hgx_h100,
        hgx_a100_infiniband,
        two_socket_4x400g,
        socket_direct,
        kubernetes_worker,
        passthrough_vm,
    )
}


def build(
    root: Path, host: HostModel, *, sys: bool = True, tools: bool = True, identity: bool = True
) -> None:
    """Write a host below `root`.

    `identity` is what a runner asks for by path and a real root has of its own: the distribution,
    the host name, the boot id. Leave it out where the tree is laid over a real root.
    """
    if sys:
        write_sys(root / "sys", host)
    if tools:
        write_tools(root, host)
    if identity:
        write_identity(root, host)


def write_sys(folder: Path, host: HostModel) -> None:
    """The contents of /sys, in `folder` itself."""
    fill_sys(Folder(folder), host)


def fill_sys(sys: Tree, host: HostModel) -> None:
    """The contents of /sys, into a tree."""
    write_dmi(sys, host)
    paths = write_pci(sys, host)
    write_root_bridges(sys, host)
    write_network(sys, host, paths)
    _write_modules(sys, host)
    write_storage(sys, host)
    found = all_files(host)
    write_files(sys, {path[len("/sys") :]: found[path] for path in found if in_sys(path)})


def _write_modules(sys: Tree, host: HostModel) -> None:
    """Of each loaded module who holds it, how often it is in use, and its version if it has one."""
    known = {module.name: module for module in host.kernel.modules}
    for name in sorted({*host.modules, *known}):
        module = known.get(name)
        holders = () if module is None else module.users
        count = 0 if module is None else len(module.users) + module.references
        files = {"initstate": "live\n", "refcnt": f"{count}\n"}
        if module is not None and module.version:
            files["version"] = f"{module.version}\n"
        sys.write(f"module/{name}", files)
        there = [holder for holder in holders if holder in {*host.modules, *known}]
        sys.write(f"module/{name}/holders", {}, {holder: f"../../{holder}" for holder in there})
