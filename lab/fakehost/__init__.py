"""A host that is not there: its /sys and what its tools answer, written below a folder.

    build(folder, hgx_h100(1))                              a whole root for `rw.py --root folder`
    write_sys(folder, host) and write_tools(folder, host)   the parts, to be laid over a real root

What makes the test data may not know what reads it: nothing here imports railwright.parse.
"""

from pathlib import Path

from lab.fakehost.ember import hgx_h100
from lab.fakehost.model import ACS_ON, HostModel
from lab.fakehost.pci import write_pci
from lab.fakehost.rdma import write_network
from lab.fakehost.tools import add_shell, write_identity, write_tools
from lab.fakehost.tree import Folder

__all__ = ["ACS_ON", "HostModel", "add_shell", "build", "hgx_h100", "write_sys", "write_tools"]

# Modules that sit on the NVIDIA driver: each holds one reference on it.
_NVIDIA_HOLDERS = ("nvidia_modeset", "nvidia_peermem", "nvidia_uvm")
# The persistence daemon, fabric manager and a job: more references than holders means "in use".
_NVIDIA_REFERENCES = 27


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
    sys = Folder(folder)
    paths = write_pci(sys, host)
    write_network(sys, host, paths)
    _write_modules(sys, host)


def _write_modules(sys: Folder, host: HostModel) -> None:
    for name in host.modules:
        sys.write(f"module/{name}", {"initstate": "live\n", "refcnt": "2\n"})
    if "nvidia" in host.modules:
        links = {name: f"../../{name}" for name in _NVIDIA_HOLDERS if name in host.modules}
        sys.write("module/nvidia/holders", {}, links)
        sys.write("module/nvidia", {"refcnt": f"{_NVIDIA_REFERENCES}\n"})
