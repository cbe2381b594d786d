"""What a model of server always has: servers.toml, as SQL."""

import re
from dataclasses import dataclass

from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Server(Row):
    """A model, by maker and name as its firmware gives them."""

    gpus: int  # on one board: none of them can have been left out


def servers() -> dict[str, Server]:
    """All that are known."""
    return load_rows(Server, "servers.toml")


def _key(name: str) -> str:
    """As host_class compares names."""
    return re.sub("[ _-]+", "", name).lower()


def board_gpus(key: str) -> str:
    """SQL: the GPUs of the model with this key; NULL where it is not known."""
    cases = " ".join(f"WHEN '{_key(name)}' THEN {one.gpus}" for name, one in servers().items())
    return f"CASE {key} {cases} END"
