"""`railwright fit`: whether parts belong together, before they are bought."""

from pathlib import Path

import typer

from railwright.cli.common import FORMAT, JSON, Form
from railwright.design.parts_list import COLUMNS, Wanted, build_of, judge_list, judged, read_list
from railwright.errors import UsageError
from railwright.report.console import next_step, output
from railwright.report.fit import fit_json, fit_status, print_fit, print_list
from railwright.report.screen import Screen


def fit(
    adapter: str | None = typer.Argument(
        None, help="Part number of the adapter, e.g. MCX755106AS-HEAT."
    ),
    slot: str = typer.Option(
        "", help="PCIe slot: gen5x16, gen4x16+gen4x16 (card with two interfaces) or ocp3-gen5x16."
    ),
    cable: str = typer.Option(
        "", help="Cable: part number, or SWITCH_MODULE+FIBRE+ADAPTER_MODULE."
    ),
    switch: str = typer.Option("", help="Model of the switch, e.g. SN5600."),
    length: str = typer.Option("", help="Cable length, in metres."),
    ports: str = typer.Option("", help="Number of adapter ports in use. Default: all."),
    protocol: str = typer.Option(
        "", help="Ethernet or InfiniBand. Default: what all parts support."
    ),
    max_payload: str = typer.Option(
        "", help="PCIe max payload of the slot, in bytes. Default: 256."
    ),
    slot_power: str = typer.Option("", help="Power of the slot, in watts."),
    airflow: str = typer.Option("", help="Airflow at the slot, in LFM."),
    external_power: str = typer.Option(
        "", help="External power cable of the server: none, 8-pin ATX."
    ),
    adapter_fec: str = typer.Option("", help="Adapter FEC: none, fc, rs or ll. Default: auto."),
    switch_fec: str = typer.Option("", help="Switch FEC: none, fc, rs or ll. Default: auto."),
    sources: bool = typer.Option(False, "--sources", help="Print the source of each statement."),
    parts: Path | None = typer.Option(
        None, "--parts", help="Check a parts list (CSV) and print it with verdicts."
    ),
    form: Form = FORMAT,
    as_json: bool = JSON,
) -> None:
    """Check whether an adapter, a slot, a cable and a switch port fit together.

    Exits 1 if something does not fit or is limited, 3 if something is not documented.
    """
    form = Form.json if as_json else form
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
            "no adapter given",
            do="For example: railwright fit MCX755106AS-HEAT --slot gen4x16, or "
            "railwright fit --parts list.csv",
        )
    build = build_of(wanted)
    found = judged(wanted, build)
    status = fit_status([found.verdict])
    if form is Form.json:
        typer.echo(fit_json([found], status))
    else:
        print_fit(Screen(output()), build, found.verdict, sources=sources)
    next_step(f"railwright hardware {build.adapter.name}")
    raise typer.Exit(status)


def _parts_list(path: Path, wanted: Wanted, form: Form) -> int:
    if wanted != Wanted(""):
        raise UsageError(
            "--parts cannot be combined with options that describe parts",
            do=f"Put them in columns of the parts list: {', '.join(COLUMNS)}.",
        )
    columns, lines = read_list(path)
    found = judge_list(lines)
    verdicts = [one for _, one in found]
    status = fit_status([one.verdict for one in verdicts])
    if form is Form.json:
        typer.echo(fit_json(verdicts, status))
    else:
        print_list(columns, found)
    next_step("railwright fit ADAPTER --slot SLOT --cable CABLE --switch SWITCH")
    return status
