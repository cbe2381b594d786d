"""Writing to switches that are not there: the tools of four systems over the model of a fabric."""

from lab.switch_writes.outcome import Outcome
from lab.switch_writes.state import SAVED, SwitchState
from lab.switch_writes.troubles import TROUBLES, Trouble, possible

__all__ = ["SAVED", "TROUBLES", "Outcome", "SwitchState", "Trouble", "possible"]
