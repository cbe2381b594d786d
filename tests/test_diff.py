"""`railwright diff`: through the front door, over tables written by hand."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from lab.harness.by_hand import answers, by_hand, target
from lab.harness.small_fabric import Rows, change, drop, fabric
from railwright.cli import program
from railwright.errors import UsageError
from railwright.model.compare_plan import facts, left_out, plan_of
from railwright.model.derived.digest import by_table, compared, digested
from railwright.schema.table import tables
from railwright.store.duck import read_spool

OLD, NEW = "2026-11-14T2215Z", "2026-11-15T0800Z"


def railwright(*arguments: object) -> Result:
    return CliRunner().invoke(program(), [str(argument) for argument in arguments])


def netdevs(*hosts: str, **values: Any) -> list[dict[str, Any]]:
    return [{"target": host, "name": "eth0", "pci": "", **values} for host in hosts]


def hosts(*names: str) -> Rows:
    probes = ("netdev", "mlxconfig", "pci", "infiniband", "ip_route", "dmesg")
    return {
        "target": [target(name) for name in names],
        "probe_result": [row for name in names for row in answers(name, *probes)],
    }


def parameters(host: str, pci: str, **values: str) -> list[dict[str, Any]]:
    return [
        {"target": host, "pci": pci, "name": name, "port": 0, "element": -1, "current_text": value}
        for name, value in values.items()
    ]


@cache
def _empty() -> Path:
    return by_hand(Path(tempfile.mkdtemp()), {}).path


@cache
def _made(written: str) -> Path:
    """A snapshot with the only derived table that `diff` reads; most tests begin with the same one."""
    path = Path(tempfile.mkdtemp()) / "made"
    shutil.copytree(_empty(), path)
    parts = []
    with duckdb.connect() as database:
        for name, rows in json.loads(written).items():
            spool, file = path / f"{name}.ndjson", path / f"facts/{name}.parquet"
            spool.write_text("".join(json.dumps(row) + "\n" for row in rows))
            source = read_spool(spool, tables()[name].column_types())
            database.execute(f"COPY (FROM {source}) TO '{file}' (FORMAT parquet)")
            database.execute(f"CREATE VIEW {name} AS FROM read_parquet('{file}')")
            spool.unlink()
            if rows and name in by_table():
                parts.append(by_table()[name])
        if parts:
            digests, file = " UNION ALL BY NAME ".join(parts), path / "facts/digest.parquet"
            database.execute(f"COPY ({digests}) TO '{file}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="module", autouse=True)
def _remove() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", folder)
        yield
        _made.cache_clear()
        _empty.cache_clear()


def with_digests(folder: Path, rows: Rows, name: str) -> None:
    shutil.copytree(_made(json.dumps(rows)), folder / name)


def differ(tmp_path: Path, old: Rows, new: Rows, *arguments: str) -> Result:
    with_digests(tmp_path / "store", old, OLD)
    with_digests(tmp_path / "store", new, NEW)
    return railwright("diff", OLD, *arguments, "--store", tmp_path / "store")


def lines(done: Result) -> list[str]:
    """Without blanks, the heading and the legend."""
    told = [line.strip() for line in done.stdout.splitlines()[1:]]
    return [line for line in told if line and not line.startswith("[+N]: ")]


def in_json(tmp_path: Path, old: Rows, new: Rows, *arguments: str) -> dict[str, Any]:
    done = differ(tmp_path, old, new, "--json", *arguments)
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((REPOSITORY / "docs/schemas/diff-1.json").read_text()))
    assert found["exit_status"] == done.exit_code
    return found


# ---- hosts


def test_no_change_is_said_and_exits_0(tmp_path: Path) -> None:
    rows = hosts("gpu1") | {"netdev": netdevs("gpu1", mtu=9000, read_at="2026-11-14 22:15:00")}
    later = hosts("gpu1") | {"netdev": netdevs("gpu1", mtu=9000, read_at="2026-11-15 08:00:00")}
    done = differ(tmp_path, rows, later)
    assert lines(done) == ["No change in what could be compared."]
    assert done.exit_code == 0


def test_the_same_change_of_many_hosts_is_one_line(tmp_path: Path) -> None:
    names = [f"gpu{number:02d}" for number in range(1, 13)]
    old = hosts(*names) | {"netdev": netdevs(*names, mtu=9000)}
    new = hosts(*names) | {"netdev": [*netdevs(*names[:11], mtu=1500), *netdevs("gpu12", mtu=9000)]}
    done = differ(tmp_path, old, new)
    assert lines(done) == ["gpu[01-11]  network device eth0: MTU 9000 -> 1500"]
    assert done.exit_code == 1


def test_a_value_that_is_unknown_now_is_no_change_and_not_equal(tmp_path: Path) -> None:
    old = hosts("gpu1") | {"netdev": netdevs("gpu1", mtu=9000)}
    new = hosts("gpu1") | {"netdev": netdevs("gpu1")}
    done = differ(tmp_path, old, new)
    assert lines(done) == [
        "No change in what could be compared.", "Not compared", "netdev.mtu unknown now: 1 machine  gpu1",
    ]  # fmt: skip
    assert done.exit_code == 3


def test_rows_of_a_probe_that_did_not_answer_are_not_gone(tmp_path: Path) -> None:
    old = hosts("gpu1", "gpu2") | {"netdev": netdevs("gpu1", "gpu2", mtu=9000)}
    new = hosts("gpu1", "gpu2") | {"netdev": netdevs("gpu1", mtu=9000)}
    for row in new["probe_result"]:
        if (row["target"], row["probe"]) == ("gpu2", "netdev"):
            row["status"] = "timeout"
    done = differ(tmp_path, old, new)
    assert "gone" not in done.stdout
    assert "netdev not answered now: 1 machine  gpu2" in done.stdout
    assert done.exit_code == 3


def test_what_neither_snapshot_has_is_not_equal(tmp_path: Path) -> None:
    """Denied in both is not compared; absent in both is the same in both."""
    old, new = hosts("gpu1", "gpu2"), hosts("gpu1", "gpu2")
    for rows in (old, new):
        rows["probe_result"] += answers("gpu1", lldpctl="absent", mlxlink="denied")
        rows["target"] += [target("gpu9", "silent")]
    done = differ(tmp_path, old, new)
    assert lines(done)[1:] == [
        "Not compared", "not reached in either snapshot: 1 machine  gpu9",
        "mlxlink not answered in either snapshot: 1 machine  gpu1",
    ]  # fmt: skip
    assert done.exit_code == 3


def test_rows_that_came_and_went(tmp_path: Path) -> None:
    nic = "0000:18:00.0"
    old = hosts("gpu1") | {"nic_parameter": parameters("gpu1", nic, A="1", B="2", C="3")}
    new = hosts("gpu1") | {"nic_parameter": parameters("gpu1", nic, B="2", C="4", D="5")}
    assert lines(differ(tmp_path, old, new)) == [
        f"gpu1  PCI function {nic}: firmware parameter C: 3 -> 4",
        f"PCI function {nic}: nic_parameter A: gone",
        f"PCI function {nic}: nic_parameter D: appeared",
    ]


def test_a_host_that_is_away_is_said(tmp_path: Path) -> None:
    new = hosts("gpu1") | {"target": [target("gpu1"), target("gpu2", "silent")]}
    done = differ(tmp_path, hosts("gpu1", "gpu2"), new)
    assert "1 machine  reached -> silent  gpu2" in done.stdout
    assert done.exit_code == 3


def test_machines_out_of_service_are_named_and_leave_peace(tmp_path: Path) -> None:
    old, new = hosts("gpu1", "gpu2"), hosts("gpu1")
    old["target"].append(target("gpu3", "silent", out_of_service="RMA"))
    new["target"] += [target(name, "silent", out_of_service="RMA") for name in ("gpu2", "gpu3")]
    done = differ(tmp_path, old, new)
    assert lines(done) == [
        "1 machine  reached -> silent (excluded: out of service)  gpu2", "Not compared",
        "not reached in either snapshot (excluded: out of service): 1 machine  gpu3",
    ]  # fmt: skip
    assert done.exit_code == 0


def test_swapped_values_do_not_cancel_in_the_digest(tmp_path: Path) -> None:
    """Two rows that exchange their values, and a value that moves to the next column."""
    nic = "0000:18:00.0"
    old = hosts("gpu1") | {"nic_parameter": parameters("gpu1", nic, A="1", B="2")}
    new = hosts("gpu1") | {"nic_parameter": parameters("gpu1", nic, A="2", B="1")}
    assert "firmware parameter A: 1 -> 2; B: 2 -> 1" in differ(tmp_path, old, new).stdout


def cards(*buses: str) -> Rows:
    """A host with NICs, numbered as a boot numbers them: without gaps."""
    rows, own = hosts("gpu1"), {"target": "gpu1"}
    rows["pci_function"] = [{**own, "pci": f"0000:{bus}:00.0", "parent": f"0000:{bus}:ff.0", "class": "020000", "vendor": "15b3", "physical_function": ""} for bus in buses]  # fmt: skip
    rows["rdma_device"] = [{**own, "device": f"mlx5_{n}", "pci": f"0000:{bus}:00.0", "node_guid": bus, "firmware_version": "28.43"} for n, bus in enumerate(buses)]  # fmt: skip
    rows["rdma_port"] = [{**own, "device": f"mlx5_{n}", "port": 1, "state": "ACTIVE"} for n in range(len(buses))]  # fmt: skip
    rows["netdev"] = [{**own, "name": f"ens{bus}", "pci": f"0000:{bus}:00.0", "kind": "physical", "mtu": 9000, "ifindex": n} for n, bus in enumerate(buses)]  # fmt: skip
    rows["route"] = [{**own, "family": "inet6", "routing_table": "local", "destination": "ff00::/8", "place": n, "netdev": f"ens{bus}"} for n, bus in enumerate(buses)]  # fmt: skip
    return rows


def test_a_lost_card_is_one_line_and_those_behind_it_are_the_same_devices(tmp_path: Path) -> None:
    """Numbers and positions move up: of RDMA devices, interfaces, routes."""
    done = differ(tmp_path, cards("18", "29", "3a", "5b"), cards("18", "3a", "5b"))
    assert lines(done) == [
        "gpu1  NIC 0000:29:00.0 (mlx5_1, ens29) gone  [+4]",
        "2 RDMA devices renamed: mlx5_2 -> mlx5_1, mlx5_3 -> mlx5_2",
    ]
    whole = in_json(tmp_path / "json", cards("18", "29", "3a", "5b"), cards("18", "3a", "5b"))
    gone = [one for one in whole["changes"] if one["change"] == "gone"]
    assert {one["table"] for one in gone} == {"pci_function", "rdma_device", "rdma_port", "netdev", "route"}  # fmt: skip
    for one in gone:
        assert one["subject"] == {"kind": "nic", "name": "gpu1:0000:29:00.0", "pci": "0000:29:00.0", "device": "mlx5_1", "netdev": "ens29"}  # fmt: skip
        root = None if one["table"] == "pci_function" else {"subject": "gpu1:0000:29:00.0", "fact": "present"}  # fmt: skip
        assert one["depends_on"] == root


def test_a_change_of_a_renumbered_device_is_found(tmp_path: Path) -> None:
    now = change(cards("18", "3a", "5b"), "rdma_device", {"device": "mlx5_2"}, firmware_version="28.44")  # fmt: skip
    done = differ(tmp_path, cards("18", "29", "3a", "5b"), now)
    assert "NIC 0000:5b:00.0 (mlx5_2, ens5b): firmware 28.43 -> 28.44" in lines(done)


def test_several_functions_of_a_card_and_a_port_of_its_own_go_with_it(tmp_path: Path) -> None:
    old = cards("18", "29")
    second = {**old["pci_function"][1], "pci": "0000:29:00.1"}
    port = {**second, "pci": "0000:29:ff.0", "parent": "", "class": "060400"}
    old["pci_function"] += [second, port]
    assert lines(differ(tmp_path, old, cards("18")))[0] == (
        "gpu1  NIC 0000:29:00.0 (mlx5_1, ens29) gone  [+6]"
    )


def test_machines_that_lie_about_their_tree_stop_nothing(tmp_path: Path) -> None:
    """Two ports, each above the other."""
    old = cards("18", "29")
    change(old, "pci_function", {"pci": "0000:18:00.0"}, parent="0000:29:00.0")
    change(old, "pci_function", {"pci": "0000:29:00.0"}, parent="0000:18:00.0")
    now = hosts("gpu1")
    assert differ(tmp_path, old, now).exit_code == 1


def messages(*kinds: tuple[str, int | None]) -> Rows:
    rows = cards("18", "29")
    rows["kernel_message"] = [
        {"target": "gpu1", "place": place, "kind": kind, "xid": xid, "pci": "0000:18:00.0"}
        for place, (kind, xid) in enumerate(kinds)
    ]
    return rows


def test_the_kernel_log_is_events_not_rows_by_position(tmp_path: Path) -> None:
    old = messages(("firmware", None), ("link", None), ("link", None))
    new = messages(("xid", 79), ("link", None), ("firmware", None), ("link", None))
    assert lines(differ(tmp_path, old, new)) == [
        "gpu1  NIC 0000:18:00.0 (mlx5_0, ens18): kernel log: 1 new xid 79"
    ]
    assert differ(tmp_path / "less", new, old).exit_code == 0  # the log is a ring


def test_a_reboot_is_told_once_and_not_by_its_number(tmp_path: Path) -> None:
    old, new = messages(("link", None)), messages(("link", None), ("firmware", None))
    old["host"] = [{"target": "gpu1", "boot_id": "aaaa", "kernel": "6.8.0-40"}]
    new["host"] = [{"target": "gpu1", "boot_id": "bbbb", "kernel": "6.8.0-41"}]
    assert lines(differ(tmp_path, old, new)) == [
        "gpu1  rebooted  [+1]", "kernel: 6.8.0-40 -> 6.8.0-41",
    ]  # fmt: skip


def test_some_machines_alone(tmp_path: Path) -> None:
    old = hosts("gpu1", "gpu2", "gpu3") | {"netdev": netdevs("gpu1", "gpu2", "gpu3", mtu=9000)}
    new = hosts("gpu1", "gpu2", "gpu3") | {"netdev": [*netdevs("gpu1", "gpu2", mtu=1500), *netdevs("gpu3", mtu=9000)]}  # fmt: skip
    new["target"][0]["status"] = "silent"
    done = differ(tmp_path, old, new, "-w", "gpu[2-3]")
    assert lines(done) == ["gpu2  network device eth0: MTU 9000 -> 1500"]
    assert done.exit_code == 1
    assert railwright("diff", OLD, "--on", "gpu3").exit_code == 0
    error = railwright("diff", OLD, "--on", "gpu[3-4]").exception
    assert isinstance(error, UsageError)
    assert "no machine 'gpu4'" in error.what


def test_everything_below_its_cause(tmp_path: Path) -> None:
    done = differ(tmp_path, cards("18", "29"), cards("18"), "--all")
    assert lines(done) == [
        "gpu1", "NIC 0000:29:00.0 (mlx5_1, ens29)", "pci_function: gone", "rdma_device: gone",
        "netdev: gone", "route inet6 local ff00::/8: gone", "rdma_port: gone",
    ]  # fmt: skip


# ---- switches


def switches(rows: Rows, probe: str = "") -> Rows:
    """Each answer under its command, as a run has them; one without a command is the configuration."""
    for row in rows["probe_result"]:
        if row["target"][:-1] in ("leaf", "spine"):
            row["instance"] = "show interfaces status"
    more = [answers("leaf1", "sonic_config_db")[0]]
    for name, route in (("leaf1", "sonic_route"), ("leaf2", "nvue_route"), ("spine1", "eos_route"), ("spine2", "onyx_route")):  # fmt: skip
        more.append({**answers(name, route)[0], "instance": "show ip route vrf all"})
    rows["probe_result"] += more
    return rows


PFC = {
    "leaf1": ({"port": "Ethernet0"}, "port Ethernet0: PFC 3: on -> off"),
    "leaf2": ({}, "PFC 3: on -> off"),  # one setting for all ports
    "spine1": ({"port": "Ethernet1/1"}, "port Ethernet1/1: PFC 3: on -> off"),
    "spine2": ({}, "PFC 3: on -> off"),
}
PORTS = {"leaf1": "Ethernet0", "leaf2": "swp1s0", "spine1": "Ethernet1/1", "spine2": "Eth1/1"}


@pytest.mark.parametrize("name", PORTS)
def test_priority_flow_control_that_is_off_is_seen(tmp_path: Path, name: str) -> None:
    where, said = PFC[name]
    now = change(switches(fabric()), "switch_pfc", {"target": name, "priority": 3, **where}, enabled=False)  # fmt: skip
    done = differ(tmp_path, switches(fabric()), now)
    assert [line.split("  [")[0] for line in lines(done)] == [f"{name}  {said}"]
    assert done.exit_code == 1


@pytest.mark.parametrize("name", PORTS)
def test_the_mtu_of_a_port_is_seen(tmp_path: Path, name: str) -> None:
    now = change(switches(fabric()), "switch_port", {"target": name, "port": PORTS[name], "mtu": 9216}, mtu=1500)  # fmt: skip
    done = differ(tmp_path, switches(fabric()), now)
    assert lines(done) == [f"{name}  port {PORTS[name]}: MTU 9216 -> 1500"]


@pytest.mark.parametrize("name", PORTS)
def test_swapped_neighbors_are_seen(tmp_path: Path, name: str) -> None:
    """In whatever order they are printed."""
    now = switches(fabric())
    both = [row for row in now["switch_neighbor"] if row["target"] == name][:2]
    first, second = ({k: v for k, v in row.items() if k != "port"} for row in both)
    both[0].update(second)
    both[1].update(first)
    done = differ(tmp_path, switches(fabric()), now)
    assert len(lines(done)) == 2
    for row in both:
        told = [line for line in lines(done) if f"port {row['port']}: LLDP neighbor " in line]
        assert [f"-> {row['system_name']}" in line for line in told] == [True]


def test_a_link_that_is_down_takes_along_what_it_carried(tmp_path: Path) -> None:
    now = change(switches(fabric()), "switch_port", {"target": "leaf2", "port": "swp1s0"}, is_up=False, speed_mbps=None, fec_active=None)  # fmt: skip
    drop(now, "switch_neighbor", target="leaf2", port="swp1s0")
    done = differ(tmp_path, switches(fabric()), now)
    assert lines(done) == ["leaf2  port swp1s0: link up -> down  [+3]"]
    assert done.exit_code == 1


@pytest.mark.parametrize("name", PORTS)
def test_a_command_that_did_not_answer_is_named_and_nothing_is_gone(
    tmp_path: Path, name: str
) -> None:
    old, now = switches(fabric()), switches(fabric())
    probe = {"leaf1": "sonic_show", "leaf2": "nvue_show", "spine1": "eos_show", "spine2": "onyx_show"}[name]  # fmt: skip
    for rows, status in ((old, "ok"), (now, "denied")):
        rows["probe_result"] += [{**answers(name, probe)[0], "instance": "show lldp table", "status": status}]  # fmt: skip
    drop(now, "switch_neighbor", target=name)
    done = differ(tmp_path, old, now)
    assert lines(done) == [
        "No change in what could be compared.", "Not compared",
        f'{probe} "show lldp table" not answered now: 1 machine  {name}',
    ]  # fmt: skip
    assert done.exit_code == 3


def test_every_table_of_a_switch_is_compared(tmp_path: Path) -> None:
    """A row of each that is not there any more."""
    now = switches(fabric())
    names = {name for name in now if tables()[name].machines == "switch"}
    lost = {(now[name].pop()["target"], name, "gone") for name in names}
    assert len(lost) > 12
    found = in_json(tmp_path, switches(fabric()), now)
    assert lost <= {(one["target"], one["table"], one["change"]) for one in found["changes"]}


# ---- for programs, and as data


def test_json_says_what_was_not_compared_and_who_moved(tmp_path: Path) -> None:
    old = hosts("gpu1", "gpu2") | {"netdev": netdevs("gpu1", mtu=9000)}
    new = hosts("gpu1") | {"target": [target("gpu1"), target("gpu2", "silent")], "netdev": netdevs("gpu1")}  # fmt: skip
    found = in_json(tmp_path, old, new)
    assert found["format"] == "railwright-diff-1"
    assert (found["before"]["name"], found["now"]["name"]) == (OLD, NEW)
    assert found["targets"] == [
        {"target": "gpu2", "before": "reached", "now": "silent", "excluded": False}
    ]
    assert found["changes"] == []
    assert found["not_compared"] == [
        {"what": "netdev.mtu", "missing": "now", "targets": ["gpu1"], "excluded": False}
    ]
    assert found["exit_status"] == 3


def test_a_change_in_json_names_its_subject(tmp_path: Path) -> None:
    now = change(switches(fabric()), "netdev", {"target": "gpu2", "name": "ens2"}, mtu=1500)
    (found,) = in_json(tmp_path, switches(fabric()), now)["changes"]
    assert found == {
        "target": "gpu2",
        "subject": {"kind": "nic", "name": "gpu2:0000:11:10.0", "pci": "0000:11:10.0", "device": "mlx5_1", "netdev": "ens2"},
        "fact": "MTU", "table": "netdev", "row": "", "column": "mtu", "change": "changed", "before": "9000", "after": "1500",
        "depends_on": None,
    }  # fmt: skip


def test_a_table_of_counters_alone_is_left_out() -> None:
    for table in digested():
        plan = plan_of(table)
        only_volatile = all(c.volatile for c in table.columns if c.name not in (*table.key, "read_at", "probe", "kind"))  # fmt: skip
        if only_volatile and any(c.volatile for c in table.columns):
            assert table.name in left_out()
        assert set(plan.columns) <= set(compared(table))


def test_what_is_written_of_facts_exists() -> None:
    """Of tables and columns in compare.toml, and of facts that others explain."""
    columns = {f"{t.name}.{c}" for t in tables().values() for c in t.column_types()}
    columns |= {f"{name}.*" for name in tables()} | set(tables()) | {"name.device", "name.netdev"}
    columns |= {"lldp_neighbor.neighbor", "switch_neighbor.neighbor", "kernel_message.events", "kernel_message.errors"}  # fmt: skip
    assert set(left_out()) <= columns
    for fact in facts().values():
        assert set(fact.tells) <= columns, fact.name
        assert fact.explains | fact.explains_host | fact.explains_unknown <= set(tables()) | set(
            facts()
        ) | {"*"}, fact.name
