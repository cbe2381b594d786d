"""The grammar that all verbs share: what stands behind an option, -h, and completion."""

from collections.abc import Callable
from typing import Any

import typer.core

from railwright.cli import completing

# What the help writes behind an option, or for an argument; a flag has nothing behind it. An option
# that means something else in one verb says so there.
METAVARS = {
    **dict.fromkeys(("--store", "--rules"), "FOLDER"),
    **dict.fromkeys(("--site", "--waivers", "--ssh-config", "--host-file", "--parts"), "FILE"),
    **dict.fromkeys(("snapshot", "before", "now", "--snapshot", "--before"), "SNAPSHOT"),
    **dict.fromkeys(("names", "snapshots"), "SNAPSHOTS"),
    **dict.fromkeys(("rule", "--select", "--ignore"), "RULE"),
    **dict.fromkeys(("probe", "--probe", "--without"), "PROBE"),
    **dict.fromkeys(("host", "--target"), "HOST"),
    **dict.fromkeys(("--nodes", "--on"), "HOSTS"),
    **dict.fromkeys(("--connect-timeout", "--timeout", "--jitter"), "SECONDS"),
    **dict.fromkeys(("--fan-out", "--switch-fan-out", "--gpus", "--nics", "--ports"), "COUNT"),
    **dict.fromkeys(("--adapter-fec", "--switch-fec"), "FEC"),
    **dict.fromkeys(("adapter", "name"), "PART"),
    **dict.fromkeys(("instance", "--instance"), "INSTANCE"),
    **dict.fromkeys(("--fill", "--onto"), "SNAPSHOT"),
    "--try": "HOST",
    "source": "SOURCE",
    "destination": "DESTINATION",
    "--subject": "SUBJECT",
    "subjects": "SUBJECTS",
    "files": "FILES",
    "query": "QUERY",
    "--describe": "TABLE",
    "--severity": "SEVERITY",
    "--format": "FORMAT",
    "--user": "USER",
    "--ssh-option": "OPTION",
    "--srun-argument": "ARGUMENT",
    "--switches": "SWITCHES",
    "--via": "WAY",
    "--megabytes": "MIB",
    "--role": "ROLE",
    "--dscp": "DSCP",
    "--pair": "PORT PORT",
    "--size": "SIZES",
    "--collective": "OPERATION",
    "--gpu": "GPU",
    "--nic-gbps": "GBPS",
    "--cpu": "VENDOR",
    "--slot": "SLOT",
    "--cable": "CABLE",
    "--switch": "MODEL",
    "--length": "METRES",
    "--protocol": "PROTOCOL",
    "--max-payload": "BYTES",
    "--slot-power": "WATTS",
    "--airflow": "LFM",
    "--external-power": "CABLE",
    "--reason": "TEXT",
    "--owner": "NAME",
    "--expires": "DATE",
    "--system": "SYSTEM",
    "--fact": "FACT",
    "--kind": "PROBE",
    "--at": "TIME",
}

FEW = 4  # so many choices stand in the help themselves

_Completer = Callable[[Any, Any, str], list[str]]
COMPLETERS: dict[str, _Completer] = {
    **dict.fromkeys(("snapshot", "before", "now"), completing.snapshots),
    **dict.fromkeys(("--snapshot", "--before", "--fill", "--onto"), completing.snapshots),
    **dict.fromkeys(("names", "snapshots"), completing.snapshots),
    **dict.fromkeys(("rule", "--select", "--ignore"), completing.rules),
    **dict.fromkeys(("probe", "--probe", "--without", "--kind"), completing.probes),
    **dict.fromkeys(("host", "--target", "--try"), completing.machines),
    **dict.fromkeys(("--nodes", "--on"), completing.node_set),
    **dict.fromkeys(("source", "destination", "--subject", "subjects", "--pair"), completing.ports),
    "adapter": completing.adapters,
    "name": completing.parts,
    "--cable": completing.cables,
    "--switch": completing.switches,
    "--severity": completing.severities,
    "--describe": completing.tables,
}


def _key(parameter: Any) -> str:
    """An option by its long name, an argument by its own."""
    is_option = parameter.param_type_name == "option"
    return max(parameter.opts, key=len) if is_option else str(parameter.name)


def choices_of(parameter: Any) -> list[str]:
    """The words that an option takes, if it names them."""
    of = getattr(parameter, "type_descriptor", None) or getattr(parameter, "type", None)
    found = getattr(of, "choices", None) or ()
    return [word for word in (str(getattr(one, "value", one)) for one in found) if word]


def _usual(parameter: Any) -> str | None:
    if getattr(parameter, "is_flag", False):
        return ""
    choices = choices_of(parameter)
    return "|".join(choices) if 0 < len(choices) <= FEW else METAVARS.get(_key(parameter))


def _settle(parameters: list[Any]) -> None:
    for one in parameters:
        usual = _usual(one)
        if one.metavar is None:
            one.metavar = usual
        if one.param_type_name == "argument":  # its name says it; Typer adds Python's type
            one.display_type_rich = lambda **_: None
        # Typer takes this function with each option only; here it is one table for all verbs.
        if _key(one) in COMPLETERS and one.metavar == usual:
            one._custom_shell_complete = COMPLETERS[_key(one)]


class Verb(typer.core.TyperCommand):
    """A command whose help names what its options take."""

    def get_params(self, ctx: Any) -> Any:
        """Its options and arguments, settled when they are first asked for."""
        _settle(self.params)
        return super().get_params(ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """--help is a flag too."""
        return _without_metavar(super().get_help_option(ctx))


class Verbs(typer.core.TyperGroup):
    """The same for a group."""

    def get_params(self, ctx: Any) -> Any:
        """Its options, with those that Typer adds for completion."""
        _settle(self.params)
        return super().get_params(ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """--help is a flag too."""
        return _without_metavar(super().get_help_option(ctx))


def _without_metavar(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option
