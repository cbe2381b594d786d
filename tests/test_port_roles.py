"""What a port is for: from where it sits and what most like hosts have there, not from its state.

Hosts are written by hand: `hgx` has GPUs below PCIe switches with a NIC beside each, and a storage
card with two ports on a root port of its own; `flat` has no PCIe switch.
"""

from collections.abc import Callable
from typing import Any

import pytest

from lab.harness.by_hand import answers, target
from lab.harness.small_fabric import ROLES, database_of

Rows = dict[str, list[dict[str, Any]]]
READ = ("pci", "infiniband", "ip_address", "ip_route", "netdev", "mlxlink", "ethtool")
LINK = {
    "link_speed_gts": 32.0, "link_width": 16, "link_speed_max_gts": 32.0, "link_width_max": 16,
}  # fmt: skip
CONNECTX7, CONNECTX6 = ("15b3", "1021", "020000"), ("15b3", "101d", "020000")
H100, MI300X = ("10de", "2330", "030200"), ("1002", "74a1", "120000")
BRIDGE = ("1000", "c030", "060400")
RAILS, STORAGE, FRONT_END = "MT_0000000838", "MT_0000000834", "MT_0000000528"


class Host:
    """The rows of one host, as they are added."""

    def __init__(self, name: str = "gpu1", **statuses: str) -> None:
        self.name = name
        self.rows: Rows = {
            "target": [target(name)],
            "probe_result": answers(name, *READ, **({"nvidia_smi": "absent"} | statuses)),
        }

    def add(self, table: str, **values: Any) -> None:
        self.rows.setdefault(table, []).append({"target": self.name, **values})

    def function(self, pci: str, parent: str, ids: tuple[str, str, str], **more: Any) -> None:
        vendor, device, code = ids
        usual = {
            "pci": pci, "parent": parent, "vendor": vendor, "device": device, "class": code,
            "subsystem_vendor": vendor, "subsystem_device": "0001", "physical_function": "",
            "numa_node": 0, "root_bus": pci[:7], **LINK,
        }  # fmt: skip
        self.add("pci_function", **(usual | more))

    def nic(self, number: int, pci: str, psid: str, **port: Any) -> None:
        device, netdev = port.pop("device", f"mlx5_{number}"), f"eth{number}"
        guid = pci[:-2]
        self.add("rdma_device", device=device, pci=pci, psid=psid, sys_image_guid=guid)
        usual = {
            "device": device, "port": 1, "link_layer": "Ethernet", "state": "ACTIVE",
            "rate_gbps": 400.0, "netdev": netdev,
        }  # fmt: skip
        self.add("rdma_port", **(usual | port))
        speed = {"speed_mbps": 400_000, "dev_port": 0, "port_name": "p0", "operstate": "up"}
        self.add("netdev", name=netdev, pci=pci, kind="physical", master="", **speed)
        self.add("address", netdev=netdev, family="inet", address="10.0.0.1", scope="global")

    def change(self, table: str, where: dict[str, Any], **values: Any) -> None:
        hits = [r for r in self.rows[table] if all(r.get(k) == v for k, v in where.items())]
        assert hits, f"no row of {table} is {where}"
        for row in hits:
            row.update(values)

    def drop(self, table: str, **where: Any) -> None:
        left = [r for r in self.rows[table] if not all(r.get(k) == v for k, v in where.items())]
        assert len(left) < len(self.rows[table])
        self.rows[table] = left

    def lose_nic(self, number: int) -> None:
        (pci,) = [r["pci"] for r in self.rows["rdma_device"] if r["device"] == f"mlx5_{number}"]
        self.drop("pci_function", pci=pci)
        self.drop("rdma_device", device=f"mlx5_{number}")
        self.drop("rdma_port", device=f"mlx5_{number}")
        self.drop("netdev", name=f"eth{number}")

    def go_down(self, number: int, *, keeps_address: bool = False) -> None:
        self.change("rdma_port", {"device": f"mlx5_{number}"}, state="DOWN", rate_gbps=40.0)
        if not keeps_address:
            self.drop("address", netdev=f"eth{number}")

    def default_route(self, *netdevs: str, family: str = "inet") -> None:
        for place, netdev in enumerate(netdevs):
            route = {"family": family, "routing_table": "main", "destination": "default"}
            self.add("route", netdev=netdev, place=place, **route)


def bus_of(number: int) -> int:
    return 0x10 + 0x10 * number


def switch_of(number: int) -> str:
    """The upstream port of a GPU's switch."""
    return f"0000:{bus_of(number) + 1:02x}:00.0"


def port_below(host: Host, number: int, place: int) -> str:
    """A downstream port of that switch."""
    root = f"0000:{bus_of(number):02x}"
    pci = f"0000:{bus_of(number) + 2:02x}:0{place}.0"
    host.function(pci, switch_of(number), BRIDGE, root_bus=root)
    return pci


def hgx(name: str = "gpu1", gpu: tuple[str, str, str] = H100, **statuses: str) -> Host:
    """Four GPUs and four rails; the storage card is mlx5_4 and mlx5_5."""
    host = Host(name, **statuses)
    for number in range(4):
        bus = bus_of(number)
        root = f"0000:{bus:02x}"
        host.function(f"{root}:01.0", "", ("8086", "352a", "060400"), root_bus=root)
        host.function(switch_of(number), f"{root}:01.0", BRIDGE, root_bus=root)
        for place, ids in ((0, CONNECTX7), (1, gpu)):
            above = port_below(host, number, place)
            host.function(f"0000:{bus + 3 + place:02x}:00.0", above, ids, root_bus=root)
        host.nic(number, f"0000:{bus + 3:02x}:00.0", RAILS)
    host.function("0000:80:03.0", "", ("8086", "352a", "060400"))
    for number in range(2):
        pci = f"0000:84:00.{number}"
        host.function(pci, "0000:80:03.0", CONNECTX7, root_bus="0000:80")
        host.nic(4 + number, pci, STORAGE)
    return host


def flat(name: str = "gpu1", *psids: str) -> Host:
    """GPUs and NICs on root ports of their own; three rails and one other card if not told."""
    host = Host(name)
    for number, psid in enumerate(psids or (RAILS, RAILS, RAILS, FRONT_END)):
        bus = bus_of(number)
        host.function(f"0000:{bus:02x}:01.0", "", ("1022", "14ab", "060400"))
        for pci, ids in (
            (f"0000:{bus + 1:02x}:00.0", CONNECTX7),
            (f"0000:{bus + 2:02x}:00.0", H100),
        ):
            host.function(pci, f"0000:{bus:02x}:01.0", ids, root_bus=f"0000:{bus:02x}")
        # Both hang on one root bus: PHB.
        host.change("pci_function", {"pci": f"0000:{bus + 2:02x}:00.0"}, parent="")
        host.nic(number, f"0000:{bus + 1:02x}:00.0", psid)
    return host


def ask(*hosts: Host, columns: str = "role") -> dict[str, Any]:
    """What the table says of each port of the first host."""
    rows: Rows = {}
    for host in hosts:
        for table, some in host.rows.items():
            rows[table] = rows.get(table, []) + some
    with database_of(rows, ROLES) as database:
        query = f"SELECT device, {columns} FROM port WHERE target = '{hosts[0].name}'"
        found = database.execute(query).fetchall()
    return {row[0]: row[1] if len(row) == 2 else row[1:] for row in found}


WHOLE = {f"mlx5_{n}": "compute" for n in range(4)} | {"mlx5_4": "storage", "mlx5_5": "storage"}
fleet_of = pytest.mark.parametrize("others", [0, 4], ids=["alone", "among four like hosts"])


def like_hosts(count: int, make: Callable[[str], Host] = hgx) -> list[Host]:
    return [make(f"other{number}") for number in range(count)]


@fleet_of
def test_rails_beside_gpus_are_compute_and_the_other_card_is_storage(others: int) -> None:
    assert ask(hgx(), *like_hosts(others)) == WHOLE


def test_hosts_with_gpus_of_amd_have_rails_too() -> None:
    assert ask(hgx(gpu=MI300X)) == WHOLE


# ---- state does not count


@pytest.mark.parametrize("keeps_address", [True, False])
@fleet_of
def test_a_rail_that_is_down_stays_one(others: int, keeps_address: bool) -> None:
    host = hgx()
    host.go_down(2, keeps_address=keeps_address)
    assert ask(host, *like_hosts(others)) == WHOLE


@pytest.mark.parametrize("family", ["inet", "inet6"])
def test_a_default_route_over_the_rails_is_a_dispute(family: str) -> None:
    host = hgx()
    host.default_route("eth0", "eth1", "eth2", "eth3", family=family)
    found = ask(host, columns="role, role_dispute")
    assert found["mlx5_0"] == ("compute", "the default route goes through eth0")
    assert found["mlx5_4"] == ("storage", "")


@pytest.mark.parametrize("table", ["ip_route", "ip_address"])
def test_a_rail_is_one_though_its_state_was_not_read(table: str) -> None:
    host = hgx()
    host.change("probe_result", {"probe": table}, status="timeout")
    assert ask(host)["mlx5_0"] == "compute"


def test_what_a_storage_port_is_for_is_open_where_routes_were_not_read() -> None:
    assert ask(hgx(ip_route="timeout"))["mlx5_4"] is None


@fleet_of
def test_a_gpu_off_the_bus_does_not_take_its_nic_along(others: int) -> None:
    host = hgx()
    host.drop("pci_function", pci=f"0000:{bus_of(1) + 4:02x}:00.0")
    found = ask(host, *like_hosts(others), columns="role, role_basis")
    assert found["mlx5_1"] == ("compute", "position")
    assert found["mlx5_4"] == ("storage", "position")


def test_all_gpus_off_the_bus_leave_nothing_to_tell_by() -> None:
    host = hgx(nvidia_smi="failed")
    for number in range(4):
        host.drop("pci_function", pci=f"0000:{bus_of(number) + 4:02x}:00.0")
    assert set(ask(host).values()) == {None}


def test_a_slow_port_without_pcie_switches_stays_compute() -> None:
    host = flat()
    host.change("rdma_port", {"device": "mlx5_2"}, rate_gbps=200.0)
    host.change("netdev", {"name": "eth2"}, speed_mbps=200_000)
    found = ask(host, columns="role, rate_gbps")
    assert found["mlx5_2"] == ("compute", 200.0)
    assert found["mlx5_3"] == ("storage", 400.0)


def test_two_types_that_are_equally_likely_have_no_role() -> None:
    host = flat("gpu1", RAILS, FRONT_END)
    host.go_down(1)
    assert ask(host, columns="role, role_basis, role_reason")["mlx5_0"] == (
        None, "undecided", "two types of card are equally likely: only its state would tell",
    )  # fmt: skip


def test_the_wider_cards_are_compute_where_there_are_as_many_of_both() -> None:
    host = flat("gpu1", RAILS, FRONT_END)
    host.change("pci_function", {"pci": f"0000:{bus_of(1) + 1:02x}:00.0"}, link_width_max=8)
    assert ask(host) == {"mlx5_0": "compute", "mlx5_1": "storage"}


# ---- what most like hosts have in the slot


def test_a_card_that_is_lost_does_not_turn_the_roles_of_a_host_without_switches() -> None:
    def two_and_two(name: str) -> Host:
        return flat(name, RAILS, RAILS, RAILS, FRONT_END)

    host = two_and_two("gpu1")
    host.lose_nic(0)
    host.lose_nic(1)
    assert ask(host) == {"mlx5_2": None, "mlx5_3": None}
    found = ask(host, *like_hosts(4, two_and_two), columns="role, role_basis")
    assert found == {"mlx5_2": ("compute", "fleet"), "mlx5_3": ("storage", "position")}


def test_a_replacement_of_another_type_is_for_what_its_slot_is_for() -> None:
    host = hgx()
    host.change("rdma_device", {"device": "mlx5_3"}, psid="DEL0000000036")
    assert ask(host) == WHOLE
    other = flat("gpu1", RAILS, RAILS, "DEL0000000036", FRONT_END)
    assert ask(other)["mlx5_2"] == "storage"
    assert ask(other, *like_hosts(4, flat))["mlx5_2"] == "compute"


def test_rails_keep_their_numbers() -> None:
    host = hgx()
    host.lose_nic(1)
    found = ask(host, *like_hosts(4), columns="rail")
    assert found == {"mlx5_0": 0, "mlx5_2": 2, "mlx5_3": 3, "mlx5_4": None, "mlx5_5": None}
    # One more card in one of many hosts moves the numbers of none.
    rich = hgx("rich")
    rich.function("0000:1f:00.0", port_below(rich, 0, 2), CONNECTX7, root_bus="0000:10")
    rich.nic(7, "0000:1f:00.0", RAILS)
    assert ask(host, *like_hosts(5), rich, columns="rail") == found


def test_the_storage_port_of_a_host_that_is_down_is_for_storage_as_elsewhere() -> None:
    host = hgx()
    host.go_down(4)
    assert ask(host)["mlx5_4"] == "unused"
    assert ask(host, *like_hosts(4), columns="role, role_basis")["mlx5_4"] == ("storage", "fleet")


# ---- cabling


def unplug(host: Host, *numbers: int) -> Host:
    for number in numbers:
        host.go_down(number)
        (pci,) = [r["pci"] for r in host.rows["rdma_device"] if r["device"] == f"mlx5_{number}"]
        host.add("mlxlink_port", pci=pci, status_opcode=1024, cable_type="Cable unplugged")
    return host


def test_a_rail_without_a_cable_is_still_one() -> None:
    assert ask(unplug(hgx(), 2), *like_hosts(4))["mlx5_2"] == "compute"


def test_a_slot_that_is_not_cabled_on_most_hosts_is_unused() -> None:
    others = [unplug(hgx(f"other{number}"), 2) for number in range(4)]
    found = ask(unplug(hgx(), 2), *others, columns="role, role_basis")
    assert found["mlx5_2"] == ("unused", "cabling")


def test_a_leaf_that_is_down_makes_no_rail_unused() -> None:
    hosts = [hgx(f"gpu{number}") for number in range(6)]
    for host in hosts:
        host.go_down(2)
    assert ask(*hosts)["mlx5_2"] == "compute"


# ---- front-end cards, other vendors, what is no port


def front_end(name: str = "gpu1") -> Host:
    """As a Dell XE9680: a card for the front end sits below the first GPU's switch."""
    host = hgx(name)
    above = port_below(host, 0, 3)
    for number in range(2):
        host.function(f"0000:1b:00.{number}", above, CONNECTX6, root_bus="0000:10")
        host.nic(6 + number, f"0000:1b:00.{number}", FRONT_END)
    return host


@fleet_of
def test_a_front_end_card_below_a_gpus_switch_is_no_rail(others: int) -> None:
    host = front_end()
    host.default_route("eth6.100")
    found = ask(host, *like_hosts(others, front_end), columns="role, rail")
    assert found["mlx5_7"] == ("storage", None)
    assert [found[f"mlx5_{n}"] for n in range(4)] == [("compute", n) for n in range(4)]
    assert found["mlx5_6"][0] == ("management" if not others else "storage")


def test_a_bond_of_intel_ports_with_the_default_route_is_for_management() -> None:
    host = hgx()
    for number in range(2):
        pci = f"0000:b4:00.{number}"
        host.function(pci, "", ("8086", "159b", "020000"), link_width=8, link_width_max=8)
        host.nic(8 + number, pci, "", device=f"irdma{number}")
        host.change("netdev", {"name": f"eth{8 + number}"}, master="bond0")
        host.drop("address", netdev=f"eth{8 + number}")
    host.add("netdev", name="bond0", kind="virtual", master="", pci="")
    host.add("bond", netdev="bond0")
    host.default_route("bond0")
    found = ask(host)
    assert (found["irdma0"], found["irdma1"]) == ("management", "management")
    assert found | WHOLE == found


def test_cards_of_other_vendors_are_compute_where_they_are_the_rails() -> None:
    host = hgx(gpu=MI300X)
    for row in host.rows["pci_function"]:
        if (row["vendor"], row["root_bus"] != "0000:80") == ("15b3", True):
            row.update(vendor="14e4", device="1760")
    for row in host.rows["rdma_device"][:4]:
        row.update(psid="")
    assert ask(host) == WHOLE


def test_sub_devices_and_bridges_to_nvlink_are_no_ports() -> None:
    host = hgx()
    shared = {"pci": "0000:13:00.0", "psid": RAILS, "sys_image_guid": "0000:13:00"}
    host.add("rdma_device", device="smi1", **shared)
    host.add("rdma_port", device="smi1", port=1, link_layer="InfiniBand", state="DOWN")
    for number in range(4):
        pci = f"0000:05:00.{number}"
        host.function(pci, "", ("15b3", "1021", "020700"), root_bus="0000:00")
        host.nic(10 + number, pci, "MT_0000001244", state="DOWN")
    assert ask(host) == WHOLE


def test_rails_that_pods_have_taken_are_still_the_rails() -> None:
    host = hgx()
    for number in range(4):
        host.drop("rdma_device", device=f"mlx5_{number}")
        host.drop("rdma_port", device=f"mlx5_{number}")
        host.drop("netdev", name=f"eth{number}")
    assert ask(host) == {"mlx5_4": "storage", "mlx5_5": "storage"}


def test_bonds_of_both_ports_of_a_card_are_one_type() -> None:
    host = hgx()
    for number in range(4):
        pci, above = f"0000:{bus_of(number) + 3:02x}:00.1", f"0000:{bus_of(number) + 2:02x}:00.0"
        host.function(pci, above, CONNECTX7, root_bus=f"0000:{bus_of(number):02x}")
    assert ask(host) == WHOLE


def test_a_host_without_gpus_has_storage_ports() -> None:
    host = Host("nas1")
    host.function("0000:84:00.0", "", CONNECTX7)
    host.nic(0, "0000:84:00.0", STORAGE)
    found = ask(host, columns="role, role_reason")
    assert found == {"mlx5_0": ("storage", "no GPU on this host")}


def test_nothing_is_made_up_where_the_bus_was_not_read() -> None:
    host = hgx(pci="timeout")
    host.rows["pci_function"] = []
    assert set(ask(host).values()) == {None}


# ---- rate


def rate(**sources: Any) -> float | None:
    """The rate of a port: of the infiniband class, of the driver, of the firmware."""
    host = hgx()
    host.change("rdma_port", {"device": "mlx5_0"}, rate_gbps=sources["printed"])
    host.change("netdev", {"name": "eth0"}, speed_mbps=sources.get("driver"))
    if "firmware" in sources:
        host.add("mlxlink_port", pci="0000:13:00.0", speed_gbps=sources["firmware"])
    found: float | None = ask(host, columns="rate_gbps")["mlx5_0"]
    return found


def test_the_rate_is_that_of_driver_and_firmware() -> None:
    assert rate(printed=400.0, driver=400_000, firmware=400.0) == 400.0
    # A kernel that has no word for 400G.
    assert rate(printed=40.0, driver=400_000, firmware=400.0) == 400.0
    assert rate(printed=40.0, driver=400_000) == 400.0
    assert rate(printed=200.0) == 200.0


def test_a_rate_on_which_driver_and_firmware_differ_is_not_known() -> None:
    assert rate(printed=400.0, driver=400_000, firmware=200.0) is None


def test_what_differs_is_told() -> None:
    host = hgx()
    host.add("mlxlink_port", pci="0000:13:00.0", speed_gbps=200.0)
    found = ask(host, columns="rate_dispute")
    assert (found["mlx5_0"], found["mlx5_1"]) == ("400 by the driver, 200 by the firmware", "")
