-- Parameters that the site file names; those with a file of their own are left to it.
select
    target,
    pci,
    name,
    port,
    element,
    code as now,
    wanted_code as wanted,
    case
        when name = 'LINK_TYPE' then 'names and addresses change: see nic.parameter.LINK_TYPE'
        when name like 'INTERNAL_CPU_%' then 'it decides who has the card: see nic.parameter.BLUEFIELD_MODE'
        when name in ('SRIOV_EN', 'NUM_OF_VFS') then 'virtual functions go away with it: see nic.vf_count'
        when regexp_matches(name, '^PCI_BUS[0-9][0-9]_') then 'it describes the board: never written'
        else refused
    end as refused,
    parameter,
    device
from stored_parameter
where
    is_named
    and not name in (
        'ADVANCED_PCI_SETTINGS', 'ATS_ENABLED', 'FLOW_CONTROL', 'MAX_ACC_OUT_READ', 'PCI_WR_ORDERING', 'QOS_TRUST_STATE',
        'RDMA_SELECTIVE_REPEAT_EN', 'ROCE_ADAPTIVE_ROUTING_EN', 'ROCE_CONTROL', 'USER_PROGRAMMABLE_CC',
        'PHY_FEC_OVERRIDE', 'PHY_RATE_MASK_OVERRIDE', 'PHY_RATE_MASK', 'PHY_AUTO_NEG', 'PHY_IB_NDR_FEC_OVERRIDE',
        'IB_PROTO_WIDTH_EN_MASK', 'KEEP_ETH_LINK_UP', 'KEEP_IB_LINK_UP', 'KEEP_LINK_UP_ON_BOOT', 'KEEP_LINK_UP_ON_STANDBY'
    )
    and not regexp_matches(name, '^PCI_BUS[0-9]_RESTRICT$')
