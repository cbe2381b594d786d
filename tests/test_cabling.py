"""The cabling plan: what it may say, what is refused in plain words, and the table made of it."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lab.harness.by_hand import by_hand, target
from railwright.errors import UsageError
from railwright.intent.cabling import Names, read_cabling, strangers
from railwright.intent.site import load_site, read_site
from railwright.intent.write import write_intent

HEAD = "a_device,a_port,b_device,b_port,length_m,rail,plane"


def test_a_plan() -> None:
    text = f"\ufeff# cables of row 7\n{HEAD},colour\n\ngpu1, mlx5_0 ,leaf1,Ethernet0,3,0,0,blue\nleaf1,Ethernet8,spine1,Ethernet1/1,,,\n"
    first, second = read_cabling(text, "c")
    assert first == (("gpu1", "mlx5_0"), ("leaf1", "Ethernet0"), 3.0, 0, 0)
    assert second == (("leaf1", "Ethernet8"), ("spine1", "Ethernet1/1"), None, None, None)


def test_a_plan_of_a_spreadsheet_that_writes_semicolons() -> None:
    assert read_cabling("b_port;b_device;a_port;a_device\n1;leaf1;0;gpu1\n", "c")[0].a == (
        "gpu1",
        "0",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the plan is empty"),
        ("a_device,a_prt,b_device,b_port\n", "line 1: the header has no column a_port"),
        ("a_device,a_prt,b_device,b_port\n", "Did you mean a_prt"),
        (f"{HEAD},rail\n", "duplicate column rail"),
        (f"{HEAD}\ngpu1,,leaf1,1,,,\n", "line 2: a_port is empty"),
        (f"{HEAD}\ngpu1,0\n", "line 2: b_device is empty"),
        (f"{HEAD}\n\ngpu1,0,leaf1,1,3m,,\n", "line 3: length_m: '3m'"),
        (f"{HEAD}\ngpu1,0,leaf1,1,nan,,\n", "line 2: length_m: 'nan'"),
        (f"{HEAD}\ngpu1,0,leaf1,1,3,-1,\n", "line 2: rail: '-1'"),
        (f"{HEAD}\ngpu1,0,leaf1,1,3,,x\n", "line 2: plane: 'x'"),
        (f"{HEAD}\nleaf1,1,leaf1,1,,,\n", "line 2: both ends are leaf1:1"),
        (f"{HEAD}\ngpu1,0,leaf1,1,,,\ngpu2,0,leaf1,1,,,\n", "line 3: leaf1:1 already has a cable, in line 2"),
        (f"{HEAD}\ngpu1,0,leaf1,1,,,\nleaf1,1,gpu1,0,,,\n", "line 3: duplicate cable, already in line 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_cabling(text, "cabling.csv")
    assert words in " ".join(caught.value.lines())


def test_the_site_file_names_it(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text('cabling = "plans/c.csv"\n')
    with pytest.raises(UsageError, match="cannot read the cabling plan"):
        load_site(site)
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "c.csv").write_text(f"{HEAD}\ngpu1,0,leaf1,1,,,\n")
    assert len(load_site(site).cables) == 1
    with pytest.raises(UsageError, match="cabling must be a string"):
        read_site("cabling = 3", "s")


def planned(folder: Path, plan: str, rows: dict[str, list[dict[str, Any]]]) -> list[Any]:
    snapshot = by_hand(folder, rows)
    (folder / "c.csv").write_text(plan)
    (folder / "site.toml").write_text('cabling = "c.csv"')
    site = load_site(folder / "site.toml")
    write_intent(site, snapshot.path / "facts", folder / "intent")
    with duckdb.connect() as database:
        said = strangers(Names(database, snapshot.path / "facts"), site.cables)
        query = f"SELECT target, port, peer, peer_port, length_m, rail FROM '{folder}/intent/planned_link.parquet' ORDER BY 1, 2"
        return [said, database.execute(query).fetchall()]


def test_ports_are_called_as_the_links_call_them(tmp_path: Path) -> None:
    rows = {
        "target": [target("gpu1"), target("leaf1.example.net")],
        "own_end": [
            {"target": "gpu1", "port": "ens1", "device": "mlx5_0", "alias": ""},
            {"target": "leaf1.example.net", "port": "Ethernet0", "device": "", "alias": "etp1a"},
        ],
    }
    plan = f"{HEAD}\nGPU1,mlx5_0,leaf1,etp1a,3,0,\nleaf1,etp2a,spine9,swp1,,,\n"
    assert planned(tmp_path, plan, rows) == [
        ["spine9"],
        [
            ("gpu1", "ens1", "leaf1.example.net", "Ethernet0", 3.0, 0),
            ("leaf1.example.net", "Ethernet0", "gpu1", "ens1", 3.0, 0),
            # What nobody has read keeps the plan's own name.
            ("leaf1.example.net", "etp2a", "spine9", "swp1", None, None),
            ("spine9", "swp1", "leaf1.example.net", "etp2a", None, None),
        ],
    ]


def test_what_a_site_may_say_of_its_switches() -> None:
    text = "[fabric]\npfc_watchdog = true\nswitch_mtu = 9216\noversubscription = 1.5\nstorage_dscp = 10"
    assert read_site(text, "s").fabric == {"pfc_watchdog": True, "switch_mtu": 9216, "oversubscription": 1.5, "storage_dscp": 10}  # fmt: skip
    with pytest.raises(UsageError, match="a number above 0"):
        read_site("[fabric]\noversubscription = 0", "s")
