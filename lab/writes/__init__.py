"""A lab host that can be written: its state, and what the tools that people use do to it.

    state = HostState(MODELS["hgx_h100"](1))
    state.run(["mlnx_qos", "-i", "enp24s0np0", "--pfc", "0,0,0,1,0,0,0,0"])     stdout, stderr, code
    state.write_file("/etc/sysctl.d/90-site.conf", b"net.ipv4.conf.all.rp_filter = 2\n")
    state.model()                                       what the renderers of lab.fleet then show
    state.reboot(), state.power_cycle()                 what is lost, what is kept, what takes hold
    state.misbehave("set_ignored", "mlx5_3")            docs/lab.md lists the kinds

Nothing here needs a live lab, root or a clock. What a tool says is as in its source: mstflint
b9d9e844, mlnx-tools 8fbfd9cf, iproute2 6.1, Linux 6.12.
"""

from lab.writes.misbehaviour import KINDS, Misbehaviour
from lab.writes.outcome import Outcome
from lab.writes.record import Record
from lab.writes.state import HostState

__all__ = ["KINDS", "HostState", "Misbehaviour", "Outcome", "Record"]
