-- What a PCI function is. Told by ids and class alone: what a part is does not change when it fails.
with marked as (
    select
        target,
        read_at,
        pci,
        vendor,
        device,
        class,
        vendor || ':' || device || ' ' || subsystem_vendor || ':' || subsystem_device as model,
        physical_function,
        -- The device without its function: all functions of one device share it.
        regexp_replace(pci, '\.[0-7]$', '') as slot
    from pci_function
    where
        class like '02%' or class like '03%' or class like '12%'
        or (vendor = '15b3' and (class like '0801%' or class like '0580%'))
        or (vendor = '1000' and device in ('00b2', '02b2'))
        or (vendor = '11f8' and class like '0580%')
        or (vendor = '10de' and class like '0680%')
),

-- NVSwitches of HGX B200 and B300 are no PCI devices: the host reaches them through four functions of a ConnectX-7 that are
-- InfiniBand by class and id. Only their vital product data say so (SMDL=SW_MNG), which root alone may read; no ConnectX-7
-- that is sold as a card has four InfiniBand ports. servers.md 2.5: DGX B200 ibs14f0 to ibs14f3, HGX B200 mlx5_8 to mlx5_11.
bridges as (
    select target, slot
    from marked
    where vendor = '15b3' and device = '1021' and class like '0207%' and physical_function = ''
    group by all
    having count(*) >= 4
),

-- Functions that have an RDMA device now. smi devices are a second one of the same function: see port.sql.
rdma as (
    select distinct target, pci from rdma_device where pci <> ''
)

select
    m.target,
    m.read_at,
    m.pci,
    case
        when m.physical_function <> '' then 'virtual function'
        -- NVIDIA: VGA and 3D controllers. AMD Instinct: display controllers without VGA up to MI200, processing accelerators
        -- from MI300 on (1002:74a1). Intel Max and Flex: display controllers (8086:0bd5). Gaudi (1da3): accelerators.
        when m.vendor = '10de' and m.class like '03%' then 'gpu'
        when m.vendor = '1002' and (m.class like '0380%' or m.class like '0302%' or m.class like '1200%') then 'gpu'
        when m.vendor = '8086' and m.class like '0380%' then 'gpu'
        when m.vendor = '1da3' and m.class like '1200%' then 'gpu'
        when b.slot is not null then 'nvlink bridge'
        when m.class like '02%' then 'nic'
        -- Data Direct of ConnectX-8: a DMA function with a PCIe path of its own and no port (15b3:2100).
        when m.vendor = '15b3' and m.class like '0801%' then 'data direct'
        -- A card that lost its firmware shows itself as a memory controller (15b3:0219 and others of the PCI id list).
        when m.vendor = '15b3' and m.class like '0580%' then 'recovery'
        -- PCI id list: 00b2 is the endpoint that manages a PEX switch and claims to be a SAS controller, 02b2 stands where a
        -- slot below such a switch is empty. Microchip's switches show theirs as a memory controller.
        when m.vendor = '1000' and m.device = '02b2' then 'placeholder'
        when m.vendor = '1000' or m.vendor = '11f8' then 'switch management'
        when m.vendor = '10de' and m.class like '0680%' then 'nvswitch'
        else 'other'
    end as kind,
    m.vendor,
    m.device as device_id,
    m.model,
    case
        when kind <> 'nic' then false
        when m.vendor = '15b3' or r.pci is not null then true
        -- Sold for RDMA: Broadcom Thor and Thor2, AMD Pollara and Pensando, AWS EFA. Others (Intel E810) are RDMA cards where
        -- their driver is used so: a site may leave it out.
        when m.vendor = '14e4' then m.device in ('1750', '1751', '1752', '1760')
        when m.vendor = '1dd8' then m.device = '1002'
        when m.vendor = '1d0f' then m.device like 'efa%'
        else false
    end as is_rdma
from marked as m
left join bridges as b on b.target = m.target and b.slot = m.slot and m.vendor = '15b3' and m.class like '0207%'
left join rdma as r on r.target = m.target and r.pci = m.pci
