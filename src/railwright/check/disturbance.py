"""What a repair disturbs, in one word: it decides whether a fix waits for a drained host.

A rule that sets something takes the word from its setting, any other from its action; a header's
`disturbs` goes before both. What no document says is unknown, never guessed.
"""

from collections.abc import Iterator

from railwright.settings.setting import setting_of
from railwright.settings.words import DISTURBANCES, LOOK_FIRST, UNKNOWN

_BY_ACTION = {"reseat": "hands on site", "replace": "hands on site", "ask": LOOK_FIRST}


def disturbed(action: str, setting: str) -> str:
    """What a repair disturbs, where its rule does not say it."""
    known = setting_of(setting)
    return known.disturbs if known else UNKNOWN if setting else _BY_ACTION.get(action, UNKNOWN)


def way_back_of(setting: str) -> str:
    """What writing the old value restores; '' if that is not documented, or nothing is set."""
    known = setting_of(setting)
    return known.way_back if known else ""


def remark_on(setting: str, disturbs: str) -> str:
    """What to add to the word; '' if the rule has a word of its own."""
    known = setting_of(setting)
    return known.remark if known and known.disturbs == disturbs else ""


def wrong_disturbance(setting: str, disturbs: str) -> Iterator[str]:
    """What a rule's header can have wrong about it."""
    words = ", ".join(DISTURBANCES)
    if disturbs and disturbs not in DISTURBANCES:
        yield f"unknown disturbance {disturbs!r}; choose one of {words}"
    if setting and not disturbs and not setting_of(setting):
        yield f"unknown setting {setting!r}; if it is right, say what it disturbs: one of {words}"
