"""One run of `collect` from its options to its snapshot."""

import asyncio
import getpass
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from railwright.collect.admission import admit
from railwright.collect.probe import Probe
from railwright.collect.request import Request, new_request
from railwright.collect.run import Rows, Tally, Watch, read_machines
from railwright.collect.switch_run import SwitchPlan
from railwright.errors import UsageError
from railwright.model import merge
from railwright.model.finish import finish_building
from railwright.reach.job import Limits, Transport
from railwright.reach.local import LocalTransport
from railwright.reach.slurm import SlurmTransport
from railwright.reach.ssh import SshOptions, SshTransport
from railwright.reach.targets import Targets
from railwright.store.build import Building
from railwright.store.lookup import find
from railwright.store.snapshot import FILLING, Snapshot, hidden_folder, make_store


@dataclass(frozen=True)
class Session:
    """How to read: the transport, the probes, the limits."""

    via: str
    probes: tuple[Probe, ...]
    limits: Limits
    become: bool = False
    ssh: SshOptions = field(default_factory=SshOptions)
    slurm_arguments: tuple[str, ...] = ()
    switches: SwitchPlan | None = None

    def transport(self) -> Transport:
        """The way to the machines."""
        if self.via == "slurm":
            return SlurmTransport(self.slurm_arguments)
        if self.via == "local":
            return LocalTransport()
        return SshTransport(self.ssh)

    def request(self, probes: list[Probe] | None = None) -> Request:
        """What is sent, with a fresh run id."""
        chosen = list(self.probes) if probes is None else probes
        return new_request(chosen, self.limits.total_s, become=self.become)


def read_into(  # noqa: PLR0913 (a run and where it goes)
    session: Session,
    targets: list[str],
    rows: Rows,
    show: Callable[[Tally], None],
    *,
    probes: list[Probe] | None = None,
    building: Building | None = None,
    switches: SwitchPlan | None = None,
) -> bool:
    """Read these machines into `rows`; False if the operator stopped it."""
    return asyncio.run(
        read_machines(
            targets,
            session.transport(),
            session.request(probes),
            session.limits,
            rows,
            Watch(show),
            building=building,
            switches=switches,
        )
    )


def _who() -> str:
    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (KeyError, OSError):  # a user id without a name, as in a container
        return f"@{platform.node()}"


def run_head(session: Session, targets: Targets) -> dict[str, object]:
    """What run.json says about a run before it starts."""
    return {
        "started": time.time(),
        "asked_by": _who(),
        "via": session.via,
        "become": session.become,
        "probes": [probe.name for probe in session.probes],
        "limits": vars(session.limits),
        "state_from": targets.state_source,
        "switches": list(session.switches.systems) if session.switches else [],
        "switch_systems": dict(session.switches.systems) if session.switches else {},
    }


class Joined(NamedTuple):
    """The snapshot that a run is joined with: to fill its gaps, or to replace machines in it."""

    fill: str = ""
    onto: str = ""


def collect_snapshot(
    session: Session,
    targets: Targets,
    store: Path,
    joined: Joined,
    show: Callable[[Tally], None],
) -> Snapshot:
    """Read every target, or only what an earlier snapshot lacks, and write a new snapshot."""
    if joined.fill:
        return _fill(session, targets, store, find(store, joined.fill), show)
    if joined.onto:
        old = find(store, joined.onto)
        return _onto(session, targets, store, old, show)
    return _collected(session, targets, store, show)


def _collected(
    session: Session, targets: Targets, store: Path, show: Callable[[Tally], None]
) -> Snapshot:
    boxes = list(session.switches.systems) if session.switches else []
    named = {name: targets.out_of_service.get(name, "") for name in (*targets.names, *boxes)}
    building = Building(store, run_head(session, targets), named)
    whole = read_into(
        session,
        list(targets.names),
        building,
        show,
        building=building,
        switches=session.switches,
    )
    return finish_building(building, {} if whole else {"interrupted": True}, admit)


def _onto(
    session: Session,
    targets: Targets,
    store: Path,
    old: Snapshot,
    show: Callable[[Tally], None],
) -> Snapshot:
    """Read some machines again; then they and the rest of an earlier snapshot as one."""
    make_store(store)
    hidden, lock = hidden_folder(store, FILLING)
    try:
        part = _collected(session, targets, hidden, show)
        extra: dict[str, object] = {"joined_to": old.name}
        if part.run.get("interrupted"):
            extra["interrupted"] = True
        return merge.merge(store, [old, part], extra, last_wins=True)
    finally:
        lock.release()
        shutil.rmtree(hidden, ignore_errors=True)


def _switches_to_fill(plan: SwitchPlan | None, old: Snapshot) -> SwitchPlan | None:
    """Those of the named switches that lack something: a session brings everything anew."""
    wanted = merge.switches_to_fill(old, list(plan.systems)) if plan else []
    if plan is None or not wanted:
        return None
    return replace(plan, systems={name: plan.systems[name] for name in wanted})


def _fill(
    session: Session,
    targets: Targets,
    store: Path,
    old: Snapshot,
    show: Callable[[Tally], None],
) -> Snapshot:
    """Read what is missing, group by group of like gaps; then old and new as one snapshot."""
    known = {probe.name: probe for probe in session.probes}
    gaps = merge.gaps(old, list(known), list(targets.names))
    plan = _switches_to_fill(session.switches, old)
    if not gaps and plan is None:
        raise UsageError(
            f"{old.name}: nothing is missing that another attempt could read",
            do="To read everything again: railwright collect -w HOSTS",
        )
    make_store(store)
    # Parts are no snapshots of the fleet: out of sight, so that none is ever the latest.
    hidden, lock = hidden_folder(store, FILLING)
    try:
        parts = _read_parts(session, targets, hidden, (old, gaps, plan), show)
        extra: dict[str, object] = {"filled_from": old.name}
        if any(part.run.get("interrupted") for part in parts):
            extra["interrupted"] = True
        return merge.merge(store, [old, *parts], extra)
    finally:
        lock.release()
        shutil.rmtree(hidden, ignore_errors=True)


def _read_parts(
    session: Session,
    targets: Targets,
    store: Path,
    wanted: tuple[Snapshot, dict[tuple[str, ...], list[str]], SwitchPlan | None],
    show: Callable[[Tally], None],
) -> list[Snapshot]:
    """One snapshot of the switches, and one per group of hosts that lack the same probes."""
    old, gaps, plan = wanted
    known = {probe.name: probe for probe in session.probes}
    parts = []
    if plan is not None:
        boxes = list(plan.systems)
        head = {**run_head(replace(session, switches=plan), targets), "probes": []}
        building = Building(
            store, head, {box: targets.out_of_service.get(box, "") for box in boxes}
        )
        whole = read_into(session, [], building, show, building=building, switches=plan)
        parts.append(finish_building(building, {} if whole else {"interrupted": True}, admit))
    for names, hosts in gaps.items():
        if parts and parts[-1].run.get("interrupted"):
            break
        state = merge.out_of_service(old, hosts) | targets.out_of_service
        chosen = Targets(tuple(hosts), {host: state.get(host, "") for host in hosts})
        head = {**run_head(replace(session, switches=None), targets), "probes": list(names)}
        building = Building(store, head, chosen.out_of_service)
        probes = [known[name] for name in names]
        whole = read_into(session, hosts, building, show, probes=probes, building=building)
        parts.append(finish_building(building, {} if whole else {"interrupted": True}, admit))
    return parts
