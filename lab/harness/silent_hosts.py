"""Hosts of a fabric that did not answer: a snapshot without their facts, and what is found in it.

Of some hosts the facts are taken away, as if nothing had been read of them: once while their
switches still hear them (`mute`), and once as if they were without power (`off`): their switches
hear nobody, and those ports are down. Every rule runs, those in preview and those that compare with
an earlier snapshot too (with the whole one), held to the cabling plan and by the site file that the
fabric was built for.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb

from lab.fleet.fabric import Fabric
from lab.fleet.fabric.plan import CABLING, cabling, site
from railwright.check.rule import shipped
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import load_site
from railwright.model import derive
from railwright.schema.table import tables
from railwright.store.duck import quote
from railwright.store.snapshot import Snapshot, load, seal

WAYS = ("mute", "off")


def silenced(whole: Snapshot, silent: Sequence[str], way: str) -> Snapshot:
    """The same snapshot in a store of its own, without the facts of some hosts."""
    path = whole.path.parent.parent / way / whole.path.name
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(whole.path, path)
    with duckdb.connect(":memory:") as database:
        heard = str(whole.path / "facts/switch_neighbor.parquet")
        database.execute(
            "CREATE TABLE behind AS SELECT DISTINCT target, port FROM read_parquet($1) "
            "WHERE list_contains($2, split_part(system_name, '.', 1))",
            [heard, list(silent)],
        )
        for name, table in tables().items():
            if table.fed_by != "derived":
                _rewrite(database, path / f"facts/{name}.parquet", silent, way)
    derive.all_tables(path / "facts")
    seal(path, whole.run)
    return load(path)


def _rewrite(
    database: duckdb.DuckDBPyConnection, file: Path, silent: Sequence[str], way: str
) -> None:
    """What is left of a table."""
    place, table = quote(str(file)), file.stem
    database.execute(f"CREATE OR REPLACE TABLE whole AS FROM read_parquet({place})")
    named = {"silent": list(silent)}
    if table == "target":
        database.execute(
            "UPDATE whole SET status = 'silent' WHERE list_contains($silent, target)", named
        )
    else:
        database.execute("DELETE FROM whole WHERE list_contains($silent, target)", named)
    if way == "off" and table in ("switch_neighbor", "switch_port"):
        lost = "WHERE (target, port) IN (SELECT (target, port) FROM behind)"
        down = f"UPDATE whole SET is_up = false {lost}"
        database.execute(f"DELETE FROM whole {lost}" if table == "switch_neighbor" else down)
    database.execute(f"COPY whole TO {place} (FORMAT parquet, COMPRESSION zstd)")


def found_in(
    folder: Path, fabric: Fabric, snapshot: Snapshot, before: Snapshot
) -> set[tuple[str, str]]:
    """Rule and subject of all that fails."""
    (folder / "site.toml").write_text(site(fabric))
    (folder / CABLING).write_text(cabling(fabric))
    wanted = load_site(folder / "site.toml")
    rules = chosen(Choice(tuple(shipped())), wanted)
    with checked(snapshot, rules, wanted, [], before=before) as findings:
        rows = findings.database.execute(
            "SELECT rule, subject FROM finding WHERE verdict = 'fail'"
        ).fetchall()
        stopped = [one.rule for one in findings.accounts() if one.trouble]
    if stopped:
        raise RuntimeError(f"could not be run: {', '.join(stopped)}")
    return {(str(rule), str(subject)) for rule, subject in rows}


def names(fabric: Fabric, count: int) -> list[str]:
    """Some hosts, spread over all."""
    step = fabric.hosts // count
    return [fabric.host_name(step * number) for number in range(count)]
