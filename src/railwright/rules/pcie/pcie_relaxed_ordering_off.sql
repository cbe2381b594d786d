/* +++
id = "pcie-relaxed-ordering-off"
aliases = ["PCI-05"]
title = "PCIe relaxed ordering off"
severity = "medium"
subject = "host"
needs = ["cpu.vendor", "cpu.family", "host_scope.virtualization", "port_scope.role", "pci_config.relaxed_ordering"]
message = "{subject} needs relaxed ordering and has {observed}"
action = "set"
setting = "library.setting"
cost = "150 of 200 Gb/s on EPYC (incident I-012); 16 of more than 40 GB/s on Emerald Rapids (incident I-011)"
preview = true
since = "0.2"
sources = ["review PCI-05 and PCI-06", "incident I-011", "incident I-012", "incident I-013",
    "NVIDIA/nccl env.rst (NCCL_IB_PCI_RELAXED_ORDERING, auto by default)"]

[unless]
"pci_config.relaxed_ordering" = "the machine is a guest"

[uses]
"cpu.model_number" = "distinguishes Milan from Genoa, and Emerald Rapids from neighboring models; not needed for family 23"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.pci" = "finds the NIC's configuration"
"library_setting.value" = "a host without such files sets nothing; if the files were not read, the check is inconclusive"
"library_setting.precedence" = "the same"
"probe_result.status" = "distinguishes a host without files, or without RDMA, from one that was not read"
+++
## Why it matters
Without relaxed ordering each write of the NIC waits for the one before it. Some processors (EPYC up to Milan, Emerald
Rapids) then deliver only part of the port's rate, and so do guests whose memory is reached through address translation.

## What to do
1. Remove the setting from the library's file (NCCL and newer UCX request relaxed ordering by themselves).
2. Change the BIOS option that clears the NIC's bit (`lspci -vv`: DevCtl RlxdOrd).

`PCI_WR_ORDERING=1` in the NIC's firmware forces relaxed ordering on all software, including software that polls the last
byte written. Set it only as a decision of the owner, with a firmware reset. This parameter is not read here: a setting in a
file stays a finding until you remove it.

## Exceptions
`PCI_WR_ORDERING=per_mkey(0)` is the healthy default and is not reported. UCX's setting is not reported on AMD: with the UD
transport, relaxed ordering has made some AMD clusters slower (incident I-013). A job's own environment overrides the files
and is not read.
*/
with nics as (
    select
        p.target,
        bool_or(p.inferred) as inferred, -- null: never, and only for the severity
        any_known(p.role = 'compute') as has_compute,
        any_known(p.role = 'compute' and not c.relaxed_ordering) as is_off,
        list(distinct p.pci order by p.pci) filter (p.role = 'compute' and not c.relaxed_ordering) as off
    from port_scope as p
    left join pci_config as c on c.target = p.target and c.pci = p.pci
    group by p.target
),

-- What a script decides, or a file not read completely (no name) may set, is unknown. UCX on AMD may have its reason.
lines as (
    select
        s.target,
        s.name || '=' || s.value || ' in ' || s.file as words,
        case
            when s.name <> '' and s.precedence is not null
                then s.precedence = 1
                    and lower(s.value) in ('0', 'n', 'no', 'off')
                    and (s.name = 'NCCL_IB_PCI_RELAXED_ORDERING' or c.vendor <> 'AuthenticAMD')
        end as is_off
    from library_setting as s
    left join cpu as c on c.target = s.target
    where s.name in ('NCCL_IB_PCI_RELAXED_ORDERING', 'UCX_IB_PCI_RELAXED_ORDERING', '')
),

settings as (
    select target, any_known(is_off) as is_off, string_agg(words, ', ' order by words) filter (is_off) as words
    from lines
    group by target
)

select
    h.target,
    concat_ws(', ', 'RlxdOrd- on ' || len(n.off) || case when len(n.off) = 1 then ' NIC' else ' NICs' end, s.words) as observed,
    'relaxed ordering' as expected,
    case when n.target is not null then n.has_compute when i.status is not null then false end
        and (
            h.virtualization = 'guest'
            or (c.vendor = 'AuthenticAMD' and (c.family = 23 or (c.family = 25 and c.model_number < 16)))
            or (c.vendor = 'GenuineIntel' and c.family = 6 and c.model_number = 207)
        ) as applies,
    -- What a guest reads of the NIC's configuration is made up by its hypervisor.
    case when h.virtualization = 'guest' then false when h.virtualization <> 'guest' then n.is_off end
        or case when s.target is not null then s.is_off when r.status is not null then false end as fault,
    'at ' || array_to_string(n.off, ', ') as detail,
    n.inferred
from host_scope as h
left join cpu as c on c.target = h.target
left join nics as n on n.target = h.target
left join settings as s on s.target = h.target
left join probe_result as i on i.target = h.target and i.probe = 'infiniband' and i.status in ('ok', 'absent')
left join probe_result as r on r.target = h.target and r.probe = 'libraries' and r.status in ('ok', 'absent')
