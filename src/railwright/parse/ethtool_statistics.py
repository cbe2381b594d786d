"""`ethtool -S NETDEV`: the counters of an interface that counters.toml knows; the rest stays in the
evidence. Of JSON (`--groups ...`) the standard counters that mlx5 prints under a name of its own.

Names are matched whole: rx0_packets is one ring of many, rx_packets their sum.
"""

import re
from collections.abc import Iterable, Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.ethtool_text import json_objects, json_text, refuse, whole_number
from railwright.schema.counters import counter_names, standard_names

# A line of any driver's counters: some print `[0]: name: 5`. Some copies lack the heading: then
# most lines must be counters, for `name: 5` stands in the output of many a command.
_COUNTER = re.compile(
    r"^[ \t]{0,40}(?:\[[0-9]{1,5}\]: )?[A-Za-z][^\n:]{0,63}:[ \t]{1,40}-?[0-9]{1,40}[ \t]{0,40}\n",
    re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]{0,40}NIC statistics:", re.MULTILINE)


def _is_mostly_counters(text: str) -> bool:
    lines = sum(1 for line in text.split("\n")[:-1] if line.strip())
    return 2 * len(_COUNTER.findall(text)) > lines


def _known(text: str) -> Iterator[tuple[str, str]]:
    """The known counters as printed. Of thousands of lines most are rings: no regex for each.

    A last line without its newline is left out: its number may have been cut.
    """
    known = counter_names("ethtool")
    for line in text.split("\n")[:-1]:
        name, _, said = line.partition(":")
        name = name.strip()
        if name in known:
            yield name, said.strip()


def _rows(netdev: str, printed: Iterable[tuple[str, str]]) -> Iterator[Row]:
    values: dict[str, int | None] = {}
    for name, said in printed:
        value = whole_number(said)
        # One that is printed twice, and differs, is not known.
        values[name] = value if values.get(name, value) == value else None
    for name, value in values.items():
        yield Row("netdev_counter", {"netdev": netdev, "counter": name, "value": value})


def _standard(entry: dict[str, object]) -> list[tuple[str, str]]:
    names = standard_names()
    return [
        (names[f"{group}.{name}"], json_text(value) or "")
        for group, members in entry.items()
        if isinstance(members, dict)
        for name, value in members.items()
        if f"{group}.{name}" in names
    ]


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table netdev_counter. A driver with other counters gives no rows, and is understood."""
    text = text_of(data)
    objects = json_objects(text)
    if objects is not None:
        if len(objects) > 1:
            raise NotUnderstoodError(f"{len(objects)} interfaces where one was asked for")
        printed = json_text(objects[0].get("ifname")) or ""
        if instance and printed and instance != printed:
            raise NotUnderstoodError(f"asked about {instance}, answered about {printed[:40]}")
        if not any(isinstance(group, dict) for group in objects[0].values()):
            raise NotUnderstoodError("JSON without counters")
        return _rows(instance or printed, _standard(objects[0]))
    if not _HEADING.search(text) and not _is_mostly_counters(text):
        refuse(text, "no counters")
    return _rows(instance, _known(text))
