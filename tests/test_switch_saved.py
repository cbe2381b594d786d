"""`import --kind eos`: what somebody saved of a switch; and that no secret of it is kept."""

import importlib
import json
from pathlib import Path

import duckdb
import pytest

from railwright.collect.saved import Saved, import_saved, time_of
from railwright.collect.switch import systems
from railwright.collect.switch_filter import keep
from railwright.errors import SnapshotError, UsageError
from railwright.intent.site import read_site
from railwright.model.merge import merge
from railwright.parse.base import NotUnderstoodError
from railwright.reach.targets import find_targets, parse_switches
from railwright.schema.table import tables
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot, load
from tests.altered import without_digests
from tests.switch_cases import CASES, CONFIG, EVIDENCE, assert_case, case_text, rows


def imported(store: Path, kind: str, *files: Path) -> Snapshot:
    at = time_of("2026-11-14T22:15:00Z")
    return import_saved(list(files), Saved(kind, "leaf01", at=at), store)


@pytest.mark.parametrize("system", ["sonic", "cumulus", "eos", "onyx"])
def test_saved_answers_are_told_by_their_content(tmp_path: Path, system: str) -> None:
    cases = [*CASES[system].values()]
    if system == "sonic":
        cases += [
            "sonic_config_db/correct-roce-dscp26-prio3",
            "sonic_route/equal-cost-and-odd-ones",
        ]
    files = []
    for number, case in enumerate(cases):
        files.append(tmp_path / f"saved-{number}.txt")
        files[-1].write_text(case_text(case))
    snapshot = imported(tmp_path / "store", system, *files)
    assert rows(snapshot, "SELECT target, kind, status FROM target") == [
        ("leaf01", "switch", "reached")
    ]
    assert rows(snapshot, "SELECT DISTINCT status FROM probe_result") == [("ok",)]
    for case in cases:
        assert_case(snapshot, "leaf01", case)
    table = "switch_route" if system != "onyx" else "switch_port"
    assert rows(snapshot, f"SELECT DISTINCT read_at::VARCHAR FROM {table}") == [
        ("2026-11-14 22:15:00",)
    ]


def test_the_name_of_a_file_tells_the_command(tmp_path: Path) -> None:
    case = "sonic_show/groups-by-what-was-asked"
    file = tmp_path / "leaf01_show_priority-group_watermark_headroom.txt"
    file.write_text(case_text(case))
    snapshot = imported(tmp_path / "store", "sonic", file)
    assert rows(snapshot, "SELECT instance FROM probe_result") == [
        ("show priority-group watermark headroom",)
    ]
    assert rows(snapshot, "SELECT DISTINCT counter FROM switch_counter") == [
        ("group_headroom_watermark_bytes",)
    ]


# ---- secrets

SECRETS = {
    "TACPLUS": {"global": {"passkey": "SECRET-tacacs", "auth_type": "pap"}},
    "TACPLUS_SERVER": {"192.0.2.9": {"passkey": "SECRET-tacserver", "tcp_port": "49"}},
    "RADIUS": {"global": {"passkey": "SECRET-radius"}},
    "RADIUS_SERVER": {"192.0.2.8": {"passkey": "SECRET-radserver"}},
    "LDAP": {"global": {"bind_password": "SECRET-ldap", "bind_dn": "cn=SECRET-dn"}},
    "SNMP_COMMUNITY": {"SECRET-community": {"TYPE": "RO"}},
    "SNMP_USER": {"monitor": {"SNMP_USER_AUTH_PASSWORD": "SECRET-snmp"}},
    "BGP_NEIGHBOR": {"10.0.0.1": {"auth_password": "SECRET-bgp", "name": "spine01"}},
    "BGP_PEER_RANGE": {"x": {"password": "SECRET-range"}},
    "LOCAL_USER": {"admin": {"hash": "$6$SECRET-hash"}},
    "MUX_CABLE": {"Ethernet0": {"secret": "SECRET-mux"}},
}
# Where tables that are needed have fields that are not.
PLANTED = {
    "PORT": {"Ethernet0": {"description": "SECRET-description", "mtu": "9100"}},
    "DEVICE_METADATA": {"localhost": {"default_bgp_key": "SECRET-key", "hwsku": "X"}},
    "BUFFER_POOL": {"ingress": {"type": "ingress", "note": "SECRET-note", "size": "1000"}},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3", "comment": "SECRET-comment"}},
}


def configurations() -> dict[str, str]:
    """One configuration full of secrets in each of the forms that it is saved in."""
    nested = {table: {**CONFIG.get(table, {})} for table in CONFIG} | SECRETS
    for table, entries in PLANTED.items():
        for key, fields in entries.items():
            nested.setdefault(table, {})[key] = {**nested.get(table, {}).get(key, {}), **fields}
    flat = {
        f"{table}|{key}": entry for table, rows in nested.items() for key, entry in rows.items()
    }
    dump = {key: {"type": "hash", "value": entry, "ttl": -0.001, "expireat": 1.5,
                  "SECRET-field": "SECRET-beside"} for key, entry in flat.items()}  # fmt: skip
    return {
        "nested": json.dumps(nested, indent=4),
        "flat": json.dumps(flat),
        "dump": json.dumps(dump),
        "asics": json.dumps({"localhost": nested, "asic0": nested, "SECRET-top": "SECRET-value"}),
        "log": "admin@leaf01:~$ show runningconfiguration all # SECRET-echo\n" + json.dumps(nested),
        "twice": json.dumps(nested, indent=2) + "\n" + json.dumps(SECRETS, indent=2) + "\n",
    }


TEXTS = {
    "sonic": ["snmp-server community SECRET-a\n", case_text("sonic_show/version")
              + "tacacs passkey SECRET-b\nPassword: SECRET-c\n",
              case_text("sonic_show/lldp-neighbors-last-one-cut").replace(
                  "Ubuntu 22.04.5 LTS", "SECRET-d")],
    "eos": ['{"cmds": {"username admin secret 5 SECRET-e": null}, "modelName": "x"}',
            ('{"interfaces": {"Ethernet1/1": {"description": "SECRET-f", "mtu": 9214, '
            '"interfaceStatus": "connected"}}}'),
            ('{"cmds": {"router bgp 1": {"cmds": {"neighbor 10.0.0.1 password 7 SECRET-o": {}}}}, '
        '"hostname": "leaf01"}'),
        "! Command: show running-config\nsnmp-server community SECRET-g ro\n",
            ('{"lldpNeighbors": {"Ethernet1/1": {"lldpNeighborInfo": [{"systemName": "gpu1", '
            '"systemDescription": "SECRET-h", "neighborInterfaceInfo": {"interfaceId": "eth0", '
            '"interfaceDescription": "password is SECRET-i"}}]}}}')],
    "cumulus": [('{"system": {"aaa": {"user": {"cumulus": {"hashed-password": "SECRET-j"}}}, '
                '"hostname": "leaf01"}, "build": "5.9"}'),
                ('{"swp1": {"link": {"mtu": 9216, "oper-status": "up"}, "description": '
                '"key SECRET-k"}}')],
    "onyx": ["snmp-server community SECRET-l ro\nradius-server key SECRET-m\n",
             case_text("onyx_show/odd-interfaces-text").replace("ember-h001 rail0", "SECRET-n")],
}  # fmt: skip


def assert_no_secret(store: Path) -> None:
    """In no file of a store, compressed or not, is a planted word."""
    for path in store.rglob("*"):
        assert "SECRET" not in path.name
        if path.is_file():
            assert b"SECRET" not in path.read_bytes(), path
    snapshot = find(store, None)
    with snapshot.database(evidence=True) as database:
        for name in (*tables(), "evidence"):
            found = database.execute(f"SELECT * FROM {name}").fetchall()
            assert "SECRET" not in repr(found), name


def test_no_secret_of_a_configuration_is_kept(tmp_path: Path) -> None:
    forms = configurations()
    files = [tmp_path / f"{form}.json" for form in forms]
    for file, text in zip(files, forms.values(), strict=True):
        file.write_text(text)
    snapshot = imported(tmp_path / "store", "sonic", *files)
    assert_no_secret(tmp_path / "store")
    # Every form was understood: none is free of secrets because nothing was read.
    read = "SELECT count(*), min(dropped) >= 11 FROM probe_result WHERE bytes > 1000"
    assert rows(snapshot, read) == [(len(forms), True)]
    assert {port for (port,) in rows(snapshot, "SELECT port FROM switch_port")} >= {"Ethernet0"}


@pytest.mark.parametrize("system", sorted(TEXTS))
def test_no_secret_of_an_answer_is_kept(tmp_path: Path, system: str) -> None:
    files = []
    for number, text in enumerate(TEXTS[system]):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text(text)
    imported(tmp_path / "store", system, *files)
    assert_no_secret(tmp_path / "store")


def test_what_the_filters_keep_is_all_that_the_parsers_read() -> None:
    """Every case of a switch's parser says the same after its filter."""

    def read(probe: str, data: bytes, instance: str) -> object:
        try:
            return list(importlib.import_module(f"railwright.parse.{probe}").parse(data, instance))
        except NotUnderstoodError:
            return None

    seen = 0
    for system in systems().values():
        for probe, rule in system.keep.items():
            for out in (EVIDENCE / probe).glob("*.out"):
                data = out.read_bytes()
                expect = json.loads(out.with_name(f"{out.stem}.expect.json").read_text("utf-8"))
                kept, _, why = keep(data, rule)
                after = None if why else read(probe, kept, expect["instance"])
                assert after == read(probe, data, expect["instance"]), out
                seen += 1
    assert seen > 150


# ---- beside hosts


def test_which_switches_the_command_line_names(tmp_path: Path) -> None:
    known = systems()
    named = parse_switches(["leaf[01-02],leaf09=sonic,spine[1-2]=eos", "old=onyx"], known, None)
    assert named == {"leaf01": "sonic", "leaf02": "sonic", "leaf09": "sonic", "spine1": "eos",
                     "spine2": "eos", "old": "onyx"}  # fmt: skip
    site = tmp_path / "site.toml"
    site.write_text('[switches]\ncumulus = "leaf[1-2]"\n')
    assert parse_switches(["site"], known, site) == {"leaf1": "cumulus", "leaf2": "cumulus"}
    assert read_site(site.read_text(), "site.toml").profile == "observe"  # it may say so
    for wrong in (["leaf01"], ["leaf01=ios"], ["=eos"], ["site"], ["a=eos", "a=sonic"], ["a=eos,b"],
                  ["-oProxyCommand=x=eos"]):  # fmt: skip
        with pytest.raises(UsageError):
            parse_switches(wrong, known, None)
    with pytest.raises(UsageError, match="as a host and as a switch"):
        find_targets(["leaf01"], state_from="none", switches={"leaf01": "sonic"})


def test_hosts_and_switches_keep_their_kind(tmp_path: Path) -> None:
    """Also where a snapshot was written before there were switches."""
    (tmp_path / "version").write_text(case_text("eos_show/odd-version"))
    (tmp_path / "cmdline").write_text("iommu=pt\n")
    switch = imported(tmp_path / "store", "eos", tmp_path / "version")
    saved = Saved("cmdline", "gpu1", at=1794694500.0)
    host = import_saved([tmp_path / "cmdline"], saved, tmp_path / "store")
    facts = host.path / "facts"
    with duckdb.connect(":memory:") as database:
        database.execute(
            f"CREATE TABLE old AS SELECT * EXCLUDE (kind) FROM '{facts}/target.parquet'"
        )
        (facts / "target.parquet").unlink()
        (facts / "switch_route.parquet").unlink()
        database.execute(f"COPY old TO '{facts}/target.parquet'")
    without_digests(host.path, revisions={})
    both = merge(tmp_path / "store", [load(host.path), switch], {})
    assert rows(both, "SELECT target, kind FROM target ORDER BY ALL") == [
        ("gpu1", "host"),
        ("leaf01", "switch"),
    ]
    gaps = rows(both, "SELECT DISTINCT target, probe FROM gap WHERE status = 'not asked'")
    assert ("gpu1", "mlxconfig") in gaps
    assert ("leaf01", "eos_route") in gaps
    assert not {("gpu1", "eos_route"), ("leaf01", "mlxconfig"), ("leaf01", "sonic_show")} & {*gaps}
    with pytest.raises(SnapshotError):
        next(iter(rows(host, "SELECT kind FROM target")))
