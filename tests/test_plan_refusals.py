"""What would cut the way to a machine is never planned, whatever the options; what would not, is.

Each site of plan_sites/*.yaml has a change that would cut it and one that would not: the first is
refused for the reason given, the second is in the plan.
"""

from collections.abc import Iterator

import duckdb
import pytest
from plan_trial import Site, plan_of, sites, trial_database

SITES = list(sites("hosts", "storage", "cards", "switches", "unknown", "owners", "partners"))
each = pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with trial_database() as database:
        yield database


@each
def test_what_would_cut_is_refused(database: duckdb.DuckDBPyConnection, site: Site) -> None:
    plan = plan_of(database, site, site.refuse)
    assert (plan.groups, plan.held_back, plan.undecided) == ((), (), ())
    (refused,) = plan.refused
    assert refused.why.startswith(site.why), refused.why


@each
def test_the_same_elsewhere_is_planned(database: duckdb.DuckDBPyConnection, site: Site) -> None:
    plan = plan_of(database, site, site.allow)
    assert [one.why for one in plan.refused] == []
    (change,) = plan.groups
    assert change.targets == (site.allow.target,)


def test_what_an_owner_has_is_told_to_it(database: duckdb.DuckDBPyConnection) -> None:
    owned = [site for site in SITES if site.name.startswith("owners: ")]
    for site in owned[:1] + owned[-1:]:
        plan = plan_of(database, site, site.refuse)
        (told,) = plan.render_for
        assert (told.owner, told.setting.id) == (site.said["owner"], site.refuse.setting)
