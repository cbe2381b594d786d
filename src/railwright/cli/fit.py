"""`railwright fit`: whether parts belong together, before they are bought."""

from pathlib import Path

import typer

from railwright.cli.common import FORMAT, Form
from railwright.design.parts_list import COLUMNS, Wanted, build_of, judge_list, judged, read_list
from railwright.errors import UsageError
from railwright.report.console import next_step, output
from railwright.report.fit import exit_status, fit_json, print_fit, print_list
from railwright.report.screen import Screen


def fit(
    adapter: str | None = typer.Argument(None, help="Its ordering number: MCX755106AS-HEAT."),
    slot: str = typer.Option(
        "", help="gen5x16; gen4x16+gen4x16 for both interfaces of a card; ocp3-gen5x16."
    ),
    cable: str = typer.Option(
        "", help="A part number, or switch module + fibre + adapter module, joined by +."
    ),
    switch: str = typer.Option("", help="Its model: SN5600."),
    length: str = typer.Option("", help="Metres between both."),
    ports: str = typer.Option("", help="How many of the adapter's ports are in use. Default: all."),
    protocol: str = typer.Option("", help="Ethernet or InfiniBand. Default: what all parts speak."),
    max_payload: str = typer.Option("", help="Of the PCIe slot, in bytes. Default: 256."),
    slot_power: str = typer.Option("", help="Watts that the server gives there."),
    airflow: str = typer.Option("", help="LFM that the server gives there."),
    external_power: str = typer.Option("", help="A cable that the server has: none, 8-pin ATX."),
    adapter_fec: str = typer.Option("", help="Set by hand: none, fc, rs, ll. Default: auto."),
    switch_fec: str = typer.Option("", help="Set by hand: none, fc, rs, ll. Default: auto."),
    sources: bool = typer.Option(False, "--sources", help="Where each statement comes from."),
    parts: Path | None = typer.Option(
        None, "--parts", help="A parts list (CSV); printed again with verdicts."
    ),
    form: Form = FORMAT,
) -> None:
    """Do an adapter, a slot, a cable and a switch port belong together?

    Exit status 1: something does not, or is limited; 3: something is not documented.
    """
    wanted = Wanted(
        adapter=adapter or "",
        slot=slot,
        cable=cable,
        switch=switch,
        length_m=length,
        ports=ports,
        protocol=protocol,
        max_payload=max_payload,
        slot_power_w=slot_power,
        airflow_lfm=airflow,
        external_power=external_power,
        adapter_fec=adapter_fec,
        switch_fec=switch_fec,
    )
    if parts is not None:
        raise typer.Exit(_parts_list(parts, wanted, form))
    if not adapter:
        raise UsageError(
            "which adapter?",
            do="railwright fit MCX755106AS-HEAT --slot gen4x16, or railwright fit --parts list.csv",
        )
    build = build_of(wanted)
    found = judged(wanted, build)
    if form is Form.json:
        typer.echo(fit_json([found]))
    else:
        print_fit(Screen(output()), build, found.verdict, sources=sources)
    next_step(f"railwright hardware {build.adapter.name}")
    raise typer.Exit(found.verdict.exit_status)


def _parts_list(path: Path, wanted: Wanted, form: Form) -> int:
    if wanted != Wanted(""):
        raise UsageError(
            "a parts list says everything itself",
            why="What is said beside it would count for no line, or for all of them.",
            do=f"Give it a column for that: {', '.join(COLUMNS)}.",
        )
    columns, lines = read_list(path)
    found = judge_list(lines)
    verdicts = [one for _, one in found]
    if form is Form.json:
        typer.echo(fit_json(verdicts))
    else:
        print_list(columns, found)
    next_step("railwright fit ADAPTER --slot SLOT --cable CABLE --switch SWITCH")
    return exit_status(verdicts)
