"""Facts of a fabric's switches: what they answer goes through the real parsers.

Of many switches that are alike in everything but names, addresses, neighbors and routes, one is
parsed; its rows are written for the others, neighbors and routes from the model.
"""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from lab.fleet.fabric import Fabric, Routing, Switch, answers
from lab.fleet.fabric.truth import ROUTE_PROBES, SHOW_PROBES, neighbors, routes
from railwright.model.finish import finish
from railwright.schema.table import Table
from railwright.store.build import Building
from railwright.store.duck import identifier, moment, quote, read_spool
from railwright.store.evidence import Answer
from railwright.store.snapshot import Snapshot

FROM_MODEL = ("switch_neighbor", "switch_route")
_MAC_START = 15  # of the last byte, which is the port's


def _role(fabric: Fabric, switch: Switch) -> object:
    """Equal for switches that are alike."""
    up = tuple(fabric.is_up(switch, port) for port in range(len(switch.ports)))
    pools = (switch.pool_bytes, switch.shared_headroom_bytes, switch.egress_pool_bytes)
    return switch.system, switch.model.name, switch.tier, switch.ports, switch.settings, up, pools


class SwitchFacts:
    """Where the rows of a fabric's switches come from, as SQL."""

    def __init__(self, fabric: Fabric, folder: Path, started: float, *, parse_all: bool) -> None:
        self._fabric = fabric
        self._folder = folder
        self._started = started
        self._routing = Routing(fabric)
        self.parsed: dict[str, Switch] = {}
        self._like: dict[str, Switch] = {}  # of switches that were not parsed: the one that was
        first: dict[object, Switch] = {}
        for switch in fabric.switches:
            like = switch if parse_all else first.setdefault(_role(fabric, switch), switch)
            if like is switch:
                self.parsed[switch.name] = switch
            else:
                self._like[switch.name] = like
        self.snapshot = self._parse()

    def _parse(self) -> Snapshot:
        head = {"started": self._started, "via": "test", "switches": list(self.parsed)}
        building = Building(self._folder / "switches", head, dict.fromkeys(self.parsed, ""))
        for switch in self.parsed.values():
            for said in answers(self._fabric, switch, self._routing):
                building.add_answer(
                    Answer(
                        switch.name, said.probe, said.command, "ok", argv=said.command.split(),
                        exit_code=0, stdout=said.text.encode(), started=self._started,
                    )
                )  # fmt: skip
            building.add_target({"target": switch.name, "status": "reached", "words": ""})
        building.close()
        return finish(building.folder)

    def _rows(self, table: str) -> Iterator[dict[str, Any]]:
        for switch in self._fabric.switches:
            listed = self._routing.of(switch)
            probes = ROUTE_PROBES if table == "switch_route" else SHOW_PROBES
            made = routes(switch, listed) if table == "switch_route" else neighbors(
                self._fabric, switch)  # fmt: skip
            for row in made:
                yield {**row, "probe": probes[switch.system], "read_at": self._started}

    def _from_model(self, table: Table) -> bool:
        """Rows that the model gives: of all switches, or while no parser reads routes."""
        if table.name == "switch_route":
            missing = importlib.util.find_spec("railwright.parse.sonic_route") is None
            return missing or bool(self._like)
        return table.name in FROM_MODEL and bool(self._like)

    def load(self, database: duckdb.DuckDBPyConnection) -> None:
        """The table `alike`: a row per switch that was not parsed."""
        file = self._folder / "alike.ndjson"
        with file.open("w", encoding="utf-8") as out:
            for switch in self._fabric.switches:
                like = self._like.get(switch.name)
                if like is not None:
                    row = {"name": switch.name, "template": like.name, "chassis": switch.chassis,
                           "serial": switch.serial, "old_chassis": like.chassis,
                           "old_serial": like.serial}  # fmt: skip
                    out.write(json.dumps(row) + "\n")
        names = ("name", "template", "chassis", "serial", "old_chassis", "old_serial")
        kinds = dict.fromkeys(names, "VARCHAR")
        database.execute(f"CREATE TABLE alike AS FROM {read_spool(file, kinds)}")

    def _column(self, name: str) -> str:
        column = f"t.{identifier(name)}"
        if name in ("target", "hostname"):
            return f"CASE {column} WHEN alike.template THEN alike.name ELSE {column} END"
        if name == "serial":
            return f"CASE {column} WHEN alike.old_serial THEN alike.serial ELSE {column} END"
        if name == "mac":
            own = f"alike.chassis[:{_MAC_START - 1}] || {column}[{_MAC_START}:]"
            return f"CASE WHEN {column} = '' THEN '' ELSE {own} END"
        return column

    def queries(self, table: Table) -> Iterator[str]:
        """SELECTs of a table's rows."""
        file = quote(str(self.snapshot.path / "facts" / f"{table.name}.parquet"))
        if self._from_model(table):
            yield self._written(table)
            return
        yield f"FROM read_parquet({file})"
        if self._like:
            columns = ", ".join(
                f"{self._column(name)} AS {identifier(name)}" for name in table.column_types()
            )
            yield (
                f"SELECT {columns} FROM alike JOIN read_parquet({file}) AS t "
                "ON t.target = alike.template"
            )

    def _written(self, table: Table) -> str:
        """Rows of the model, by way of a file."""
        kinds = table.column_types()
        file = self._folder / f"{table.name}.ndjson"
        with file.open("w", encoding="utf-8") as out:
            for row in self._rows(table.name):
                out.write(json.dumps({name: row.get(name) for name in kinds}) + "\n")
        spooled = {n: "DOUBLE" if kind == "TIMESTAMP" else kind for n, kind in kinds.items()}
        columns = ", ".join(
            f"{moment(identifier(n))} AS {identifier(n)}" if kind == "TIMESTAMP" else identifier(n)
            for n, kind in kinds.items()
        )
        return f"SELECT {columns} FROM {read_spool(file, spooled)}"
