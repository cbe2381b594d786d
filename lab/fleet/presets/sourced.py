"""Presets as TOML: a table each, `like` another, and a source for every value."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same code, before it entered the standard library

_ABOUT = frozenset({"meaning", "source", "sources", "like"})


def _whole(
    name: str, listed: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Values and the source of each, those of the one that it is like included."""
    own = listed[name]
    unknown = set(own.get("sources", {})) - set(own)
    if not own.get("source") or not own.get("meaning") or unknown:
        raise ValueError(
            f"preset {name}: needs meaning and source; idle sources: {unknown or 'none'}"
        )
    values, sources = _whole(own["like"], listed) if "like" in own else ({}, {})
    values = {**values, **{key: value for key, value in own.items() if key not in _ABOUT}}
    fresh = {key: own["source"] for key in own if key not in _ABOUT}
    values["meaning"] = own["meaning"]
    return values, {**sources, **fresh, **own.get("sources", {})}


def read(file: Path, known: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Presets of a file by name; each has `sources`, by the name of the value."""
    with file.open("rb") as text:
        listed = tomllib.load(text)
    found = {}
    for name in listed:
        values, sources = _whole(name, listed)
        strange = set(values) - {*known, "meaning"}
        if strange:
            raise ValueError(f"{file.name} {name}: no such values: {sorted(strange)}")
        found[name] = {**values, "sources": sources}
    return found
