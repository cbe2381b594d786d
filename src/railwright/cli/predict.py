"""`railwright predict`: what this hardware can do, before anything is measured."""

import re
from dataclasses import replace
from enum import Enum
from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.facts.snapshot import find
from railwright.hardware.collectives import gpus as known_gpus
from railwright.predict.collectives import Cluster, Collective, algorithms
from railwright.predict.collectives import predict as predict_one
from railwright.predict.fleet import make_ceilings
from railwright.predict.pair import find_port
from railwright.predict.pair import pair as predict_pair
from railwright.predict.shape import most_common
from railwright.report.ceilings import (
    ceilings_json,
    exit_status,
    pair_json,
    print_ceilings,
    print_pair,
)
from railwright.report.console import next_step, output
from railwright.report.nccl import predictions_json, print_predictions
from railwright.report.screen import Screen

app = typer.Typer(
    help="What this hardware can do: ceilings of ports, hosts, pairs and collectives.",
    no_args_is_help=True,
)


class Form(str, Enum):
    """How it is printed."""

    text = "text"
    json = "json"


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


FORMAT = typer.Option(Form.text, "--format", help="text for people, json for programs.")
_SIZE = re.compile(r"(\d+)([KMG]?)(?:i?B)?", re.IGNORECASE)
_WORTH = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@app.command()
def ceiling(
    snapshot: str | None = SNAPSHOT,
    pair: tuple[str, str] = typer.Option(
        ("", ""), "--pair", help="Two ports: gpu001:mlx5_0 gpu002:mlx5_0.", show_default=False
    ),
    form: Form = FORMAT,
    store: Path | None = STORE,
) -> None:
    """What perftest can reach on every port, and what binds it. Exit status 3: not all is known."""
    found = find(store_folder(store), snapshot)
    with found.database() as database:
        make_ceilings(database)
        if any(pair):
            told = predict_pair(*(find_port(database, text) for text in pair))
            status = 0 if all(way.write is not None for way in told.directions) else 3
            if form is Form.json:
                typer.echo(pair_json(found.name, told, status))
            else:
                print_pair(Screen(output()), told)
        else:
            status = exit_status(database)
            if form is Form.json:
                for part in ceilings_json(database, found.name, status):
                    typer.echo(part, nl=False)
            else:
                print_ceilings(Screen(output()), database, found.name)
    next_step("railwright check")
    raise typer.Exit(status)


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise UsageError(f"{text!r} is no message size", do="Write 64M, 1G or a number of bytes.")
    return int(found[1]) * _WORTH[found[2].upper()]


def _numbers(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f"{text!r} is no list of numbers of nodes", do="Write --nodes 2,4,8.")
    return [int(part) for part in parts]


def _cluster(gpu: str, gpus: int, nics: int, nic_gbps: float, cpu: Cpu) -> Cluster:
    known = {name.upper(): one for name, one in known_gpus().items()}
    if gpu.upper() not in known:
        raise UsageError(
            f"nothing is known of {gpu!r} in collectives",
            do=f"Known are {', '.join(known_gpus())}.",
        )
    return Cluster(known[gpu.upper()], gpus, nics, nic_gbps, 1, None, cpu.value)


@app.command()
def nccl(
    snapshot: str | None = SNAPSHOT,
    nodes: str = typer.Option("2", "--nodes", help="How many nodes, several with commas: 2,4,8."),
    size: str = typer.Option("16M,256M,4G", "--size", help="Message sizes: 64M,1G."),
    collective: Operation = typer.Option(
        Operation.all_reduce, "--collective", help="Which operation."
    ),
    gpu: str = typer.Option(
        "", "--gpu", help="Not from a snapshot: H100, A100 …", show_default=False
    ),
    gpus: int = typer.Option(8, "--gpus", min=1, help="With --gpu: GPUs per node."),
    nics: int = typer.Option(8, "--nics", min=1, help="With --gpu: compute cards per node."),
    nic_gbps: float = typer.Option(400, "--nic-gbps", min=1, help="With --gpu: rate of a card."),
    cpu: Cpu = typer.Option(Cpu.intel, "--cpu", help="With --gpu: whose processors."),
    form: Form = FORMAT,
    store: Path | None = STORE,
) -> None:
    """What nccl-tests should print, for the nodes of a snapshot or for those that you describe."""
    counts, sizes = _numbers(nodes), [_bytes(one) for one in size.split(",")]
    if gpu:
        shape, origin = _cluster(gpu, gpus, nics, nic_gbps, cpu), "as asked"
    else:
        found = find(store_folder(store), snapshot)
        with found.database() as database:
            make_ceilings(database)
            shape, origin = most_common(database)
            origin = f"{origin} of snapshot {found.name}"
    name: Collective = collective.value
    told = [
        predict_one(name, algorithm, cluster, one)
        for cluster in (replace(shape, nodes=count) for count in counts)
        for algorithm in algorithms(name, cluster)
        for one in sizes
    ]
    if form is Form.json:
        typer.echo(predictions_json(shape, origin, told))
    else:
        print_predictions(Screen(output()), shape, origin, told)
    next_step("railwright predict ceiling")
