"""`railwright predict`: what this hardware can do, before anything is measured."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path

import duckdb
import typer

from railwright.cli.common import FORMAT, JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, Form
from railwright.cli.opening import intended, one_of, opened
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.hardware.collectives import gpus as known_gpus
from railwright.predict.collectives import Cluster, Collective, Prediction, algorithms
from railwright.predict.collectives import predict as predict_one
from railwright.predict.fleet import make_ceilings
from railwright.predict.pair import find_port
from railwright.predict.pair import pair as predict_pair
from railwright.predict.shape import most_common
from railwright.report.ceilings import (
    ceilings_json,
    ceilings_status,
    pair_json,
    print_ceilings,
    print_pair,
)
from railwright.report.console import next_step, output
from railwright.report.measured import CollectiveRun, collective_runs
from railwright.report.nccl import predictions_json, print_predictions
from railwright.report.screen import Screen
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

app = typer.Typer(
    help="Calculate what the hardware can reach: ports, hosts, pairs of ports and collectives.",
    no_args_is_help=True,
)


class Cpu(str, Enum):
    """Whose processors the hosts have."""

    intel = "Intel"
    amd = "AMD"
    other = "other"


class Operation(str, Enum):
    """What nccl-tests have a program for."""

    all_reduce = "all_reduce"
    all_gather = "all_gather"
    reduce_scatter = "reduce_scatter"
    broadcast = "broadcast"
    reduce = "reduce"
    all_to_all = "all_to_all"


_SIZE = re.compile(r"([0-9]{1,12})([KMG]?)(?:i?B)?", re.IGNORECASE)
_COUNT = re.compile(r"[1-9][0-9]{0,5}")
_WORTH = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@contextmanager
def _ceilings(
    snapshot: str | None, site: Path | None, store: Path | None
) -> Iterator[tuple[Snapshot, duckdb.DuckDBPyConnection]]:
    """A snapshot and its ceilings, with the roles that the site gives its ports."""
    folder = store_folder(store)
    found, wanted = opened(folder, snapshot), intended(site, folder)
    with found.database() as database:
        make_ceilings(database, wanted)
        yield found, database


@app.command()
def ceiling(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    pair: tuple[str, str] = typer.Option(
        ("", ""), "--pair", help="Two ports, e.g. gpu001:mlx5_0 gpu002:mlx5_0.", show_default=False
    ),
    details: bool = typer.Option(
        False, "--details", help="Show reads, sends, both directions and latency limits too."
    ),
    form: Form = FORMAT,
    as_json: bool = JSON,
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Calculate what perftest can reach on every port and what limits it.

    Exits 3 if something is unknown.
    """
    with _ceilings(one_of(snapshot, named), site, store) as (found, database):
        if any(pair):
            told = predict_pair(*(find_port(database, text) for text in pair))
            known = all(way.write is not None for way in told.directions)
            status = exit_status(unknown=not known, snapshot=found)
            if as_json or form is Form.json:
                typer.echo(pair_json(found.name, told, status))
            else:
                print_pair(Screen(output()), told)
        else:
            status = ceilings_status(database, found)
            if as_json or form is Form.json:
                for part in ceilings_json(database, found.name, status):
                    typer.echo(part, nl=False)
            else:
                print_ceilings(Screen(output()), database, found.title, details=details)
    next_step("railwright check")
    raise typer.Exit(status)


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise UsageError(
            f"{text!r} is not a message size", do="Write 64M, 1G or a number of bytes."
        )
    return int(found[1]) * _WORTH[found[2].upper()]


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(_COUNT.fullmatch(part) for part in parts):
        raise UsageError(f"{text!r} is not a list of node counts", do="Write --nodes 2,4,8.")
    return [int(part) for part in parts]


def _cluster(
    gpu: str, gpus: int | None, nics: int | None, nic_gbps: float | None, cpu: Cpu | None
) -> Cluster:
    """The nodes that are described; what is not said is as in most of them."""
    known = {name.upper(): one for name, one in known_gpus().items()}
    if gpu.upper() not in known:
        raise UsageError(
            f"unknown GPU {gpu!r}",
            do=f"Choose one of {', '.join(known_gpus())}.",
        )
    return Cluster(
        *(known[gpu.upper()], gpus or 8, nics or 8, nic_gbps or 400, 1, None),
        cpu=(cpu or Cpu.intel).value,
    )


def _check_words(gpu: str, snapshot: str | None, described: Mapping[str, object]) -> None:
    """Words that would count for nothing are a mistake: the answer would be to another question."""
    said = [name for name, value in described.items() if value is not None]
    if said and not gpu:
        raise UsageError(
            f"{said[0]} needs --gpu",
            why="Without --gpu, the nodes are those of a snapshot.",
            do=f"Add e.g. --gpu H100, or leave out {', '.join(said)}.",
        )
    if gpu and snapshot:
        raise UsageError(
            f"--gpu {gpu} and snapshot {snapshot} cannot be combined",
            do="Leave out one of them.",
        )


def _best(collective: Operation, shape: Cluster, nodes: int, size: int) -> Prediction | None:
    """Of the algorithms the fastest, as NCCL would choose; None where the model says nothing."""
    name: Collective = collective.value
    cluster = replace(shape, nodes=nodes)
    known = [predict_one(name, one, cluster, size) for one in algorithms(name, cluster)]
    return max((one for one in known if one.bus is not None), key=_bus, default=None)


def _bus(one: Prediction) -> float:
    return one.bus or 0.0


@app.command()
def nccl(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    nodes: str = typer.Option(
        "2", "--nodes", metavar="COUNTS", help="Number of nodes, or a list: 2,4,8."
    ),
    size: str = typer.Option(
        "16M,256M,4G", "--size", help="Message sizes in bytes, with K, M or G: 64M,1G."
    ),
    collective: Operation = typer.Option(
        Operation.all_reduce, "--collective", help="Collective operation."
    ),
    gpu: str = typer.Option(
        "",
        "--gpu",
        help="Describe the nodes instead of reading a snapshot: H100, A100.",
        show_default=False,
    ),
    gpus: int | None = typer.Option(
        None, "--gpus", min=1, max=1024, help="With --gpu: GPUs per node. Default: 8."
    ),
    nics: int | None = typer.Option(
        None, "--nics", min=1, max=1024, help="With --gpu: compute ports per node. Default: 8."
    ),
    nic_gbps: float | None = typer.Option(
        None, "--nic-gbps", min=1, max=10_000, help="With --gpu: port rate in Gb/s. Default: 400."
    ),
    cpu: Cpu | None = typer.Option(None, "--cpu", help="With --gpu: CPU vendor. Default: Intel."),
    everything: bool = typer.Option(
        False, "--all", help="Show every algorithm, not only the fastest by the model."
    ),
    form: Form = FORMAT,
    as_json: bool = JSON,
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Calculate what nccl-tests should print, for a snapshot or for nodes that you describe.

    Exits 3 if the model does not cover part of it.
    """
    counts, sizes = _numbers(nodes), [_bytes(one) for one in size.split(",")]
    described = {"--gpus": gpus, "--nics": nics, "--nic-gbps": nic_gbps, "--cpu": cpu}
    _check_words(gpu, one_of(snapshot, named), described)
    read: Snapshot | None = None  # nodes that are described have none
    measured: list[CollectiveRun] = []
    if gpu:
        shape, origin = _cluster(gpu, gpus, nics, nic_gbps, cpu), "as described"
    else:
        with _ceilings(one_of(snapshot, named), site, store) as (read, database):
            shape, origin = most_common(database)
            origin = f"{origin}, snapshot {read.name}"
            measured = collective_runs(
                database, collective.value, partial(_best, collective, shape)
            )
    if min(counts) * shape.gpus == 1:
        raise UsageError("a collective needs at least two GPUs", do="Write --nodes 2 or more.")
    name: Collective = collective.value
    told = [
        predict_one(name, algorithm, cluster, one)
        for cluster in (replace(shape, nodes=count) for count in counts)
        for algorithm in algorithms(name, cluster)
        for one in sizes
    ]
    if as_json or form is Form.json:
        typer.echo(predictions_json(shape, origin, told, measured))
    else:
        print_predictions(Screen(output()), shape, origin, told, measured, everything=everything)
    next_step("railwright predict ceiling")
    unknown = any(one.bus is None for one in told)
    raise typer.Exit(exit_status(unknown=unknown, snapshot=read))
