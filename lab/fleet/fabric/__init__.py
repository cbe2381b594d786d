"""Fabrics that are not there: switches, links between them and hosts, and what switches answer.

    fabric = build(SHAPES["mixed"])                       machines and links, as columns
    answers(fabric, fabric.switches[0], Routing(fabric))  (probe, command, text) of one switch

Switches are in a preset of their vendor where a shape says so (`presets/`), else as the profile
roce-lossless asks for; hosts are in one of `lab.fleet.presets`. Faults change a copy; they are in
lab/fleet/faults/switch*.py. As everywhere in lab.fleet, nothing here knows who reads it.
"""

from lab.fleet.fabric.answers import Answered, answers
from lab.fleet.fabric.model import End, Fabric, Heard, Route, Switch
from lab.fleet.fabric.named_shapes import SHAPES
from lab.fleet.fabric.routes import Routing
from lab.fleet.fabric.shapes import Shape, build

__all__ = [
    "SHAPES",
    "Answered",
    "End",
    "Fabric",
    "Heard",
    "Route",
    "Routing",
    "Shape",
    "Switch",
    "answers",
    "build",
]
