"""What a lab is made of: how many machines, of which kinds."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from lab.fleet import MODELS
from lab.fleet.fabric import Fabric, Shape, build
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.routes import planned_places
from lab.guest.model import MOST_GUESTS
from lab.live.cluster import MOST_PLANES, MOST_RAILS, Cluster, cluster, lab_fabric
from lab.live.fabric import FabricState
from lab.live.guests import GuestPart
from lab.live.hosts import Hosts
from lab.live.machine import HostMachine
from lab.live.names import nearest
from lab.live.part import LabError, Part
from lab.live.slurm import SlurmPart
from lab.live.switches import Switches

MOST_HOSTS = 512  # each is an open socket of the keeper, and a process usually has 1024 files
MOST_SECONDS_TO_BOOT = 3600  # judgement: who wants longer wants a host that is off
_HOSTS_PER_LEAF = 32
_MOST_LEAVES = 16  # a spine has ports for no more


@dataclass(frozen=True)
class Options:
    """As `lab up` was told."""

    hosts: int = 8
    models: tuple[str, ...] = ()  # () = all, in turns
    rails: int = 0  # more than 0: hosts of one fabric with so many rails
    switches: int = 0
    planes: int = 1  # that the switches stand in
    guests: int = 0
    slurm: bool = False
    seconds_to_boot: float = 2.0

    def text(self) -> str:
        """For the keeper's command line."""
        return json.dumps(asdict(self))


def options_of(text: str) -> Options:
    """The other way round."""
    told = json.loads(text)
    return Options(**{**told, "models": tuple(told["models"])})


def check(options: Options) -> None:
    """Refuse what cannot be built, before anything is."""
    for name, value, most in (
        ("--hosts", options.hosts, MOST_HOSTS),
        ("--rails", options.rails, MOST_RAILS),
        ("--guests", options.guests, MOST_GUESTS),
        ("--seconds-to-boot", options.seconds_to_boot, MOST_SECONDS_TO_BOOT),
    ):
        if not 0 <= value <= most:
            raise LabError(f"{name}: 0 to {most}.")
    for model in options.models:
        if model not in MODELS:
            known = ", ".join(MODELS)
            raise LabError(f"No model is called {model}. {nearest(model, MODELS)} Known: {known}.")
    if options.slurm and not options.hosts:
        raise LabError("--slurm runs on hosts: say --hosts with it.")
    _check_fabric(options)


def _check_fabric(options: Options) -> None:
    if options.rails and options.models:
        raise LabError("--rails makes hosts of one fabric, all of one model: leave --models out.")
    if options.switches and not options.rails:
        raise LabError("--switches: say how many rails they are for, as --rails 8.")
    if not 1 <= options.planes <= MOST_PLANES:
        raise LabError(f"--planes: 1 to {MOST_PLANES}.")
    if options.planes > 1 and not options.switches:
        raise LabError("--planes: say how many switches they have, as --rails 2 --switches 8.")
    if options.switches:
        lab_fabric(options.hosts, options.rails, options.switches, options.planes)
    elif options.rails and options.hosts:  # guests alone have rails, too
        _rails(options)


def _rails(options: Options) -> Fabric:
    """Of hosts that are cabled as one fabric whose switches do not answer."""
    shape = Shape(
        options.hosts, rails=options.rails, hosts_per_leaf=_HOSTS_PER_LEAF, uplinks=32, spines=4
    )
    try:
        return build(shape)
    except ValueError:
        most = _HOSTS_PER_LEAF * _MOST_LEAVES // options.rails
        words = f"at most {most} hosts, its spines have no more ports."
        raise LabError(f"--rails {options.rails}: {words}") from None


def _cluster(options: Options) -> Cluster:
    return cluster(options.hosts, options.rails, options.switches, options.planes)


def machines(options: Options) -> list[HostMachine]:
    """The hosts, healthy."""
    if options.switches:
        return list(_cluster(options).machines)
    if options.rails and options.hosts:
        fabric = _rails(options)
        places = planned_places(fabric)
        return [
            HostMachine("hgx_h100", host_model(fabric, number, places))
            for number in range(options.hosts)
        ]
    kinds = options.models or tuple(MODELS)
    return [
        HostMachine(kind, MODELS[kind](turn + 1))
        for turn, kind in (
            (number // len(kinds), kinds[number % len(kinds)]) for number in range(options.hosts)
        )
    ]


def _switches(options: Options, hosts: Hosts) -> Part:
    made = _cluster(options)
    return Switches(FabricState(made.fabric), hosts.rebase, made.texts())


# Parts beyond hosts, by the name of their option: each is made of the options and the hosts.
MORE_PARTS: dict[str, Callable[[Options, Hosts], Part]] = {
    "switches": _switches,
    "slurm": lambda _, hosts: SlurmPart(hosts),
    "guests": lambda options, _: GuestPart(options.guests, options.rails),
}


def parts(options: Options) -> tuple[Hosts, list[Part]]:
    """The hosts, and everything in the order in which it comes up."""
    hosts = Hosts(machines(options), options.seconds_to_boot)
    more = [make(options, hosts) for name, make in MORE_PARTS.items() if getattr(options, name)]
    return hosts, [hosts, *more]
