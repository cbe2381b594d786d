"""The fault matrix live: hosts are broken while they run, read before and after, and judged.

    python -m bench.lab_faults [MODEL ...]      all models by default, as root

Each fault of a model is on a host of its own, as in bench.faults. The first snapshot is of the
hosts as they were before the faults showed; it is taken to be an hour old.
"""

import json
import sys
import tempfile
from pathlib import Path

from bench.faults import Matrix
from bench.figures import write_section
from lab.fleet import MODELS
from lab.fleet.faults import all_faults
from lab.fleet.faults.sites import site_text
from lab.fleet.render.kubernetes import node_object
from lab.harness.fault_fleet import APART_S, Outcome, Trial, verdicts_of
from lab.harness.fault_sets import alone
from lab.harness.fleets import earlier_snapshot
from lab.live.hosts import Hosts, running
from lab.live.machine import HostMachine
from lab.site import make_root
from lab.sshd_fleet import wait_until_up
from railwright.collect.saved import KUBERNETES, Saved, import_saved
from railwright.model.merge import merge
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot


def judge_live(trial: Trial, folder: Path, rules: tuple[str, ...] = ()) -> Outcome:
    """Break hosts that are up, and see what is found."""
    # Just after a boot much is unknown on purpose: these claim to have been up for an hour.
    machines = [HostMachine(trial.model, host, uptime_s=APART_S) for host in trial.hosts()]
    with running(machines, folder / "run") as hosts:
        _strike(hosts, trial, earlier=True)
        first = _collected(hosts, folder / "first")
        _strike(hosts, trial, earlier=False)
        second = _collected(hosts, folder / "second")
    before = earlier_snapshot(folder / "before", first, APART_S, {})
    site = site_text(trial.model, trial.site)
    return Outcome(trial, *verdicts_of(second, site, rules, before=before))


def _strike(hosts: Hosts, trial: Trial, *, earlier: bool) -> None:
    for one in trial.injections:
        host, place = one.place.host.name, one.place.name
        hosts.strike(host, one.fault.name, place, earlier=earlier)
        if one.fault.rebooted and not earlier:
            hosts.reboot(host)
    hosts.tick()
    wait_until_up(hosts.fleet)


def _collected(hosts: Hosts, store: Path) -> Snapshot:
    """All hosts over ssh, and what a cluster would say about those that are nodes of one."""
    railwright = [sys.executable, "-m", "railwright"]
    done = hosts.fleet.run(
        [*railwright, "collect", *hosts.collect_arguments(), "-F", str(hosts.fleet.ssh_config),
         "--store", str(store), "--state-from", "none", "--timeout", "600"],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    snapshot = find(store, None)
    models = [hosts.machine(status.name).model() for status in hosts.status()]
    nodes = [node_object(host) for host in models if host.labels]
    if not nodes:
        return snapshot
    file = store.with_suffix(".nodes.json")
    file.write_text(json.dumps({"items": nodes}))
    others = import_saved([file], Saved(KUBERNETES, "", "", None), store)
    return merge(store, [snapshot, others], {})


def run(model: str) -> Matrix:
    """All faults that the model can have, in as many fleets as they take."""
    matrix = Matrix()
    for trial in alone(model, [one for one in all_faults().values() if model in one.models]):
        with tempfile.TemporaryDirectory(prefix="railwright-lab-", dir="/dev/shm") as name:
            outcome = judge_live(trial, Path(name) / "lab")
        matrix.add(outcome)
        said = outcome.differences()
        words = "as declared" if not said else f"{len(said)} not as declared"
        print(f"{model} {trial.site} {trial.name}: {len(trial.injections)} {words}", flush=True)
        for line in said:
            print(f"  {line}", flush=True)
    return matrix


def main() -> None:
    differences: list[str] = []
    models = sys.argv[1:] or list(MODELS)
    if unknown := sorted(set(models) - set(MODELS)):
        sys.exit(f"No model is called {', '.join(unknown)}; there are {', '.join(MODELS)}.")
    make_root()
    for model in models:
        matrix = run(model)
        rows = matrix.rows()[:4]
        write_section(
            f"Fault matrix, live: {model}",
            f"`python -m bench.lab_faults {model}`: each fault alone, on hosts of the lab.",
            rows,
        )
        for row in rows:
            print("  ".join(row), flush=True)
        differences += matrix.differences
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
