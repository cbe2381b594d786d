"""A fault on one host of a fleet, under every kind of site file: what is said of it.

What must be said is written by hand in fault_sites.toml. `full` is the site file that an operator
of such hosts would write (lab/fleet/faults/sites.py). Faults come in an order that chance has given
once and for all, each on the model that is read fastest.
"""

import random
import re
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lab.fleet.faults import Fault, Injection, all_faults, earlier
from lab.fleet.faults.sites import host_of, site_text
from lab.harness.fault_sets import placed
from lab.harness.struck import CELLS, STRUCK, Cell, Struck, locked, prepare
from railwright.toml import load_toml

# The model that is read fastest first.
BY_COST = (
    *("socket_direct", "two_socket_4x400g", "passthrough_vm"),
    *("hgx_a100_infiniband", "hgx_h100", "kubernetes_worker"),
)
# What a cell counts as.
NO_FAULT = "not a fault there: no expected value was given"
OWN_RULE = "found, by the fault's own rule at its subject"
LISTED_RULE = "found, by a rule that the table lists, at the host"
NO_REFERENCE = "inconclusive: a part lost on one host without a reference"
INCONCLUSIVE = "inconclusive"
EXIT_0 = "exit 0 with a fault"
Said = dict[str, Any]  # exit, found, unknown (reason), others (rules that found something there)


def model_of(fault: Fault) -> str:
    """Where a fault is tried."""
    return min(fault.models, key=BY_COST.index)


@cache
def faults() -> tuple[str, ...]:
    """All of them, shuffled with a seed."""
    names = sorted(all_faults())
    random.Random(16).shuffle(names)
    return tuple(names)


# ---- what must be said


@cache
def _table() -> list[dict[str, Any]]:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    table: dict[str, Any] = load_toml(text, "fault_sites.toml")
    return list(table["except"])


def exception(fault: Fault, cell: Cell) -> dict[str, Any] | None:
    """The first entry of the table that speaks of a cell; None = it must be found."""
    for entry in _table():
        listed = fault.rule in entry.get("rules", ()) or fault.name in entry.get("faults", ())
        if listed and [cell.site, cell.size] in entry["cells"]:
            return entry
    return None


def outcome(fault: Fault, cell: Cell, said: Said) -> str:
    """What a cell counts as in the figures."""
    entry = exception(fault, cell) or {}
    if "no_fault" in entry:
        return NO_FAULT
    if said["found"]:
        return OWN_RULE
    if set(said["others"]) & set(entry.get("instead", ())):
        return LISTED_RULE
    if said["exit"] == 0:
        return EXIT_0
    return NO_REFERENCE if "no_reference" in entry else INCONCLUSIVE


def wrong(fault: Fault, cell: Cell, said: Said) -> str:
    """'' where it is as the table has it."""
    entry, came = exception(fault, cell), outcome(fault, cell, said)
    if came == NO_FAULT:
        return "found where it is no fault" if said["found"] else ""
    if came == EXIT_0:
        return came
    may_be_open = entry is not None and {"unknown", "no_reference"} & set(entry)
    if came in (OWN_RULE, LISTED_RULE) or may_be_open:
        return ""
    return f"not as listed, exit {said['exit']}"


# ---- what is said


def _at(finding: dict[str, Any], host: str) -> bool:
    return str(finding["subject"]).partition(":")[0] == host


def said_of(struck: Struck, injection: Injection, cell: Cell, words: list[str]) -> Said:
    """By the fault's own rule; by all others only where that one has not found it."""
    rule, expected = injection.fault.rule, injection.expected
    status, told = struck.judged(cell, "--select", rule, *words)
    if expected & {(one["rule"], one["subject"]) for one in told["findings"]}:
        return {"exit": status, "found": True}
    unknown = [one for one in told["inconclusive"] if (one["rule"], one["subject"]) in expected]
    status, told = struck.judged(cell, *words)
    host = injection.place.host.name
    return {
        "exit": status,
        "found": False,
        "unknown": str(unknown[0]["reason"]) if unknown else "",
        "others": sorted({one["rule"] for one in told["findings"] if _at(one, host)}),
        "unsure": sorted({one["rule"] for one in told["inconclusive"] if _at(one, host)}),
    }


def _full(model: str, variant: str, healthy: Path) -> str:
    """The operator's site file, with the slots as `intent init` has them of the healthy fleet."""
    proposed = max(healthy.glob("healthy*.toml"), key=lambda file: int(file.stem[7:])).read_text()
    slots = proposed[proposed.index("slots = [") :].partition("\n]\n")[0] + "\n]\n"
    text = site_text(model, variant)
    return re.sub(r"(\nnuma_nodes = .*\n)", lambda found: found[1] + slots, text)


def tried(folder: Path, name: str, cells: Sequence[Cell] = tuple(CELLS)) -> dict[str, Said]:
    """What is said of a fault in each cell."""
    fault = all_faults()[name]
    model = model_of(fault)
    healthy = folder / f"{model}-{fault.site}"
    with locked(folder / f"{healthy.name}.lock"):
        sizes = tuple(sorted({cell.size for cell in cells} | {1}))
        prepare(healthy, lambda number: host_of(model, number, fault.site), sizes)
        (healthy / "full.toml").write_text(_full(model, fault.site, healthy))
    injection = placed(fault, model, STRUCK)
    if injection is None:
        raise RuntimeError(f"host {STRUCK} of {model} has no place for {name}")
    was = earlier(injection.place.host, [injection])
    with tempfile.TemporaryDirectory(dir=folder) as own:
        struck = Struck(Path(own), healthy, injection.changed(injection.place.host))
        return {
            f"{cell.site} {cell.size}": said_of(
                struck, injection, cell, struck.earlier(was, cell) if was is not None else []
            )
            for cell in cells
        }
