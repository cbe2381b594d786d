"""What is sent: RoCE data, and the CNP that answers marks."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import duckdb

from railwright.errors import UsageError
from railwright.fabric.ends import End
from railwright.intent.site import Site

SITE = "the site file"


class Packet(NamedTuple):
    """A packet, and who says what it is sent with."""

    name: str  # data, CNP or InfiniBand
    dscp: int | None
    dscp_from: str  # '' = nobody
    aside: str = ""  # why the site file says nothing of its class; '' = it is what the site means

    @property
    def is_meant(self) -> bool:
        """Whether it is what the site file means by its data and CNPs."""
        return not self.aside

    @property
    def kind(self) -> str:
        """Whose rules it is judged by: what the site means for data it does not mean for others."""
        return self.name if self.is_meant else "other"


def class_at(end: End, dscp: int | None) -> int | str | None:
    """The class that an end gives; '.' = its map has none, None = not known."""
    if dscp is None or end.trust is None or end.dscp_classes is None or len(end.dscp_classes) < 64:
        return None
    found = end.dscp_classes[dscp]
    return None if found == "?" else "." if found == "." else int(found)


def classes_at(ends: Iterable[End], dscp: int | None) -> frozenset[int]:
    """The classes that packets get at some ends, as far as they are known."""
    return frozenset(one for end in ends if isinstance(one := class_at(end, dscp), int))


def _own_dscp(database: duckdb.DuckDBPyConnection, source: End) -> tuple[int | None, str]:
    """What the sender's kernel gives to queue pairs, where it is set."""
    found = database.execute(
        "SELECT traffic_class, default_tos FROM roce_tos WHERE target = ? AND device = ? LIMIT 1",
        [source.target, source.device],
    ).fetchone()
    if found and found[0] is not None and found[0] >= 0:
        return found[0] >> 2, f"traffic_class of {source.target}:{source.device}"
    if found and found[1]:
        return found[1] >> 2, f"default_roce_tos of {source.target}:{source.device}"
    return None, ""


def _cnp_dscp(database: duckdb.DuckDBPyConnection, answering: End) -> tuple[int | None, str]:
    """What the card that answers marks puts into its CNP."""
    found = database.execute(
        "SELECT value FROM ecn_parameter WHERE target = ? AND netdev = ? AND role = 'np' "
        "AND name = 'cnp_dscp' LIMIT 1",
        [answering.target, answering.port],
    ).fetchone()
    if found and str(found[0]).isdigit() and int(found[0]) < 64:
        return int(found[0]), f"cnp_dscp of {answering.name}"
    return None, ""


def data_packet(
    database: duckdb.DuckDBPyConnection, site: Site, source: End, dscp: int | None, aside: str = ""
) -> Packet:
    """RoCE data of a sender."""
    said = "--dscp"
    if dscp is not None and dscp not in range(64):
        raise UsageError(
            f"--dscp {dscp} is not a number from 0 to 63", do="DSCP is type of service / 4."
        )
    if dscp is None:
        dscp, said = site.fabric.get("data_dscp"), SITE
    if dscp is None:
        dscp, said = _own_dscp(database, source)
    if not aside and dscp != site.fabric.get("data_dscp", dscp):
        aside = "the site file sends data with another DSCP"
    return Packet("data", dscp, said, aside)


def cnp_packet(
    database: duckdb.DuckDBPyConnection, site: Site, answering: End, aside: str = ""
) -> Packet:
    """The CNP that the receiver sends back."""
    dscp, said = site.fabric.get("cnp_dscp"), SITE
    if dscp is None:
        dscp, said = _cnp_dscp(database, answering)
    return Packet("CNP", dscp, said, aside)


def as_sent(site: Site, *packets: Packet) -> Site:
    """The site by which they are judged: what it does not say of their DSCP, the cards do."""
    told = {f"{p.name.lower()}_dscp": p.dscp for p in packets if p.dscp is not None}
    return replace(site, fabric={**told, **site.fabric})
