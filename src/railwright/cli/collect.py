"""`railwright collect`: read hosts, change nothing, write a snapshot."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import typer

from railwright.cli.common import JSON, STORE
from railwright.collect import explain, explain_switches, preflight, sudoers
from railwright.collect.probe import select
from railwright.collect.session import Joined, Session, collect_snapshot
from railwright.collect.switch import systems
from railwright.collect.switch_run import FAN_OUT, LARGEST_SESSION, LONGEST_SESSION_S, SwitchPlan
from railwright.config import own_store, site_file
from railwright.errors import UsageError
from railwright.reach.job import Limits
from railwright.reach.ssh import SshOptions
from railwright.reach.targets import Targets, find_targets, parse_node_set, parse_switches
from railwright.report.collected import Collected, collected, tell_collected
from railwright.report.console import next_step, output, remarks
from railwright.report.progress import Progress
from railwright.report.status import exit_status
from railwright.start import INTERRUPTED


class Via(str, Enum):
    """How machines are reached."""

    SSH = "ssh"
    SLURM = "slurm"
    LOCAL = "local"


class StateFrom(str, Enum):
    """Who says which hosts are out of service."""

    AUTO = "auto"
    SLURM = "slurm"
    KUBERNETES = "kubernetes"
    NONE = "none"


DEFAULT = Limits()
WHICH, HOW, LIMITS, FIRST = "Which hosts", "How", "Limits per host", "Look before you read"


def collect(
    nodes: list[str] = typer.Option(
        [],
        "-w",
        "--nodes",
        help="Hosts to read, e.g. gpu[001-512] or @slurm:gpu.",
        rich_help_panel=WHICH,
    ),
    host_file: str = typer.Option(
        "",
        "-f",
        "--host-file",
        help="Read host names from a file; - is stdin.",
        rich_help_panel=WHICH,
    ),
    kubernetes: bool = typer.Option(
        False, "--kubernetes", help="Read the nodes that kubectl lists.", rich_help_panel=WHICH
    ),
    fill: str = typer.Option(
        "",
        metavar="SNAPSHOT",
        help="Read only what is missing in SNAPSHOT, then merge both.",
        rich_help_panel=WHICH,
    ),
    onto: str = typer.Option(
        "",
        metavar="SNAPSHOT",
        help="Read these hosts again and replace them in SNAPSHOT ('latest' is the newest).",
        rich_help_panel=WHICH,
    ),
    site: Path | None = typer.Option(
        None,
        help="Site file, as for check; hosts in its table out_of_service are excluded.",
        rich_help_panel=WHICH,
    ),
    state_from: StateFrom = typer.Option(
        StateFrom.AUTO,
        metavar="SOURCE",
        help="Where to ask which hosts are out of service: auto, slurm, kubernetes or none.",
        rich_help_panel=WHICH,
    ),
    switches: list[str] = typer.Option(
        [],
        help="Switches to read, e.g. leaf[01-04]=sonic,spine[01-02]=eos; 'site' takes those of the "
        "site file.",
        rich_help_panel=WHICH,
    ),
    via: Via = typer.Option(Via.SSH, help="How to reach the hosts.", rich_help_panel=HOW),
    user: str = typer.Option(
        "",
        "-l",
        "--user",
        help="ssh user. Default: from the ssh configuration.",
        rich_help_panel=HOW,
    ),
    ssh_option: list[str] = typer.Option(
        [],
        "-o",
        "--ssh-option",
        help="ssh option, e.g. ProxyJump=bastion. Repeatable.",
        rich_help_panel=HOW,
    ),
    ssh_config: Path | None = typer.Option(
        None, "-F", "--ssh-config", help="ssh configuration file.", rich_help_panel=HOW
    ),
    slurm_argument: list[str] = typer.Option(
        [],
        "--srun-argument",
        help="srun argument, e.g. --partition=gpu. Repeatable.",
        rich_help_panel=HOW,
    ),
    become: bool = typer.Option(
        False,
        "--become",
        help="Use sudo, once per host, for the probes that need root.",
        rich_help_panel=HOW,
    ),
    probe: list[str] = typer.Option(
        [], help="Run only this probe. Repeatable.", rich_help_panel=HOW
    ),
    without: list[str] = typer.Option([], help="Skip this probe. Repeatable.", rich_help_panel=HOW),
    fan_out: int = typer.Option(
        DEFAULT.fan_out,
        min=1,
        max=4096,
        help="Hosts read at the same time.",
        rich_help_panel=LIMITS,
    ),
    switch_fan_out: int = typer.Option(
        FAN_OUT, min=1, max=1024, help="Switches read at the same time.", rich_help_panel=LIMITS
    ),
    connect_timeout: float = typer.Option(
        DEFAULT.connect_s, min=1, help="Connection timeout, in seconds.", rich_help_panel=LIMITS
    ),
    timeout: float = typer.Option(
        DEFAULT.total_s, min=5, help="Total time per host, in seconds.", rich_help_panel=LIMITS
    ),
    jitter: float = typer.Option(
        0.0,
        min=0,
        help="Random delay before connecting, up to this many seconds.",
        rich_help_panel=LIMITS,
    ),
    megabytes: int = typer.Option(
        DEFAULT.bytes >> 20, min=1, help="Maximum output per host, in MiB.", rich_help_panel=LIMITS
    ),
    explain_only: bool = typer.Option(
        False,
        "--explain",
        help="Print every command and file; contact no host.",
        rich_help_panel=FIRST,
    ),
    sudoers_only: bool = typer.Option(
        False,
        "--sudoers",
        help="Print the minimal sudo policy; contact no host.",
        rich_help_panel=FIRST,
    ),
    try_host: str = typer.Option(
        "",
        "--try",
        metavar="HOST",
        help="Test access to one host, or to a switch (leaf01=sonic); stores nothing.",
        rich_help_panel=FIRST,
    ),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Read hosts and switches and write a snapshot. Changes and installs nothing on them.

    Exits 3 if not everything could be read.
    """
    probes = select(probe, without)
    if as_json and (explain_only or sudoers_only or try_host):
        raise UsageError(
            "--json cannot be combined with --explain, --sudoers or --try",
            do="Leave it out: these print text only.",
        )
    if explain_only:
        _print(explain.explained(probes))
        _print(explain_switches.explained([*systems().values()]))
        return
    if sudoers_only:
        _print(sudoers.fragment(probes, user))
        return
    limits = Limits(connect_timeout, timeout, megabytes << 20, fan_out, jitter)
    folder = own_store(store)
    described = site_file(site, folder)
    options = SshOptions(user, tuple(ssh_option), ssh_config)
    asked = [try_host] if "=" in try_host else switches
    boxes = parse_switches(asked, systems(), described)
    bounds = Limits(
        connect_timeout,
        max(timeout, LONGEST_SESSION_S),
        max(megabytes << 20, LARGEST_SESSION),
        switch_fan_out,
        jitter,
    )
    plan = SwitchPlan(boxes, options, bounds) if boxes else None
    session = Session(
        via.value, tuple(probes), limits, become, options, tuple(slurm_argument), plan
    )
    if try_host:
        raise typer.Exit(_try(session, try_host, via))
    if fill and onto:
        raise UsageError("--fill and --onto cannot be combined", do="Use one of them.")
    targets = _targets(nodes, host_file, via, kubernetes, state_from, described, fill, boxes)
    with Progress(remarks()) as progress:
        snapshot = collect_snapshot(session, targets, folder, Joined(fill, onto), progress.show)
    told = collected(snapshot)
    interrupted = snapshot.run.get("interrupted")
    status = INTERRUPTED if interrupted else exit_status(unknown=not told.is_whole)
    tell_collected("collect", told, status, as_json=as_json)
    next_step("railwright check" if told.answered or not told.targets else _attempt(told, via))
    raise typer.Exit(status)


def _attempt(told: Collected, via: Via) -> str:
    """What says why a machine was not reached: nothing was, so there is nothing to look at."""
    one = told.targets[0]
    systems_of = told.snapshot.run.get("switch_systems")
    system = systems_of.get(one.target) if isinstance(systems_of, dict) else None
    if system:
        return f"railwright collect --try {one.target}={system}"
    way = "" if via is Via.SSH else f" --via {via.value}"
    return f"railwright collect{way} --try {one.target}"


def _print(lines: Iterable[str]) -> None:
    console = output()
    for line in lines:
        console.print(line, soft_wrap=True)


def _try(session: Session, named: str, via: Via) -> int:
    """The preflight of one host, or of one switch: --try leaf01=sonic."""
    if session.switches is not None and "=" in named:
        if len(session.switches.systems) != 1:
            raise UsageError("--try needs exactly one switch", do="Name one: --try leaf01=sonic.")
        tried, again = preflight.try_switch(session.switches), f"--switches {named}"
    else:
        tried, again = preflight.try_host(session, _one_host(named)), f"-w {named}"
    _print(tried.lines)
    way = "" if via is Via.SSH else f" --via {via.value}"
    next_step(f"railwright collect{way} {again if tried.answered else f'--try {named}'}")
    return exit_status(unknown=not tried.ready)


def _one_host(text: str) -> str:
    names = parse_node_set(text)
    if len(names) != 1:
        raise UsageError(
            f"--try needs exactly one host, not {len(names)}", do="Name one: --try gpu001."
        )
    return names[0]


def _targets(
    nodes: list[str],
    host_file: str,
    via: Via,
    kubernetes: bool,
    state_from: StateFrom,
    site: Path | None,
    fill: str,
    switches: dict[str, str],
) -> Targets:
    if via is Via.LOCAL and not (nodes or host_file or kubernetes or fill or switches):
        nodes = ["localhost"]
    targets = find_targets(
        nodes,
        host_file=host_file or None,
        kubernetes=kubernetes,
        state_from=state_from.value,
        site=site,
        switches=switches,
    )
    if not targets.names and not fill and not switches:
        raise UsageError(
            "no hosts given",
            do="For example: railwright collect -w gpu[001-512], -w @slurm:gpu, -f hosts.txt, "
            "--kubernetes, or --via local for this machine.",
        )
    return targets
