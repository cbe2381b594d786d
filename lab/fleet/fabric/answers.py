"""What a switch answers: (probe, command, text), in the layout of its system."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lab.fleet.fabric import cumulus, eos, onyx, sonic
from lab.fleet.fabric.model import Fabric, Route, Switch
from lab.fleet.fabric.routes import Routing


class Answered(NamedTuple):
    """One answer: which probe's it is, the command as it was asked, and the text."""

    probe: str
    command: str
    text: str


Renderer = Callable[[Fabric, Switch, list[Route]], Iterator[tuple[str, str, str]]]
_RENDERERS: dict[str, Renderer] = {
    "sonic": sonic.answers,
    "cumulus": cumulus.answers,
    "eos": eos.answers,
    "onyx": onyx.answers,
}


def answers(fabric: Fabric, switch: Switch, routing: Routing) -> list[Answered]:
    """Everything that a switch says."""
    said = _RENDERERS[switch.system](fabric, switch, routing.of(switch))
    return [Answered(*one) for one in said]
