"""What the overview counts: one query per section, one row per thing, NULL where it was not read.

A query gives `target` and one text column per heading.
"""

from railwright.report.firmware_sections import CARDS, FIRMWARE
from railwright.report.section import Section

# A PCIe link is one text; NULL as soon as a part of it was not read.
MACROS = """
CREATE TEMP MACRO pcie(speed, width) AS CASE
    WHEN width = 0 THEN 'no link'
    ELSE 'Gen' || CASE speed WHEN 2.5 THEN 1 WHEN 5 THEN 2 WHEN 8 THEN 3 WHEN 16 THEN 4
                             WHEN 32 THEN 5 WHEN 64 THEN 6 WHEN 128 THEN 7 END || ' x' || width
    END;
CREATE TEMP MACRO said(text) AS CASE text WHEN '' THEN '-' ELSE text END;
CREATE TEMP MACRO parameter(name, port, element) AS
    name || CASE port WHEN 0 THEN '' ELSE '_P' || port END
         || CASE element WHEN -1 THEN '' ELSE '[' || element || ']' END;
CREATE TEMP MACRO is_port(port_name) AS port_name = '' OR regexp_full_match(port_name, 'p[0-9]+');
-- Probes that told nothing on a machine, each once.
CREATE TEMP TABLE silent AS
    SELECT target, probe, min(status) AS status FROM gap WHERE nothing_read GROUP BY ALL;
"""
# Virtual functions are left out everywhere: they repeat what their physical function says. Most
# sites have none, and an anti join with nothing costs nothing.
# Adapters are a fiftieth of all PCI functions: 02 is network, 0c06 the InfiniBand of old. Picked
# out once: a million NICs are fifty million functions.
HELPERS = f"""
CREATE TABLE virtual_function AS
    SELECT target, pci FROM pci_function WHERE physical_function <> '';
CREATE TABLE rdma AS FROM rdma_device ANTI JOIN virtual_function USING (target, pci);
CREATE TABLE adapter AS FROM pci_function WHERE class LIKE '02%' OR class LIKE '0c06%';
-- PCI functions with an RDMA device; sub-functions share theirs. NULL: which one was not read.
CREATE TABLE nic AS SELECT DISTINCT target, pci FROM rdma WHERE pci IS DISTINCT FROM '';
-- Netdevs of such functions; representors of virtual functions (pf0vf1) share them too.
CREATE TABLE rdma_netdev AS
    FROM netdev SEMI JOIN rdma USING (target, pci)
    WHERE pci <> '' AND kind IS DISTINCT FROM 'virtual'
          AND (is_port(port_name) OR port_name IS NULL);
{CARDS}
"""


LLDP = Section(
    "LLDP neighbours of RDMA NICs",
    "netdevs",
    ("neighbours", "netdev is"),
    ("infiniband", "netdev"),
    ("lldpctl",),
    # arp_type 32 is IP over InfiniBand, which has no LLDP.
    """
    SELECT n.target,
           CASE WHEN r.target IS NULL THEN coalesce(l.heard::VARCHAR, 'none') END,
           n.operstate
    FROM rdma_netdev AS n
    LEFT JOIN (SELECT target, netdev, count(*) AS heard FROM lldp_neighbor GROUP BY ALL) AS l
        ON l.target = n.target AND l.netdev = n.name
    LEFT JOIN silent AS r ON r.target = n.target AND r.probe = 'lldpctl'
    WHERE n.arp_type IS DISTINCT FROM 32
    """,
    none="no Ethernet netdev of an RDMA NIC",
)

_KERNEL = (
    Section(
        "Hosts",
        "",
        ("system", "kernel", "arch"),
        (),
        (),
        "SELECT target, said(operating_system), kernel, architecture FROM host",
    ),
    Section(
        "RDMA NICs",
        "each",
        ("part number", "PSID", "firmware", "chip"),
        ("infiniband",),
        ("mlxconfig",),
        """
        SELECT d.target,
               -- mlxconfig names only cards whose chip is an MT....
               CASE WHEN d.pci = '' OR d.hca_type NOT LIKE 'MT%' THEN '-'
                    ELSE said(c.part_number) END,
               said(d.psid), said(d.firmware_version), said(d.hca_type)
        FROM rdma AS d
        LEFT JOIN nic_card AS c ON c.target = d.target AND c.pci = d.pci
        """,
        none="no RDMA device",
        each=True,
    ),
    Section(
        "RDMA ports",
        "ports",
        ("link layer", "state", "rate"),
        ("infiniband",),
        (),
        # A port that is down prints a rate too, and it means nothing.
        """
        SELECT p.target, p.link_layer, p.state,
               CASE p.state_code WHEN 1 THEN '-' ELSE format('{:g} Gb/s', p.rate_gbps) END
        FROM rdma_port AS p
        ANTI JOIN (FROM rdma_device SEMI JOIN virtual_function USING (target, pci)) AS d
            USING (target, device)
        """,
        none="no RDMA port",
    ),
    Section(
        "PCIe of RDMA NICs",
        "NICs",
        ("link", "of", "MPS", "MRRS", "relaxed"),
        ("infiniband",),
        ("pci", "pci_config"),
        """
        SELECT d.target, pcie(f.link_speed_gts, f.link_width),
               pcie(f.link_speed_max_gts, f.link_width_max),
               c.max_payload::VARCHAR, c.max_read_request::VARCHAR,
               CASE WHEN c.relaxed_ordering THEN 'on' WHEN NOT c.relaxed_ordering THEN 'off' END
        FROM nic AS d
        LEFT JOIN adapter AS f ON f.target = d.target AND f.pci = d.pci
        -- Hosts of a kind have their NICs at the same few addresses: most functions go unjoined.
        LEFT JOIN (FROM pci_config SEMI JOIN (SELECT DISTINCT pci FROM nic) USING (pci)) AS c
            ON c.target = d.target AND c.pci = d.pci
        """,
        none="no RDMA device on PCIe",
    ),
    Section(
        "ACS of PCIe switch ports",
        "ports",
        ("ACS",),
        ("pci_config",),
        (),
        # A bridge of which too little was read may be a switch port: it stays unknown.
        """
        SELECT target, CASE
            WHEN acs = 'absent' THEN 'no such capability'
            WHEN acs_source_validation OR acs_request_redirect OR acs_completion_redirect
                 OR acs_upstream_forwarding OR acs_direct_translated
            THEN 'on: ' || concat_ws(' ',
                CASE WHEN acs_source_validation THEN 'SrcValid' END,
                CASE WHEN acs_request_redirect THEN 'ReqRedir' END,
                CASE WHEN acs_completion_redirect THEN 'CmpltRedir' END,
                CASE WHEN acs_upstream_forwarding THEN 'UpstreamFwd' END,
                CASE WHEN acs_direct_translated THEN 'DirectTrans' END)
            WHEN NOT (acs_source_validation OR acs_request_redirect OR acs_completion_redirect
                 OR acs_upstream_forwarding OR acs_direct_translated)
            THEN 'off' END
        FROM pci_config WHERE port_type = 'switch_downstream'
        UNION ALL
        SELECT c.target, NULL
        FROM (FROM pci_config WHERE port_type IS NULL) AS c
        LEFT JOIN pci_function AS f ON f.target = c.target AND f.pci = c.pci
        WHERE f.class IS NULL OR f.class LIKE '0604%'
        """,
        none="no PCIe switch",
    ),
    Section(
        "Netdevs of RDMA NICs",
        "netdevs",
        ("MTU", "state"),
        ("infiniband",),
        ("netdev",),
        # Without one: InfiniBand without IP, or moved into a pod's network namespace.
        """
        SELECT n.target, n.mtu::VARCHAR, n.operstate FROM rdma_netdev AS n
        UNION ALL
        SELECT d.target, CASE WHEN r.target IS NULL THEN 'no netdev here' END,
               CASE WHEN r.target IS NULL THEN '-' END
        FROM nic AS d
        ANTI JOIN netdev AS n ON n.target = d.target AND n.pci = d.pci
        LEFT JOIN silent AS r ON r.target = d.target AND r.probe = 'netdev'
        """,
        none="no RDMA device on PCIe",
    ),
    Section(
        "GPUs",
        "each",
        ("GPU", "id", "driver", "PCIe now"),
        ("pci",),
        ("nvidia_smi",),
        """
        SELECT target, CASE WHEN is_lost THEN smi_status ELSE name END, vendor || ':' || device_id,
               CASE WHEN is_lost THEN '-' ELSE driver_version END,
               pcie(link_speed_gts, link_width)
        FROM (SELECT *, smi_status = 'not listed by nvidia-smi' AS is_lost FROM gpu)
        UNION ALL  -- what may be a GPU
        SELECT target, NULL, NULL, NULL, NULL FROM pci_function
        WHERE vendor IS NULL OR class IS NULL
        """,
        none="no GPU",
        each=True,
    ),
)

_PLACE = (
    Section(
        "Roles of RDMA ports",
        "ports",
        ("role", "because", "nearest GPU"),
        ("infiniband",),
        ("pci", "ip_address", "ip_route"),
        """
        SELECT p.target, p.role,
               p.role_reason
               || CASE WHEN p.role_dispute <> '' THEN ', though ' || p.role_dispute ELSE '' END,
               said(p.gpu_relation)
        FROM port AS p
        """,
        none="no RDMA port",
    ),
    Section(
        "QoS of RoCE ports",
        "netdevs",
        ("trust", "PFC on", "DSCP 26 to", "DSCP 48 to"),
        ("infiniband", "netdev"),
        ("mlnx_qos",),
        # 26 and 48 are what most RoCE sites use for data and for congestion notifications. Of a
        # bond the members are listed.
        """
        SELECT p.target, q.trust,
               CASE WHEN q.pfc_mask = 0 THEN 'none' WHEN q.pfc_mask > 0 THEN
                   array_to_string([x FOR x IN range(8) IF q.pfc_mask & (1 << x) <> 0], ',') END,
               CASE WHEN q.trust = 'pcp' THEN '-'
                    ELSE nullif(nullif(q.dscp_priorities[27], '.'), '?') END,
               CASE WHEN q.trust = 'pcp' THEN '-'
                    ELSE nullif(nullif(q.dscp_priorities[49], '.'), '?') END
        FROM (FROM port WHERE link_layer IS DISTINCT FROM 'InfiniBand'
                              AND netdev IS DISTINCT FROM '') AS p
        LEFT JOIN bond_member AS b ON b.target = p.target AND b.bond = p.netdev
        LEFT JOIN netdev_qos AS q
            ON q.target = p.target AND q.netdev = coalesce(b.member, p.netdev)
        """,
        none="no RoCE port with a netdev here",
    ),
    Section(
        "Optics of RDMA ports",
        "ports",
        ("module or cable", "FEC", "state"),
        ("infiniband",),
        ("mlxlink",),
        """
        SELECT p.target, said(m.part_number), said(m.fec), m.state
        FROM port AS p LEFT JOIN mlxlink_port AS m ON m.target = p.target AND m.pci = p.pci
        """,
        none="no RDMA port",
    ),
    Section(
        "GPUDirect and the kernel",
        "",
        ("peermem", "GPU driver", "iommu", "governor"),
        ("modules",),
        ("cmdline", "cpu_power"),
        """
        SELECT t.target, said(g.peermem_module), said(g.gpu_driver_kind),
               CASE WHEN c.target IS NULL THEN coalesce(a.options, '-') END,
               w.governors
        FROM (SELECT target FROM machine ANTI JOIN (
            FROM silent WHERE probe = 'modules' AND status IN ('not asked', 'not reached')
        ) USING (target)) AS t
        LEFT JOIN gpu_direct AS g USING (target)
        LEFT JOIN (FROM silent WHERE probe = 'cmdline') AS c USING (target)
        LEFT JOIN (
            SELECT target, string_agg(name || '=' || value, ' ' ORDER BY name, place) AS options
            FROM kernel_argument WHERE name IN ('iommu', 'intel_iommu', 'amd_iommu')
            GROUP BY target
        ) AS a USING (target)
        LEFT JOIN (
            SELECT target, string_agg(DISTINCT governor, ',' ORDER BY governor) AS governors
            FROM cpu_governor GROUP BY target
        ) AS w USING (target)
        """,
    ),
    Section(
        "Two sources that disagree",
        "things",
        ("about", "one says", "the other"),
        ("pci", "infiniband", "netdev"),
        (),
        """
        SELECT target, fact, value_a || ' (' || source_a || ')', value_b || ' (' || source_b || ')'
        FROM disagreement
        """,
        none="none where both were read",
    ),
)

SECTIONS = (*_KERNEL, LLDP, *_PLACE, *FIRMWARE)

# Switches that netdevs of RDMA NICs hear, by name, or by chassis where the switch sends none. All
# machines are asked: those that are alike need not hear the same chassis.
SWITCHES = """
SELECT DISTINCT coalesce(nullif(l.system_name, ''), l.chassis_id, '?')
FROM main.lldp_neighbor AS l
SEMI JOIN (SELECT unnest(members) AS target, n.name
           FROM rdma_netdev AS n JOIN machine USING (target)) AS n
    ON l.target = n.target AND l.netdev = n.name
"""
