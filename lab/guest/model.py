"""What a guest is: a model of lab.fleet, as much of it as a virtual machine can have.

Both halves of a guest go by the model's names. A virtio NIC is put where the model has its card:
the same PCI address, NUMA node, MAC address, netdev name, IP address and MTU. So `mlxlink -d
0000:03:00.0` and `mlnx_qos -i eno5np0`, which answer from the model, speak of the card that
`/sys/class/net/eno5np0` belongs to. The RDMA device on it is called rxe0, not mlx5_0: it is real,
and no tool of the model is asked for an RDMA device by name.
"""

from dataclasses import dataclass, replace

from lab.fleet import HostModel, two_socket_4x400g
from lab.fleet.model import Nic
from lab.fleet.port_model import Qos
from lab.fleet.truth_places import Placed, placed

MOST_GUESTS = 8
MOST_RAILS = 4  # the model's cards

# The model's own cards were never set up; a guest shows what a cluster sets (PFC, DSCP, ETS).
QOS = Qos()

# Programs that answer from the model. All others are real and ask the guest's kernel.
PROGRAMS = frozenset({"mlxconfig", "mlxlink", "mlxfwreset", "mlxfwmanager", "flint", "mlnx_qos"})


@dataclass(frozen=True)
class Guest:
    """One guest, before it is started."""

    number: int
    rails: int

    def __post_init__(self) -> None:
        if not (1 <= self.number <= MOST_GUESTS and 1 <= self.rails <= MOST_RAILS):
            raise ValueError(f"guest {self.number} with {self.rails} rails: {MOST_GUESTS} guests "
                             f"with {MOST_RAILS} rails are the most")  # fmt: skip

    @property
    def name(self) -> str:
        """Its host name, and the name that ssh knows it by."""
        return f"guest{self.number}"

    @property
    def address(self) -> str:
        """On the bridge that the lab's hosts and switches are on; theirs end below 10.88.241."""
        return f"10.88.241.{self.number}"

    @property
    def management_mac(self) -> str:
        """Locally administered: no vendor's."""
        return f"52:54:00:88:f0:{self.number:02x}"

    @property
    def model(self) -> HostModel:
        """The host whose cards it carries."""
        host = two_socket_4x400g(self.number)
        cards = tuple(replace(nic, qos=QOS) for nic in host.nics[: self.rails])
        management = replace(
            host.netdevs[0],
            netdev="eth0",
            mac=self.management_mac,
            addresses=(f"{self.address}/16",),
        )
        return replace(host, name=self.name, nics=cards, netdevs=(management, *host.netdevs[1:]))

    @property
    def cards(self) -> tuple[Nic, ...]:
        """The model's cards, rail by rail."""
        return self.model.nics

    def place(self, card: Nic) -> Placed:
        """Where the model has a card: its PCI function and NUMA node."""
        return placed(self.model)[card.address]
