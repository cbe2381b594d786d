"""What stands behind the short names of sources: public documents, or judgement.

`review GDR-01` and `reference B9` are names of `rules/sources.toml`, `incident I-003` of
`rules/incidents.toml`. Other words stand for themselves, as those of a site's own rules do.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, cast

from railwright.check.rule import SHIPPED
from railwright.toml import load_toml

_ID = r"(?:[A-Z0-9]+-(?:\d+|[A-Z]+)|EFFECTS|B\d+(?:\.\d+)?)"
JUDGEMENT = "engineering judgement"
_NAMES = re.compile(rf"\b(review|reference|incident) ({_ID}(?:(?:, | and | ){_ID})*)")
_DOCUMENT = re.compile(r"([A-Z][A-Z0-9-]+): ")


def _data(name: str) -> dict[str, Any]:
    return load_toml((SHIPPED / name).read_text("utf-8"), name)


@cache
def documents() -> dict[str, str]:
    """Every document by its key, and where it is."""
    return cast("dict[str, str]", _data("sources.toml")["documents"])


@cache
def reference() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Groups of facts: what they are about, and the keys of their documents."""
    data = _data("sources.toml")["reference"]
    return {name: (one["about"], tuple(one["documents"])) for name, one in data.items()}


@cache
def review() -> dict[str, tuple[str, ...]]:
    """What the condition of a rule rests on: keys of documents, names of incidents and groups."""
    return {name: tuple(keys) for name, keys in _data("sources.toml")["review"].items()}


@cache
def incidents() -> dict[str, str]:
    """The address of every incident."""
    return {name: one["link"] for name, one in _data("incidents.toml").items()}


def names(text: str) -> list[str]:
    """The short names in a text, each with its kind: `review PCI-01`, `incident I-003`, `K-PMA`."""
    found = [f"{kind} {one}" for kind, ids in _NAMES.findall(text) for one in re.findall(_ID, ids)]
    key = _DOCUMENT.match(text)
    return [*found, key[1]] if key and key[1] in documents() else found


def behind(name: str) -> Iterator[str]:
    """Where to look up what a short name stands for, one document after another.

    Nothing for a name that is not ours: a site may have reviews and incidents of its own.
    """
    kind, _, one = name.rpartition(" ")
    if kind == "incident":
        yield from [incidents()[one]] if one in incidents() else []
    elif kind == "reference":
        yield from (documents()[key] for key in reference().get(one, ("", ()))[1])
    elif kind == "review":
        yield from dict.fromkeys(place for key in review().get(one, ()) for place in behind(key))
    else:
        yield documents()[name] if name != "judgement" else JUDGEMENT


def told(sources: Iterable[str]) -> Iterator[str]:
    """The sources of a rule, each with where to look it up below; nothing is said twice.

    The review comes last: most of what it rests on is among the others.
    """
    said: set[str] = set()
    for source in sorted(sources, key=lambda one: one.startswith("review ")):
        yield re.sub(r"^judgement\b", JUDGEMENT, source)
        places = dict.fromkeys(place for name in names(source) for place in behind(name))
        yield from (f"  {place}" for place in places if place not in said)
        said.update(places)
