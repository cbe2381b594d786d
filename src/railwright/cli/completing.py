"""What a shell offers behind Tab. It is fast, and whatever goes wrong, it offers nothing.

Each function takes what Typer gives: the context, the parameter and what was typed so far.
"""

import os
from collections.abc import Callable, Iterable, MutableMapping
from functools import wraps
from pathlib import Path
from typing import Any

from railwright.config import store_folder

_PACKAGE = Path(__file__).parent.parent
VARIABLE = "_RAILWRIGHT_COMPLETE"
# What the shell has in front of the word that it replaces: bash parts words at a colon.
_BEFORE_COLON = "_RAILWRIGHT_COMPLETE_BEFORE"
MOST = 500  # a list that nobody reads takes seconds to print

_Asked = Callable[[Any, str], Iterable[str]]
_Offered = Callable[[Any, Any, str], list[str]]


def asked() -> str | None:
    """The verb whose words a shell wants completed; None where no shell asks."""
    if VARIABLE not in os.environ:
        return None
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    words = typed.split()
    at = os.environ.get("COMP_CWORD") or str(len(words) - (not typed[-1:].isspace()))
    return words[1] if len(words) > 1 and at.isdigit() and int(at) > 1 else ""


def answer_the_first_tab() -> None:
    """zsh reads a completion at the first Tab. Typer's only defines a function then, and that Tab
    does nothing: it has to call the function too, as it would from the second one on."""
    from typer import _completion_shared as shared  # noqa: PLC0415 (private; as of Typer 0.12)

    scripts = getattr(shared, "_completion_scripts", {})
    if "zsh" in scripts and "loadautofunc" not in scripts["zsh"]:
        scripts["zsh"] += (
            '[[ ${zsh_eval_context[-1]} == loadautofunc ]] && %(complete_func)s "$@"\n'
        )


def join_at_colons(environment: MutableMapping[str, str]) -> None:
    """What bash has parted at a colon (gpu1 : mlx5_0) is one word again."""
    words = environment.get("COMP_WORDS", "").split()
    at = environment.get("COMP_CWORD", "")
    if ":" not in words or not at.isdigit():
        return
    place = int(at)
    if place < len(words) and words[place] == ":":  # the cursor is right behind it
        words.insert(place + 1, "")
        place += 1
    joined: list[str] = []
    now = len(words)
    for number, word in enumerate([*words, *[""] * (place + 1 - len(words))]):
        glued = number > 1 and (word == ":" or words[number - 1] == ":")
        if glued:
            joined[-1] += word
        else:
            joined.append(word)
        if number == place:
            now = len(joined) - 1
            environment[_BEFORE_COLON] = joined[-1][: len(joined[-1]) - len(word)] if glued else ""
    environment["COMP_WORDS"] = " ".join(joined)
    environment["COMP_CWORD"] = str(now)


def _offers(find: _Asked) -> _Offered:
    @wraps(find)
    def offered(context: Any, _parameter: Any, typed: str) -> list[str]:
        try:
            found = [one for one in find(context, typed) if one.startswith(typed)]
        except Exception:  # whatever it is: a shell that waits is no place for words
            return []
        cut = len(os.environ.get(_BEFORE_COLON, ""))
        return [one[cut:] for one in sorted(set(found))[:MOST]]

    return offered


def _rows(context: Any, table: str, query: str, *values: str) -> list[tuple[str, ...]]:
    """Of the snapshot that was named, else of the latest."""
    from railwright.store.lookup import find  # noqa: PLC0415 (DuckDB, only where it is asked)

    store = store_folder(context.params.get("store"))
    wanted = context.params.get("snapshot") or context.params.get("named")
    with find(store, wanted).database(*table.split()) as database:
        return [tuple(row) for row in database.execute(query, list(values)).fetchall()]


@_offers
def snapshots(context: Any, _typed: str) -> Iterable[str]:
    """Names of the store's snapshots."""
    from railwright.store.snapshot import snapshots as stored  # noqa: PLC0415

    return [path.name for path in stored(store_folder(context.params.get("store")))]


@_offers
def rules(_context: Any, _typed: str) -> Iterable[str]:
    """Rules and topics, by the names of their files: to read them all takes too long."""
    files = (_PACKAGE / "rules").glob("*/*.sql")
    return [name for f in files for name in (f.stem.replace("_", "-"), f.parent.name)]


@_offers
def probes(_context: Any, _typed: str) -> Iterable[str]:
    """Probes."""
    return [file.stem for file in (_PACKAGE / "collect/probes").glob("*.toml")]


def _machines(context: Any) -> list[str]:
    return [name for (name,) in _rows(context, "target", "SELECT target FROM target")]


@_offers
def machines(context: Any, _typed: str) -> Iterable[str]:
    """Hosts and switches."""
    return _machines(context)


@_offers
def node_set(context: Any, typed: str) -> Iterable[str]:
    """The last name of a list."""
    before = typed[: typed.rfind(",") + 1]
    return [before + name for name in _machines(context)]


@_offers
def ports(context: Any, typed: str) -> Iterable[str]:
    """Machines; behind HOST: its RDMA devices, network devices and PCI addresses of NICs."""
    host, colon, _ = typed.partition(":")
    if not colon:
        return [f"{name}:" for name in _machines(context)] + _machines(context)
    query = (
        "SELECT device FROM rdma_device WHERE target = $1 UNION SELECT pci FROM rdma_device "
        "WHERE target = $1 UNION SELECT name FROM netdev WHERE target = $1 AND kind = 'physical'"
    )
    found = _rows(context, "rdma_device netdev", query, host)
    return [f"{host}:{name}" for (name,) in found if name]


@_offers
def adapters(_context: Any, _typed: str) -> Iterable[str]:
    """Part numbers of adapters."""
    from railwright.hardware.parts import adapters as rows  # noqa: PLC0415

    return rows()


@_offers
def cables(_context: Any, _typed: str) -> Iterable[str]:
    """Part numbers of cables."""
    from railwright.hardware.parts import cables as rows  # noqa: PLC0415

    return rows()


@_offers
def switches(_context: Any, _typed: str) -> Iterable[str]:
    """Models of switches."""
    from railwright.hardware.parts import switches as rows  # noqa: PLC0415

    return rows()


@_offers
def parts(context: Any, typed: str) -> Iterable[str]:
    """Adapters, switches and cables."""
    return [name for kind in (adapters, switches, cables) for name in kind(context, None, typed)]


@_offers
def severities(_context: Any, _typed: str) -> Iterable[str]:
    """Severities."""
    from railwright.check.rule import SEVERITIES  # noqa: PLC0415

    return SEVERITIES


@_offers
def tables(_context: Any, _typed: str) -> Iterable[str]:
    """Tables of a snapshot."""
    from railwright.schema.table import table_names  # noqa: PLC0415

    return table_names()
