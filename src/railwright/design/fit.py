"""`railwright fit`: do an adapter, a slot, a cable and a switch port belong together?

Each question is judged by itself, from the parts that it is about. A question about a part that was
not named is not asked: nothing is said about it, and it cannot be said to work.
"""

from dataclasses import replace

from railwright.design.build import Build, Item, Verdict
from railwright.design.host import card_items, server_items, slot_items
from railwright.design.link import connector_items, length_items, link_items, protocol_items
from railwright.design.names import is_documented


def fit(build: Build) -> Verdict:
    """The verdict on one build."""
    questions = (
        slot_items,
        card_items,
        connector_items,
        protocol_items,
        link_items,
        length_items,
        server_items,
    )
    items = tuple(_known(build, item) for question in questions for item in question(build))
    # No question is no answer: a card alone neither works nor does not.
    return Verdict(items or (_alone(build),))


def _known(build: Build, item: Item) -> Item:
    """Of a part of which only the beginning is known it is never said that it does not work."""
    parts = [part.name for part in (build.adapter, build.cable, build.switch) if part]
    guessed = [name for name in parts if not is_documented(name)]
    if item.state != "does not" or not guessed:
        return item
    why = f"{item.why}; but of {' and '.join(guessed)} only the beginning is known"
    return replace(item, state="not documented", why=why)


def _alone(build: Build) -> Item:
    why = "nothing is named that the adapter could be judged with: a slot, a cable or a switch"
    return Item("build", "not documented", why, sources=build.adapter.source)


def not_asked(build: Build) -> list[str]:
    """The parts that nothing was said about."""
    parts = {
        "slot": build.slot,
        "cable": build.cable,
        "switch": build.switch,
        "length": build.length_m if build.cable else True,
        "slot power": build.server.slot_power_w,
        "airflow": build.server.airflow_lfm,
    }
    return [name for name, part in parts.items() if part is None]
