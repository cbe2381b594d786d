"""In which order settings are changed: what comes after what, as their files say it."""

from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter

from railwright.errors import RailwrightError
from railwright.settings.setting import Setting


def ordered(chosen: Collection[Setting]) -> list[str]:
    """The ids of these settings, on the way in; the way out is the reverse.

    Switches come before hosts where nothing says otherwise, and what stops less before what stops
    more: a reset applies at once what was written for it.
    """
    here = {one.id: one for one in chosen}
    needs: dict[str, set[str]] = {one: set() for one in here}
    for one in chosen:
        needs[one.id] |= {name for name in one.after if name in here}
        for name in one.before:
            if name in here:
                needs[name].add(one.id)
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        names = " after ".join(error.args[1])
        raise RailwrightError(f"settings wait for each other: {names}") from error
    found: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda name: _rank(here[name]))
        found += ready
        sorter.done(*ready)
    return found


def _rank(setting: Setting) -> tuple[bool, bool, str]:
    return (setting.area != "switch", setting.id == "nic.reset", setting.id)
