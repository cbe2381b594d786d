"""What is sent, and what is meant to become of it: RoCE data, and the CNP that answers marks."""

from typing import NamedTuple

import duckdb

from railwright.errors import UsageError
from railwright.fabric.ends import End
from railwright.intent.site import Site

SITE = "the site file"


class Packet(NamedTuple):
    """A packet, and what its way must do for it. None: nobody has said, so it is not judged."""

    name: str  # data or CNP
    dscp: int | None
    dscp_from: str  # who says so; '' = nobody
    meant_class: int | None
    lossless: (
        bool | None
    )  # whether it must not be dropped (data) or must not be paused (CNP: False)
    lossless_from: str
    marked: bool | None  # whether it must be marked before queues are full
    mtu: int | None  # the largest that the sender may send


def class_at(end: End, dscp: int | None) -> int | str | None:
    """The class that an end gives; '.' = its map has none, None = not known."""
    if dscp is None or end.trust is None or end.dscp_classes is None or len(end.dscp_classes) < 64:
        return None
    found = end.dscp_classes[dscp]
    return None if found == "?" else "." if found == "." else int(found)


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


def _lossless(site: Site, source: End, dscp: int | None) -> tuple[bool | None, str]:
    meant = site.fabric.get("lossless_priorities")
    if meant is not None:
        own = site.fabric.get("data_priority")
        return bool(meant) if own is None else own in meant, SITE
    number = class_at(source, dscp)
    if source.pfc_mask is None or not isinstance(number, int):
        return None, ""
    return bool(source.pfc_mask >> number & 1), f"PFC of {source.name}"


def data_packet(
    database: duckdb.DuckDBPyConnection, site: Site, source: End, dscp: int | None
) -> Packet:
    """RoCE data of a sender."""
    said = "--dscp"
    if dscp is not None and dscp not in range(64):
        raise UsageError(f"--dscp {dscp}: there are 0 to 63", do="DSCP is the type of service / 4.")
    if dscp is None:
        dscp, said = site.fabric.get("data_dscp"), SITE
    if dscp is None:
        dscp, said = _own_dscp(database, source)
    asked = said == "--dscp"
    lossless, by = (None, "") if asked else _lossless(site, source, dscp)
    if asked and dscp == site.fabric.get("data_dscp"):
        asked = False
        lossless, by = _lossless(site, source, dscp)
    return Packet(
        "data",
        dscp,
        said,
        None if asked else site.fabric.get("data_priority"),
        lossless,
        by,
        None if asked else site.fabric.get("ecn"),
        source.mtu,
    )


def cnp_packet(database: duckdb.DuckDBPyConnection, site: Site, answering: End) -> Packet:
    """The CNP that the receiver sends back."""
    dscp, said = site.fabric.get("cnp_dscp"), SITE
    if dscp is None:
        dscp, said = _cnp_dscp(database, answering)
    return Packet("CNP", dscp, said, site.fabric.get("cnp_priority"), False, "", None, None)
