"""Small programs: cma_roce_tos and cma_roce_mode, cpupower, reboot, rdma system set."""

from typing import TYPE_CHECKING

from lab.fleet.render.cpu import cpu_count
from lab.writes import attributes
from lab.writes.outcome import KernelError, Outcome, number, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("cma_roce_tos", "cma_roce_mode", "cpupower", "reboot", "shutdown", "rdma", "ipmitool")


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """One of them."""
    del stdin
    if program.startswith("cma_roce_"):
        return _cma(state, program, arguments)
    if program == "cpupower":
        return _cpupower(state, arguments)
    if program == "rdma":
        return _rdma(state, arguments)
    if program == "reboot" or (program == "shutdown" and "-r" in arguments):
        state.restart()
        return Outcome()
    if program == "ipmitool" and arguments[-3:] == ["chassis", "power", "cycle"]:
        state.restart(warm=False)
        return Outcome("Chassis Power Control: Cycle\n")
    return None


def _option(arguments: list[str], name: str, usual: str) -> str:
    place = arguments.index(name) + 1 if name in arguments else len(arguments)
    return arguments[place] if place < len(arguments) else usual


def _cma(state: "HostState", program: str, arguments: list[str]) -> Outcome:
    """An RDMA device, never a netdev; the folder in configfs is made and taken away again."""
    device, port = _option(arguments, "-d", "mlx5_0"), _option(arguments, "-p", "1")
    known = next((one for one in state.model().nics if one.name == device), None)
    if known is None or known.link_layer != "Ethernet":
        name = device[:200]
        wrong = f"mkdir: cannot create directory '{name}': No such device\n"
        return Outcome(f"Failed to create configuration for {name}\n", wrong, 1)
    if port != "1":
        return Outcome(f"Device {device} port {port[:200]} does not exist\n", "", 1)
    what = program.removeprefix("cma_roce_")
    letter = "-t" if what == "tos" else "-m"
    text = _option(arguments, letter, "")
    wrong = ""
    if text:
        wrong = _cma_set(state, device, what, text)
    now = next(one for one in state.model().nics if one.name == device)
    shown = now.qos.default_tos or 0 if what == "tos" else now.qos.default_mode
    return Outcome(f"{shown}\n", wrong)


def _cma_set(state: "HostState", device: str, what: str, text: str) -> str:
    value = number(text, 0, 255)
    if what == "tos":
        if value is None:
            return f"{device}: write error: Invalid argument\n"
        state.set(device, "qos.default_tos", value)
    elif value in (1, 2):
        state.set(device, "qos.default_mode", attributes.MODES[value - 1])
    return ""


def _cpupower(state: "HostState", arguments: list[str]) -> Outcome | None:
    words = [word for word in arguments if word not in ("-c", "all")]
    cpu = state.model().cpu
    every = tuple(range(cpu_count(cpu)))
    if words[:1] == ["frequency-set"] and "-g" in words:
        governor = _option(words, "-g", "")
        try:
            attributes.set_governors(state, every, governor)
        except KernelError:
            wrong = "Setting cpu: 0\nError setting new values. Common errors:\n"
            wrong += "- Do you have proper administration rights? (super-user?)\n"
            return Outcome(wrong, "", 237)
        return Outcome("".join(f"Setting cpu: {place}\n" for place in every))
    if words[:1] == ["idle-set"] and "-D" in words:
        most = number(_option(words, "-D", ""), 0, 10**9)
        if most is None or cpu.hypervisor:
            raise refused("Bad idle_set argument\n")
        switched = {(place, which): off for place, which, off in cpu.idle_switched}
        for which, (_, latency, _) in enumerate(cpu.idle_states):
            switched |= dict.fromkeys([(place, which) for place in every], latency > most)
        new = tuple((*key, off) for key, off in sorted(switched.items()))
        state.set("host", "cpu.idle_switched", new)
        return Outcome()
    return None


def _rdma(state: "HostState", arguments: list[str]) -> Outcome | None:
    words = [word for word in arguments if not word.startswith("-")]
    if words[:3] != ["system", "set", "netns"]:
        return None
    mode = words[3] if len(words) > 3 else ""
    if mode not in ("shared", "exclusive"):
        raise refused("Error: invalid netns mode\n")
    if any(nic.in_pod for nic in state.model().nics):  # another network namespace exists
        raise refused("error: Device or resource busy\n")
    state.set("host", "rdma_namespaces", mode)
    return Outcome()
