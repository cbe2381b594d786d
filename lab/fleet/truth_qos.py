"""The truth about priorities, buffers, schedulers and congestion control of Ethernet ports."""

from lab.fleet.model import HostModel, Nic, rdma_is_here
from lab.fleet.port_model import NP_PARAMETERS, RP_PARAMETERS
from lab.fleet.truth_places import Rows, Tables, ethernet_ports, vendor_driver

CLASSES = 8


def tables(host: HostModel) -> Tables:
    """qos_*, dcb_*, ecn_*, roce_tos."""
    nics = ethernet_ports(host)
    found: Tables = {
        name: [row for nic in nics for row in rows(nic)]
        for name, rows in {
            "qos_port": _port,
            "qos_priority": _priority,
            "qos_buffer": _buffer,
            "qos_class": _class,
            "qos_dscp": _dscp,
            "dcb_app": _app,
            "dcb_buffer": _buffer,
            "dcb_buffer_priority": _buffer_priority,
            "dcb_buffer_total": _buffer_total,
            "dcb_ets": _ets,
            "dcb_ets_class": _ets_class,
            "dcb_ets_priority": _ets_priority,
            "dcb_pfc": _pfc,
            "dcb_pfc_priority": _pfc_priority,
        }.items()
    }
    shown = [nic for nic in nics if vendor_driver(host, nic)]
    found["ecn_parameter"] = [row for nic in shown for row in _ecn_parameter(nic)]
    found["ecn_priority"] = [row for nic in shown for row in _ecn_priority(nic)]
    found["roce_tos"] = _tos(host)
    return found


# ---- mlnx_qos


def _port(nic: Nic) -> Rows:
    qos = nic.qos
    return [
        {
            "netdev": nic.netdev,
            "dcbx_mode": {"os": "OS", "firmware": "Firmware"}[qos.dcbx],
            "trust": qos.trust,
            "cable_length_m": qos.cable_length_m,
            "buffer_total_bytes": (qos.buffer_max or None) if qos.buffer_bytes else None,
            "lldpad_running": qos.lldpad,
        }
    ]


def _priority(nic: Nic) -> Rows:
    qos = nic.qos
    rows: Rows = []
    for priority in range(8):
        buffer = qos.priority_buffer[priority] if qos.buffer_bytes else None
        rows.append(
            {
                "netdev": nic.netdev,
                "priority": priority,
                "pfc_enabled": qos.pfc[priority],
                "buffer": buffer,
                "buffer_bytes": None if buffer is None else qos.buffer_bytes[buffer],
                "traffic_class": qos.priority_class[priority],
            }
        )
    return rows


def _buffer(nic: Nic) -> Rows:
    return [
        {"netdev": nic.netdev, "buffer": number, "size_bytes": size}
        for number, size in enumerate(nic.qos.buffer_bytes)
    ]


def _class(nic: Nic) -> Rows:
    """Classes that a priority uses; only ets has a share, and a rate is printed to one digit."""
    qos = nic.qos
    return [
        {
            "netdev": nic.netdev,
            "traffic_class": number,
            "scheduler": qos.class_scheduler[number],
            "bandwidth_percent": qos.class_bandwidth[number]
            if qos.class_scheduler[number] == "ets"
            else None,
            "rate_limit_gbps": round(qos.class_rate_gbps[number], 1),
        }
        for number in set(qos.priority_class)
    ]


def _dscp(nic: Nic) -> Rows:
    """Shown while the port trusts DSCP."""
    if nic.qos.trust != "dscp":
        return []
    return [
        {"netdev": nic.netdev, "dscp": dscp, "priority": priority}
        for dscp, priority in enumerate(nic.qos.dscp_priority)
    ]


# ---- the kernel's DCB


def _app(nic: Nic) -> Rows:
    qos = nic.qos
    points = qos.app_dscps if qos.trust == "dscp" else ()
    entries = [("dscp", dscp, qos.dscp_priority[dscp]) for dscp in points]
    entries += [("default", 0, priority) for priority in qos.default_priority]
    entries += [("datagram_port", port, priority) for port, priority in qos.datagram_ports]
    return [
        {"netdev": nic.netdev, "selector": what, "protocol": number, "priority": priority}
        for what, number, priority in entries
    ]


def _buffer_priority(nic: Nic) -> Rows:
    return [
        {"netdev": nic.netdev, "priority": priority, "buffer": buffer}
        for priority, buffer in enumerate(nic.qos.priority_buffer if nic.qos.buffer_bytes else ())
    ]


def _buffer_total(nic: Nic) -> Rows:
    qos = nic.qos
    if not qos.buffer_bytes:
        return []
    return [{"netdev": nic.netdev, "total_bytes": qos.buffer_max or sum(qos.buffer_bytes)}]


def _ets(nic: Nic) -> Rows:
    """The firmware's own DCBX is willing to be told, the operating system is not."""
    return [
        {
            "netdev": nic.netdev,
            "capability": CLASSES,
            "willing": nic.qos.dcbx == "firmware",
            "credit_based_shaper": False,
        }
    ]


def _ets_class(nic: Nic) -> Rows:
    qos = nic.qos
    return [
        {
            "netdev": nic.netdev,
            "traffic_class": number,
            "scheduler": qos.class_scheduler[number],
            "bandwidth_percent": qos.class_bandwidth[number],
        }
        for number in range(CLASSES)
    ]


def _ets_priority(nic: Nic) -> Rows:
    return [
        {"netdev": nic.netdev, "priority": priority, "traffic_class": number}
        for priority, number in enumerate(nic.qos.priority_class)
    ]


def _pfc(nic: Nic) -> Rows:
    """mlx5 keeps the cable length in the delay."""
    return [
        {
            "netdev": nic.netdev,
            "capability": CLASSES,
            "macsec_bypass": False,
            "delay": nic.qos.cable_length_m,
        }
    ]


def _pfc_priority(nic: Nic) -> Rows:
    """Without -s no frames are counted."""
    return [
        {"netdev": nic.netdev, "priority": priority, "enabled": on}
        for priority, on in enumerate(nic.qos.pfc)
    ]


# ---- congestion control, type of service


def _ecn_parameter(nic: Nic) -> Rows:
    qos = nic.qos
    answering = {"cnp_802p_prio": qos.cnp_priority, "cnp_dscp": qos.cnp_dscp, **NP_PARAMETERS}
    roles = {"np": {**answering, **qos.np_parameters}, "rp": {**RP_PARAMETERS, **qos.rp_parameters}}
    return [
        {"netdev": nic.netdev, "role": role, "name": name, "value": value}
        for role, settings in roles.items()
        for name, value in settings.items()
    ]


def _ecn_priority(nic: Nic) -> Rows:
    return [
        {"netdev": nic.netdev, "role": role, "priority": priority, "enabled": on}
        for role, states in (("np", nic.qos.ecn_np), ("rp", nic.qos.ecn_rp))
        for priority, on in enumerate(states)
    ]


def _tos(host: HostModel) -> Rows:
    """Of each RDMA device that one of the two places has; RDMA devices know no netdev's pod."""
    rows: Rows = []
    for nic in host.nics:
        vendor = vendor_driver(host, nic)
        there = rdma_is_here(host, nic) and nic.link_layer == "Ethernet"
        if not there or (nic.qos.default_tos is None and not vendor):
            continue
        rows.append(
            {
                "device": nic.name,
                "port": 1,
                "default_tos": nic.qos.default_tos,
                "default_mode": None if nic.qos.default_tos is None else nic.qos.default_mode,
                "traffic_class": (nic.qos.traffic_class or -1) if vendor else None,
                "traffic_class_rules": 0 if vendor else None,
            }
        )
    return rows
