"""Changes of settings: what differs, for the log; and what a change of a port does to its link."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

from lab.fleet.fabric.setting import Setting, count

# What a port is told, as against what has become of it.
_STATE = ("counters", "up")
FIELDS = tuple(one.name for one in fields(Setting) if one.name not in _STATE)
_FLAP = ("link_changes", -1)


def plain(value: Any) -> Any:
    """As JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def port_changes(
    names: Iterable[str], before: Iterable[Setting], after: Iterable[Setting]
) -> Iterator[dict[str, Any]]:
    """What differs; ports that changed alike are one record."""
    found: dict[str, dict[str, Any]] = {}
    for name, was, now in zip(names, before, after, strict=True):
        if was is now:
            continue
        for field in FIELDS:
            old, new = getattr(was, field), getattr(now, field)
            if old != new:
                record = {"field": field, "before": plain(old), "after": plain(new)}
                found.setdefault(str(record), {"ports": [], **record})["ports"].append(name)
    yield from found.values()


def row_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same of two CONFIG_DBs, field by field."""
    for table in sorted({*before, *after}):
        rows, others = before.get(table, {}), after.get(table, {})
        for key in sorted({*rows, *others}) if rows != others else ():
            was, now = rows.get(key, {}), others.get(key, {})
            if not isinstance(was, Mapping) or not isinstance(now, Mapping):
                continue
            for field in sorted({*was, *now}):
                if was.get(field) != now.get(field):
                    yield {"key": f"{table}|{key}", "field": field, "before": was.get(field),
                           "after": now.get(field)}  # fmt: skip


def moved(setting: Setting, was: Setting, now: Setting) -> Setting:
    """A setting with what changed between two others."""
    values = {
        field: getattr(now, field)
        for field in (*FIELDS, *_STATE)
        if getattr(was, field) != getattr(now, field)
    }
    return replace(setting, **values) if values else setting


def kept_state(config: Setting, running: Setting) -> Setting:
    """A setting that is loaded again: what was counted stays counted."""
    return replace(config, counters=running.counters, up=running.up)


def bounced(setting: Setting) -> Setting:
    """The link went down and came back."""
    counters = {**setting.counters, _FLAP: count(setting, "link_changes") + 2}
    return replace(setting, counters=counters)


def in_force(was: Setting, now: Setting) -> Setting:
    """What follows from what is asked for: which FEC runs."""
    if now.fec_asked == was.fec_asked:
        return now
    return replace(now, fec="rs" if now.fec_asked == "auto" else now.fec_asked)
