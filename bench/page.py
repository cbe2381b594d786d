"""The report page at 512 and 10,000 hosts: size of the file, cost of the export, time to be of use.

    python -m bench.page FOLDER [SHAPE ...]       systems_512 and rails_10000 by default

The fabrics are those of lab.harness.fabric, kept in FOLDER. Twenty counters, temperatures and
receive powers of every port are random, because equal rows would deflate as no cluster's do; of one
port in a hundred the MTU is 1500. Needs root, Chromium and web/node_modules.
"""

import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

from bench.figures import write_section
from lab.fleet.fabric import SHAPES, build
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.harness.fabric import fabric_snapshot
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import load_site
from railwright.model import derive
from railwright.report.page.collect import collected
from railwright.report.page.file import APP, STYLE, html
from railwright.store.duck import quote
from railwright.store.snapshot import Snapshot, load, seal

WEB = Path(__file__).parents[1] / "web"
ROUNDS = 7
COUNTERS = (
    *("rx_bytes_phy", "tx_bytes_phy", "rx_packets_phy", "tx_packets_phy", "rx_discards_phy"),
    *("rx_out_of_buffer", "rx_prio3_pause", "tx_prio3_pause", "rx_prio3_discards"),
    *("rx_symbol_err_phy", "rx_corrected_bits_phy", "link_down_events_phy", "rx_crc_errors_phy"),
    *("tx_errors_phy", "rx_err_lane_0_phy", "rx_err_lane_1_phy", "rx_err_lane_2_phy"),
    *("rx_err_lane_3_phy", "rx_pcs_symbol_err_phy", "outbound_pci_stalled_wr"),
)
LIMITS = {"systems_512": ("400 kB", "0.7 s"), "rails_10000": ("5 MB", "1.5 s")}


def _noisy(facts: Path) -> None:
    """Base tables anew, with values as a cluster has them."""
    listed = ", ".join(map(quote, COUNTERS))
    queries = {
        "netdev_counter": f"""
            SELECT * FROM {{file}} WHERE counter NOT IN ({listed})
            UNION ALL BY NAME
            SELECT n.* REPLACE (c.counter AS counter, (random() * 1e15)::BIGINT AS value)
            FROM (FROM {{file}} QUALIFY row_number() OVER (PARTITION BY target, netdev) = 1) AS n
            CROSS JOIN (SELECT unnest([{listed}]) AS counter) AS c""",
        "mlxlink_port": "SELECT * REPLACE (35 + random() * 25 AS temperature_c) FROM {file}",
        "mlxlink_lane": "SELECT * REPLACE (-3 + random() * 5 AS rx_power_dbm) FROM {file}",
        "netdev": "SELECT * REPLACE (CASE WHEN hash(target || name) % 100 = 0 AND mtu > 5000 "
        "THEN 1500 ELSE mtu END AS mtu) FROM {file}",
    }
    with duckdb.connect() as database:
        database.execute("SELECT setseed(0.5)")
        for table, query in queries.items():
            file = facts / f"{table}.parquet"
            new = file.with_suffix(".new")
            file.chmod(0o600)
            database.execute(
                f"COPY ({query.format(file=f'read_parquet({quote(str(file))})')}) "
                f"TO {quote(str(new))} (FORMAT parquet, COMPRESSION zstd)"
            )
            new.replace(file)


def _snapshot(folder: Path, shape: str) -> Snapshot:
    """Made once: it takes minutes."""
    kept = folder / f"page-{shape}.json"
    if not kept.is_file():
        fabric = build(SHAPES[shape])
        made = fabric_snapshot(folder / shape, fabric, templates=folder / "hosts")
        (folder / shape / "site.toml").write_text(site(fabric))
        (folder / shape / CABLING).write_text(cabling(fabric))
        _noisy(made.path / "facts")
        derive.all_tables(made.path / "facts")
        seal(made.path, made.run)
        kept.write_text(json.dumps(str(made.path)))
    return load(Path(json.loads(kept.read_text())))


def _timed(file: Path) -> dict[str, list[float]]:
    done = subprocess.run(
        ["node", "time.mjs", str(file), str(ROUNDS)],
        cwd=WEB,
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    rounds: list[dict[str, Any]] = json.loads(done.stdout)
    return {name: [one[name] for one in rounds] for name in rounds[0]}


def _seconds(values: list[float]) -> str:
    return f"{statistics.median(values) / 1000:.2f} s (least {min(values) / 1000:.2f})"


def _measured(folder: Path, shape: str) -> list[tuple[str, str, str]]:
    snapshot = _snapshot(folder, shape)
    wanted = load_site(folder / shape / "site.toml")
    size, interactive = LIMITS.get(shape, ("-", "-"))
    file = folder / f"{shape}.html"
    with checked(snapshot, chosen(Choice(), wanted), wanted, []) as findings:
        began = time.process_time()
        page = collected(findings, wanted, [], [], None)
        file.write_text("".join(html(page)))
        export = time.process_time() - began
    zipped = shutil.make_archive(str(folder / shape), "zip", folder, file.name)
    times = _timed(file)
    hosts, ports = len(page.core["hosts"]["name"]), page.core["ports"]["count"]
    name = f"{hosts:,} hosts"
    return [
        (f"{name}: ports, columns", f"{ports:,}, {len(page.core['heat'])}", "-"),
        (f"{name}: findings", f"{len(page.core['findings']['rule']):,}", "-"),
        (f"{name}: file", f"{file.stat().st_size:,} bytes", f"< {size}"),
        (f"{name}: the file in a zip", f"{Path(zipped).stat().st_size:,} bytes", "-"),
        (f"{name}: export after check", f"{export:.1f} s CPU", "< 10 s" if hosts > 5000 else "-"),
        (f"{name}: first paint", _seconds(times["paint"]), "< 0.4 s"),
        (f"{name}: interactive", _seconds(times["interactive"]), f"< {interactive}"),
        (f"{name}: map drawn after a click", _seconds(times["map"]), "-"),
        (f"{name}: heat map of another counter", _seconds(times["column"]), "< 0.5 s"),
    ]


def main() -> None:
    folder, shapes = Path(sys.argv[1]), sys.argv[2:] or list(LIMITS)
    parts = APP.stat().st_size + STYLE.stat().st_size
    rows = [("script and style", f"{parts:,} bytes", "< 120 kB")]
    for shape in shapes:
        rows += _measured(folder, shape)
    write_section(
        "Report: the page",
        f"`python -m bench.page FOLDER`: medians of {ROUNDS} starts of Chromium; twenty counters, "
        "temperatures and receive powers are random.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
