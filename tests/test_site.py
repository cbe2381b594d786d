"""The site file, waivers and what is proposed: what they may say, and what is refused in plain words."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lab.harness.by_hand import by_hand, target
from railwright.check.waivers import Waiver, append_waiver, load_waivers, read_waivers
from railwright.errors import UsageError
from railwright.intent.propose import proposal
from railwright.intent.site import profiles, read_site
from railwright.intent.write import write_intent
from railwright.schema.table import intent_tables


def test_a_profile_and_what_the_site_says_over_it() -> None:
    site = read_site('profile = "roce-lossless"\n[fabric]\ndata_dscp = 34\nmtu = 4200', "s")
    assert site.mode == "lossless"
    assert site.fabric["data_dscp"] == 34
    assert site.fabric["cnp_dscp"] == 48  # of the profile
    assert read_site("", "s").profile == "observe"


@pytest.mark.parametrize("name", profiles())
def test_every_profile_can_be_named(name: str) -> None:
    assert read_site(f'profile = "{name}"', "s").profile == name
    assert profiles()[name]["sources"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('profil = "observe"', "Did you mean profile"),
        ('profile = "roce"', "unknown profile 'roce'"),
        ("[fabric]\ntrst = 'dscp'", "Did you mean trust"),
        ("[fabric]\ntrust = 'dcsp'", "one of dscp, pcp"),
        ("[fabric]\nmtu = 70000", "from 68 to 65535"),
        ("[fabric]\nmtu = true", "from 68 to 65535"),
        ("[fabric]\necn = 1", "true or false"),
        ("[fabric]\nlossless_priorities = 3", "must be a list"),
        ("[fabric]\nlossless_priorities = [8]", "from 0 to 7"),
        ("[[class]]\nhosts = 'a'", "name missing"),
        ("[[role]]\nrole = 'compute'", "devices or netdevs"),
        ("[[role]]\nrole = 'computer'\ndevices = ['a']", "one of compute"),
        ("[[nic]]\npsid = 'X'\n[[nic]]\npsid = 'X'", "duplicate [[nic]] X"),
        ("[[nic]]\npsid = 'X'\nparameters = {sriov = 1}", "not a firmware parameter"),
        (
            "[[nic]]\npsid = 'X'\nparameters = {CQE_COMPRESSION = 2}",
            "CQE_COMPRESSION cannot be 2 mlxconfig refuses to set it, so no NIC can have it. Allowed: 0 BALANCED, 1 AGGRESSIVE",
        ),
        ("[[nic]]\npsid = 'X'\nparameters = {LINK_TYPE_P1 = 'ETHERNET'}", "1 IB, 2 ETH"),
        ("[[nic]]\npsid = 'X'\nparameters = {LINK_TYPE_P1 = 'ETH(1)'}", "cannot be ETH(1)"),
        ("[[nic]]\npsid = 'X'\nparameters = {SRIOV_EN = 2}", "0 False, 1 True"),
        ("[[nic]]\npsid = 'X'\nparameters = {LOG_TX_PSN_WINDOW = 64}", "0 to 63"),
        ("[[nic]]\npsid = 'X'\nparameters = {SRIOV_EN = 1.5}", "a number or a string"),
        ("class = 3", "must be tables"),
        ("profile = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(UsageError) as told:
        read_site(text, "site.toml")
    assert words in " ".join(told.value.lines())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CQE_COMPRESSION", "1"),
        ("CQE_COMPRESSION", "'AGGRESSIVE'"),
        ("CQE_COMPRESSION", "'AGGRESSIVE(1)'"),
        ("SRIOV_EN", "true"),
        ("SRIOV_EN", "'False'"),
        ("LINK_TYPE_P2", "2"),
        ("MAX_ACC_OUT_READ", "512"),
        ("MODULE_SPLIT_M0[3]", "1"),
        ("A_NAME_OF_TOMORROW", "77"),  # nobody knows its values: left to intent-parameter-name
    ],
)
def test_values_that_a_parameter_can_have(name: str, value: str) -> None:
    text = f"[[nic]]\npsid = 'X'\nparameters = {{'{name}' = {value}}}"
    assert read_site(text, "s").nics[0]["parameters"].keys() == {name}


def intent(tmp_path: Path, text: str, rows: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    made = by_hand(tmp_path, rows)
    write_intent(read_site(text, "s"), made.path / "facts", tmp_path / "intent")
    found = {}
    for name in intent_tables():
        table = duckdb.execute(f"FROM '{tmp_path / 'intent' / name}.parquet'")
        columns = [column[0] for column in table.description]
        found[name] = [dict(zip(columns, row, strict=True)) for row in table.fetchall()]
    return found


HOSTS = {
    "target": [target("gpu1"), target("gpu2"), target("gpu3")],
    "host_kind": [{"target": "gpu1", "kind": "8x A"}, {"target": "gpu2", "kind": "4x B"}],
    "port": [
        {"target": name, "device": device, "port": 1, "netdev": f"{device}n"}
        for name in ("gpu1", "gpu2")
        for device in ("mlx5_0", "mlx5_8")
    ],
}


def test_the_intent_as_tables(tmp_path: Path) -> None:
    text = """
    profile = "roce-lossless"
    [fabric]
    lossless_priorities = [3, 5]
    mtu = 9000
    [[class]]
    name = "all"
    gpus = 8
    [[class]]
    name = "small"
    kind = "4x B"
    gpus = 4
    [[role]]
    role = "storage"
    netdevs = ["mlx5_8*"]
    [[role]]
    role = "management"
    hosts = "gpu2"
    devices = ["mlx5_8"]
    [[nic]]
    psid = "MT_1"
    firmware = "28.1.2"
    parameters = {SRIOV_EN = false}
    """
    found = intent(tmp_path, text, HOSTS)
    (site,) = found["site"]
    assert (site["pfc_mask"], site["netdev_mtu"], site["fabric_mode"]) == (40, 9000, "lossless")
    classes = {row["target"]: (row["class"], row["gpus"]) for row in found["node_class"]}
    # Nobody has read what is in gpu3: it may be small.
    assert classes == {"gpu1": ("all", 8), "gpu2": ("small", 4), "gpu3": (None, None)}
    roles = {(row["target"], row["device"]): row["role"] for row in found["declared_role"]}
    assert roles == {("gpu1", "mlx5_8"): "storage", ("gpu2", "mlx5_8"): "management"}
    assert found["wanted_firmware"] == [{"psid": "MT_1", "version": "28.1.2"}]
    assert found["wanted_parameter"] == [{"psid": "MT_1", "name": "SRIOV_EN", "value": "False"}]


def test_a_machine_that_is_named_needs_no_kind(tmp_path: Path) -> None:
    text = """
    [[class]]
    name = "small"
    kind = "4x B"
    [[class]]
    name = "named"
    hosts = "gpu3"
    """
    found = intent(tmp_path, text, HOSTS)
    classes = {row["target"]: row["class"] for row in found["node_class"]}
    assert classes == {"gpu2": "small", "gpu3": "named"}


def test_a_site_that_says_nothing_wants_nothing(tmp_path: Path) -> None:
    found = intent(tmp_path, "", HOSTS)
    (site,) = found.pop("site")
    assert {name: value for name, value in site.items() if value is not None} == {
        "profile": "observe"
    }
    assert set(map(len, found.values())) == {0}


def test_what_is_proposed_can_be_read_and_admits_what_is_not_known(tmp_path: Path) -> None:
    with by_hand(tmp_path, HOSTS).database() as database:
        text = proposal(database, "x")
    site = read_site(text, "proposal")
    assert site.profile == "observe"
    assert "cannot be told" in text
    assert "# mtu: not read" in text


# ---- waivers

GOOD = """
[[waive]]
rule = "pcie-link-narrow"
subjects = ["gpu[1-2]:0000:18:00.0", "*:mlx5_0/1"]
reason = "wired x8"
owner = "kim"
expires = 2027-01-31
"""


def test_a_waiver() -> None:
    (one,) = read_waivers(GOOD, "w")
    assert one.prefixes() == [
        ("gpu1", "gpu1:0000:18:00.0"),
        ("gpu2", "gpu2:0000:18:00.0"),
        ("*", "mlx5_0/1"),
    ]
    assert not one.is_expired(date(2027, 1, 31))
    assert one.is_expired(date(2027, 2, 1))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('reason = "wired x8"\n', "", "lacks reason"),
        ('owner = "kim"', 'owner = ""', "lacks owner"),
        ("expires = 2027-01-31", 'expires = "soon"', "must have a date"),
        ("expires = 2027-01-31", "expires = 2027-01-31T00:00:00", "must have a date"),
        ("[[waive]]", "[[wave]]", "unknown key 'wave'"),
        ("[[waive]]", "[waive]", "two brackets"),
        ("rule =", "rules = 1\nrule =", "has unknown keys: rules"),
    ],
)
def test_a_waiver_that_is_not_whole_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(UsageError) as told:
        read_waivers(GOOD.replace(old, new), "w")
    assert words in " ".join(told.value.lines())


def test_waivers_are_written_behind_one_another(tmp_path: Path) -> None:
    path = tmp_path / "new" / "waivers.toml"
    first_day = date(2027, 1, 1)
    append_waiver(
        path, Waiver("fail", "pcie-link-narrow", ("gpu1",), 'a "quoted" reason\n', "kim", first_day)
    )
    append_waiver(path, Waiver("unknown", "*", ("gpu[2-3]",), "no root", "lee", first_day))
    first, second = load_waivers(path)
    assert (first.verdict, first.reason) == ("fail", 'a "quoted" reason\n')
    assert (second.verdict, second.rule, second.subjects) == ("unknown", "*", ("gpu[2-3]",))
    with pytest.raises(UsageError):
        append_waiver(path, Waiver("fail", "pcie-link-narrow", ("gpu[1-",), "r", "kim", first_day))
    assert len(load_waivers(path)) == 2
