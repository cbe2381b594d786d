"""What would cut the way to a machine is never planned, whatever the options; what would not, is.

Each site of plan_sites/*.yaml has a change that would cut it, and one that would not, in one plan
with every option on: the first is refused for the reason given, the second is planned.
"""

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import jsonschema
import pytest
from conftest import REPOSITORY
from plan_trial import Site, plan_of, sites, trial_database
from typer.testing import CliRunner

from railwright.cli import program
from railwright.demo import unpack
from railwright.plan.paths import ALLOWED
from railwright.store.duck import connect
from railwright.store.integrity import file_digest, run_digest

SCHEMA = REPOSITORY / "docs/schemas/plan-1.json"
SITE = """
[[way_in]]
hosts = "ember-h012"
second = "BMC"

[[owner]]
name = "the QoS operator"
hosts = "ember-h019"
settings = ["nic.t*"]
"""

FILES = ("hosts", "storage", "cards", "switches", "unknown", "owners", "partners", "odd")
SITES = list(sites(*FILES))


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with trial_database() as database:
        yield database


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_site(database: duckdb.DuckDBPyConnection, site: Site) -> None:
    plan = plan_of(database, site)
    (refused,) = plan.refused
    assert (refused.setting.id, refused.targets) == (site.refuse.setting, (site.refuse.target,))
    assert refused.why.startswith(site.why), refused.why
    changed = [(one.setting.id, one.targets) for one in plan.groups]
    changed += [("nic.reset", one.targets) for one in plan.restarts if one.rules]
    assert changed == [(site.allow.setting, (site.allow.target,))]
    assert (plan.held_back, plan.undecided) == ((), ())
    # What somebody else has is for a renderer, and nothing else is.
    owner = site.said.get("owner")
    assert [one.owner for one in plan.render_for] == ([owner] if owner else [])


def test_every_site_says_what_it_is_about() -> None:
    """The same change at the same place of both kinds would prove nothing."""
    assert len(SITES) > 120
    assert all(site.refuse != site.allow for site in SITES)


# ---- through the front door: the demo, with another way in, an owner and a second way


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("demo")
    store = unpack(folder / "store")
    snapshot = max(store.glob("2*"))
    routes = snapshot / "facts" / "ssh_route.parquet"
    with connect() as database:
        database.execute(f"CREATE TABLE r AS FROM read_parquet('{routes}')")
        database.execute("UPDATE r SET netdev = 'enp24s0np0' WHERE target = 'ember-h026'")
        database.execute(f"COPY r TO '{routes}' (FORMAT parquet)")
    run = json.loads((snapshot / "run.json").read_text("utf-8"))
    run["files"]["facts/ssh_route.parquet"] = file_digest(routes)
    run["digest"] = run_digest(run)
    (snapshot / "run.json").write_text(json.dumps(run), "utf-8")
    with (store / "site.toml").open("a", encoding="utf-8") as site:
        site.write(SITE)
    file = folder / "plan.json"
    options = [word for one in ALLOWED for word in ("--allow", one)]
    words = ["plan", "--path", "aggressive", *options, "-o", str(file), "--store", str(store)]
    CliRunner(env={"HOME": str(store)}).invoke(program(), words, catch_exceptions=False)
    made: dict[str, Any] = json.loads(file.read_text("utf-8"))
    jsonschema.validate(made, json.loads(SCHEMA.read_text("utf-8")))
    return made


def test_the_way_in_of_a_snapshot(plan: dict[str, Any]) -> None:
    refused = {one["setting"]: one["why"] for one in plan["refused"]}
    said = "it is on the way to the machine: the ssh session came in by it"
    assert refused["netdev.mtu"] == said


def test_the_owner_of_a_site_file(plan: dict[str, Any]) -> None:
    (told,) = plan["render_for"]
    assert told == {
        "owner": "the QoS operator",
        "setting": "nic.trust",
        "from": "pcp",
        "to": "dscp",
        "found_by": ["intent-trust"],
        "subjects": 1,
        "hosts": "ember-h019",
    }


def test_a_second_way_lets_a_host_go(plan: dict[str, Any]) -> None:
    assert [(one["setting"], one["hosts"]) for one in plan["changes"]] == [
        ("pci.acs", "ember-h012")
    ]
