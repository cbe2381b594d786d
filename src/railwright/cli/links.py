"""`railwright links`: every link of the fabric."""

import tempfile
from enum import Enum
from pathlib import Path

import duckdb
import typer

from railwright.cli.common import SITE, SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.fabric.links import links as found_links
from railwright.fabric.links import make_links
from railwright.intent.cabling import Names, strangers
from railwright.intent.site import Site, load_site
from railwright.intent.write import write_intent
from railwright.node_sets import unfold
from railwright.report.console import next_step, output
from railwright.report.links import links_json, print_counts, print_links
from railwright.report.screen import Screen
from railwright.store.duck import quote


class Role(str, Enum):
    """What a link is for."""

    any = ""
    host = "host"
    fabric = "fabric"


def _show_plan(database: duckdb.DuckDBPyConnection, site: Site, facts: Path, folder: Path) -> None:
    write_intent(site, facts, folder)
    file = quote(str(folder / "planned_link.parquet"))
    database.execute(f"CREATE OR REPLACE TEMP TABLE planned_link AS FROM read_parquet({file})")


def links(
    snapshot: str | None = SNAPSHOT,
    on: str | None = typer.Option(None, "--on", help="Only links of these machines: a node set."),
    role: Role = typer.Option(Role.any, "--role", help="Only links to hosts, or between switches."),
    odd: bool = typer.Option(False, "--odd", help="Only links whose ends differ, or with trouble."),
    as_json: bool = typer.Option(False, "--json", help="For programs."),
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Every link: its ends, its speed, in what they differ. Exit status 3: none is known."""
    folder = store_folder(store)
    now = opened(folder, snapshot)
    wanted = load_site(site_file(site, folder))
    facts = now.facts
    with (
        tempfile.TemporaryDirectory(prefix="railwright-links-") as made,
        now.database() as database,
    ):
        _show_plan(database, wanted, facts, Path(made))
        unread = strangers(Names(database, facts), wanted.cables) if wanted.cables else []
        counts = make_links(database, wanted.fabric.get("data_dscp"), wanted.fabric.get("cnp_dscp"))
        found = found_links(database, unfold(on) if on else None, role.value, only_odd=odd)
        if as_json:
            typer.echo(links_json(now.name, counts, unread, found))
        else:
            screen = Screen(output())
            print_counts(screen, now.name, counts, unread)
            print_links(screen, found)
    next_step("railwright path HOST:DEVICE HOST:DEVICE")
    raise typer.Exit(0 if counts.links else 3)
