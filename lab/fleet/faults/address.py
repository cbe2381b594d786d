"""Addresses: GIDs, subnets, sizes, and identities that are there twice."""

from dataclasses import replace

from lab.fleet import MODELS, identity, ports
from lab.fleet.faults.change import card, settings
from lab.fleet.faults.fault import Change, Fault
from lab.fleet.faults.place import Place, rails
from lab.fleet.model import HostModel, Netdev, Nic, with_faults
from lab.fleet.port_model import GidEntry

PINNED = ("hgx_h100", "socket_direct")  # /etc/nccl.conf pins a GID index
ROCE = ("hgx_h100", "socket_direct", "kubernetes_worker")  # with a site that says the MTU


def without_address(place: Place) -> HostModel:
    """The port has its link-local address only."""
    nic = place.card
    local = nic.addresses[1:]
    bare = with_faults(
        place.host, {(nic.name, "addresses"): local, (nic.name, "gids"): nic.gids[:2]}
    )
    source = identity.address_text(nic.address_v4)
    return replace(
        bare,
        routes=tuple(route for route in bare.routes if route.netdev != nic.netdev),
        rules=tuple(rule for rule in bare.rules if rule.source != source),
    )


def _with_address_before(place: Place) -> HostModel:
    """A global IPv6 address came first, so that the IPv4 GIDs have other indices."""
    nic = place.card
    tail = ":".join(f"{part:04x}" for part in nic.address_v4)
    gid = f"2001:0db8:0000:0000:{tail}"
    first = (GidEntry(2, gid, "IB/RoCE v1", nic.netdev), GidEntry(3, gid, "RoCE v2", nic.netdev))
    moved = tuple(replace(entry, index=entry.index + 2) for entry in nic.gids[2:])
    short = ":".join(f"{part:x}" for part in nic.address_v4)
    values = {
        (nic.name, "gids"): (*nic.gids[:2], *first, *moved),
        (nic.name, "addresses"): (nic.addresses[0], f"2001:db8::{short}/64", *nic.addresses[1:]),
    }
    return with_faults(place.host, values)


def _version_6_alone(place: Place) -> HostModel:
    """An address by router advertisements in the place of the IPv4 one."""
    nic = place.card
    text = ":".join(f"{part:x}" for part in nic.address_v4)
    gid = "2001:0db8:0000:0000:" + ":".join(f"{part:04x}" for part in nic.address_v4)
    moved = tuple(replace(entry, gid=gid) if entry.index > 1 else entry for entry in nic.gids)
    bare = without_address(place)
    values = {(nic.name, "gids"): moved, (nic.name, "dynamic"): (f"2001:db8::{text}/64",)}
    return with_faults(bare, values)


def _one_subnet(arp: tuple[tuple[str, int], ...], *, with_rules: bool) -> Change:
    """All rails in one /16, with these settings of ARP and of the reverse path."""

    def change(place: Place) -> HostModel:
        host = place.host
        names = {nic.netdev for nic in rails(host)}

        def wide(netdev: Netdev) -> Netdev:
            first = netdev.addresses[0].replace("/24", "/16")
            return replace(netdev, addresses=(first, *netdev.addresses[1:]), arp=arp)

        routes = tuple(
            replace(route, destination=_sixteen(route.destination))
            if route.netdev in names
            else route
            for route in host.routes
        )
        return replace(
            host,
            nics=tuple(wide(nic) if nic.netdev in names else nic for nic in host.nics),  # type: ignore[misc]
            routes=routes,
            rules=host.rules if with_rules else ports.RULES,
        )

    return change


def _sixteen(destination: str) -> str:
    network, slash, _ = destination.partition("/")
    parts = network.split(".")
    return f"{parts[0]}.{parts[1]}.0.0/16" if slash else destination


def _of_first_host(place: Place) -> HostModel:
    """Somebody gave the port the address that the first host has there."""
    nic = place.card
    taken = (*nic.address_v4[:3], 1)
    old, new = identity.address_text(nic.address_v4), identity.address_text(taken)
    netdev = nic.gids[0].netdev
    changed = with_faults(
        place.host,
        {
            (nic.name, "address_v4"): taken,
            (nic.name, "addresses"): ports.addresses(nic.mac, taken),
            (nic.name, "gids"): ports.roce_gids(nic.mac, taken, netdev),
        },
    )
    return replace(
        changed,
        routes=tuple(replace(r, source=new) if r.source == old else r for r in changed.routes),
        rules=tuple(replace(r, source=new) if r.source == old else r for r in changed.rules),
    )


def _twin(place: Place) -> Nic:
    """The same card of the first host."""
    make = next(m for m in MODELS.values() if m(place.host.number).name == place.host.name)
    return next(nic for nic in make(1).nics if nic.name == place.card.name)


def _guid_of_first_host(place: Place) -> HostModel:
    """A card was moved, or its identity copied; GID and IPoIB address are made of the GUID."""
    nic, twin = place.card, _twin(place)
    addresses = ports.addresses(twin.mac, nic.address_v4)
    values = {"guid": twin.guid, "gids": twin.gids, "mac": twin.mac, "addresses": addresses}
    return card(values)(place)


def _mac_of_first_host(place: Place) -> HostModel:
    """Somebody wrote the MAC address of another host's card into this one."""
    nic, twin = place.card, _twin(place)
    addresses = ports.addresses(twin.mac, nic.address_v4)
    gids = ports.roce_gids(twin.mac, nic.address_v4, nic.netdev)
    return card({"mac": twin.mac, "addresses": addresses, "gids": gids})(place)


def _address_given_again(place: Place) -> HostModel:
    """While connections held the old slots, so that the same GIDs are in others."""
    gids = place.card.gids
    moved = tuple(replace(e, index=e.index + 2) if e.index > 1 else e for e in gids)
    return card({"gids": moved})(place)


def _silent_gateway(place: Place) -> HostModel:
    nic = place.card
    gateway = next(r.gateway for r in place.host.routes if r.netdev == nic.netdev and r.gateway)
    return with_faults(place.host, {(nic.name, "unresolved"): ((gateway, "FAILED"),)})


FAULTS = (
    Fault(
        name="gateway_silent",
        rule="gateway-silent",
        models=("hgx_h100",),
        at="rail",
        change=_silent_gateway,
        expects=("gateway-silent {port}",),
        severity="high",
    ),
    Fault(
        name="no_partition",
        rule="pkey-unusable",
        models=("hgx_a100_infiniband",),
        at="rail",
        # Full member of partition 0, which there is not.
        change=card({"pkeys": (0x8000,)}),
        expects=("pkey-unusable {port}",),
    ),
    Fault(
        name="no_address",
        rule="gid-not-routable",
        models=PINNED,
        at="rail",
        change=without_address,
        expects=("gid-not-routable {port}",),
        implies=("gid-index-unusable {port}",),  # the pinned index is empty
        excuses=(
            "address-twice {port}",
            "gid-index-differs {port}",
            "arp-flux {port}",
            "rp-filter-strict {port}",
        ),
    ),
    Fault(
        name="version_6_alone",
        rule="gid-ipv6-only",
        models=("two_socket_4x400g", "kubernetes_worker"),  # whose index is not pinned
        at="rail",
        change=_version_6_alone,
        expects=("gid-ipv6-only {port}",),
        severity="medium",
    ),
    Fault(
        name="pinned_index_empty",
        rule="gid-index-unusable",
        models=PINNED,
        at="host",
        change=settings({"NCCL_IB_GID_INDEX": "7"}),
        expects=("gid-index-unusable {rails}",),
    ),
    Fault(
        name="pinned_index_of_version_1",
        rule="gid-index-unusable",
        models=PINNED,
        at="host",
        change=settings({"NCCL_IB_GID_INDEX": "2"}),
        expects=("gid-index-unusable {rails}",),
        severity="medium",
    ),
    Fault(
        name="gids_moved",
        rule="gid-index-differs",
        models=PINNED,
        at="rail",
        change=_with_address_before,
        expects=("gid-index-differs {port}",),
    ),
    Fault(
        name="one_subnet",
        rule="arp-flux",
        models=PINNED,
        at="host",
        change=_one_subnet(
            (("arp_announce", 0), ("arp_filter", 0), ("arp_ignore", 0), ("rp_filter", 2)),
            with_rules=True,
        ),
        expects=("arp-flux {rails}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="one_subnet_and_strict",
        rule="rp-filter-strict",
        models=PINNED,
        at="host",
        change=_one_subnet(
            (("arp_announce", 2), ("arp_filter", 0), ("arp_ignore", 1), ("rp_filter", 1)),
            with_rules=False,
        ),
        expects=("rp-filter-strict {rails}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="small_mtu",
        rule="rdma-mtu-small",
        models=ROCE,
        at="rail",
        change=card({"mtu": 1500}),
        expects=("rdma-mtu-small {port}",),
        implies=("intent-mtu {port}", "rdma-mtu-differs {port}", "host-config-differs {host}"),
        severity="medium",
    ),
    Fault(
        name="small_mtu_on_infiniband",
        rule="rdma-mtu-small",
        models=("hgx_a100_infiniband", "passthrough_vm"),
        at="rail",
        change=card({"active_mtu": 2048}),
        expects=("rdma-mtu-small {port}",),
        implies=("rdma-mtu-differs {port}",),
    ),
    Fault(
        name="virtual_function_larger",
        rule="vf-mtu-above-port",
        models=("two_socket_4x400g",),
        at="rail",
        change=card({"mtu": 1500}),
        expects=("vf-mtu-above-port {port}",),
        implies=("rdma-mtu-small {port}", "rdma-mtu-differs {port}", "host-config-differs {host}"),
    ),
    Fault(
        name="address_twice",
        rule="address-twice",
        models=("hgx_h100", "two_socket_4x400g", "socket_direct"),
        at="rail",
        change=_of_first_host,
        expects=("address-twice {port}", "address-twice {twin_port}"),
    ),
    Fault(
        name="guid_twice",
        rule="address-twice",
        models=("hgx_a100_infiniband", "passthrough_vm"),
        at="rail",
        change=_guid_of_first_host,
        expects=("address-twice {port}", "address-twice {twin_port}"),
        severity="blocker",
    ),
    Fault(
        name="mac_twice",
        rule="address-twice",
        models=("hgx_h100",),
        at="storage",
        change=_mac_of_first_host,
        expects=("address-twice {port}", "address-twice {twin_port}"),
        severity="blocker",
    ),
    Fault(
        name="no_address_and_no_pin",
        rule="gid-not-routable",
        models=("kubernetes_worker",),
        at="rail",
        change=without_address,
        expects=("gid-not-routable {port}",),
        excuses=("address-twice {port}", "arp-flux {port}", "rp-filter-strict {port}"),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="pinned_index_link_local",
        rule="gid-index-unusable",
        models=PINNED,
        at="host",
        change=settings({"NCCL_IB_GID_INDEX": "1"}),
        expects=("gid-index-unusable {rails}",),
    ),
    Fault(
        name="address_given_again",
        rule="gid-index-differs",
        models=PINNED,
        at="rail",
        change=_address_given_again,
        expects=("gid-index-differs {port}",),
        implies=("gid-index-unusable {port}",),  # the pinned slot is empty now
    ),
)
