"""Kernel modules: what is loaded, what can be, and who holds what."""

from typing import TYPE_CHECKING

from lab.fleet.render.kernel import modules as loaded
from lab.fleet.render.kernel import references
from lab.writes.assemble import USES
from lab.writes.outcome import KernelError

if TYPE_CHECKING:
    from lab.writes.state import HostState

# What /lib/modules of a host has beyond what is loaded.
AVAILABLE = frozenset(
    {
        *("8021q", "bonding", "configfs", "ib_core", "ib_ipoib", "ib_umad", "ib_uverbs", "iw_cm"),
        *("mlx5_core", "mlx5_ib", "msr", "rdma_cm", "rdma_ucm", "vfio_pci", "acpi_cpufreq"),
    }
)
OF_GPU_DRIVER = frozenset({"nvidia", "nvidia_modeset", "nvidia_peermem", "nvidia_uvm"})
# Somebody always has these open: the fabric's own stack.
HELD = frozenset({"mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "nvidia", "nvidia_uvm"})


def names(state: "HostState") -> set[str]:
    """Every loaded module."""
    return {module.name for module in loaded(state.model())}


def can_load(state: "HostState", name: str) -> bool:
    """Whether there is such a module for this kernel."""
    return name in AVAILABLE or (name in OF_GPU_DRIVER and bool(state.model().gpus)) or (
        name in names(state) or name in {*state.base.modules}
    )  # fmt: skip


def load(state: "HostState", name: str) -> None:
    """init_module(), after the modules that it uses."""
    if name in names(state):
        return
    if not can_load(state, name):
        raise KernelError("ENOENT")
    for used in USES.get(name, ()):
        load(state, used)
    _put(state, name, True)


def users(state: "HostState", name: str) -> tuple[str, ...]:
    """Modules that use it; ('',) = somebody else does."""
    found = next((one for one in loaded(state.model()) if one.name == name), None)
    if found is None:
        raise KernelError("ENOENT")
    if found.users:
        return found.users
    return ("",) if references(found) or name in HELD else ()


def unload(state: "HostState", name: str) -> None:
    """delete_module()."""
    if users(state, name):
        raise KernelError("EBUSY")
    _put(state, name, False)


def _put(state: "HostState", name: str, is_loaded: bool) -> None:
    state.writing(name)
    if state.misbehaves("set_ignored", name):
        return
    state.overlay.modules[name] = is_loaded
    state.tell_change(f"module {name}", not is_loaded, is_loaded)
    state.changed()
