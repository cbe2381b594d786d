"""What would cut the way to a machine is never planned, whatever the options; what would not, is.

Each site of plan_sites/*.yaml has a change that would cut it, and one that would not, in one plan
with every option on: the first is refused for the reason given, the second is planned.
"""

from collections.abc import Iterator

import duckdb
import pytest
from plan_trial import Site, plan_of, sites, trial_database

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
    (change,) = plan.groups
    assert (change.setting.id, change.targets) == (site.allow.setting, (site.allow.target,))
    assert (plan.held_back, plan.undecided) == ((), ())
    # What somebody else has is for a renderer, and nothing else is.
    owner = site.said.get("owner")
    assert [one.owner for one in plan.render_for] == ([owner] if owner else [])


def test_every_site_says_what_it_is_about() -> None:
    """The same change at the same place of both kinds would prove nothing."""
    assert len(SITES) > 120
    assert all(site.refuse != site.allow for site in SITES)
