"""Which module speaks which system's words."""

from lab.switch_writes.driver import Driver
from lab.switch_writes.eos import Eos
from lab.switch_writes.nvue import Nvue
from lab.switch_writes.onyx import Onyx
from lab.switch_writes.sonic import Sonic

_DRIVERS: dict[str, type[Driver]] = {"sonic": Sonic, "cumulus": Nvue, "eos": Eos, "onyx": Onyx}


def driver_of(system: str) -> type[Driver]:
    """The tools of a system."""
    return _DRIVERS[system]
