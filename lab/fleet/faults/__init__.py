"""Faults that a host can have, each with what must be said about it: declared, by reasoning.

To add a topic, add a file to this folder: it is found by being here. It has one name, FAULTS, a
tuple of `Fault` (see fault.py). A fault says

    name        unique over all topics
    rule        the id of the rule that it is for
    models      the host models that can have it, names of lab.fleet.MODELS
    at          what it strikes: host, rail (a compute card that the host can use itself), storage,
                virtual (a virtual function), gpu
    change      what becomes of the host; made of the words of change.py, or a function
                Place -> HostModel. What several tools tell goes into the model: renderers render it
    before      how the host was in the earlier snapshot; left out = as now (nothing rises),
                `untouched` = healthy. `rebooted` gives the earlier snapshot another boot id
    site        which of the model's site files it needs (sites.py)
    severity    of what is expected, where it matters: the rule grades, or a role is only inferred

and declares, from the rule's text and the facts behind it and never from a run:

    expects     what the fault's own rule finds: "RULE subject"
    implies     findings of other rules that follow from it
    hides       verdicts that become unknown because what they need can no longer be read
    excuses     verdicts that no longer apply because of it; matters where faults meet. "* {port}":
                the port is no longer there, whatever the rule
    clashes     names of faults with which it means something else on one host
    needs_peers it, or what it hides, is told by comparing like hosts: not declared for a host that
                another fault makes a kind of its own, where some is unknown and some does not apply

A subject is a text with {host}, {nic}, {port}, {device} or {gpu} of the place that was struck, with
{twin_port}, which is the same port of the fleet's first host, with {third}, which is the fleet's
third host, or with a word that stands for several: {rails} and {ports} (of compute; of compute and
storage), {nics} (compute cards), {cards} (all cards), {gpus}. Everything that is not declared must
stay as on a healthy host.

Where two faults meet, what is excused is not said, and what is hidden is unknown, whatever else
is declared (`together`).

Nothing here knows who reads it: no rule, no parser, no test is imported.
"""

import pkgutil
from functools import cache
from importlib import import_module

from lab.fleet.faults.fault import Declared, Fault, Injection, earlier, together
from lab.fleet.faults.place import Place, places

__all__ = [
    "Declared",
    "Fault",
    "Injection",
    "Place",
    "all_faults",
    "earlier",
    "places",
    "together",
]


@cache
def all_faults() -> dict[str, Fault]:
    """Every declared fault by its name."""
    found: dict[str, Fault] = {}
    for module in pkgutil.iter_modules(__path__):
        topic = import_module(f"{__name__}.{module.name}")
        for fault in getattr(topic, "FAULTS", ()):
            if fault.name in found:
                raise ValueError(f"two faults are called {fault.name}")
            found[fault.name] = fault
    return found
