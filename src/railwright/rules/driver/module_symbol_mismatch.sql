/* +++
id = "module-symbol-mismatch"
aliases = ["DRV-01"]
title = "RDMA module rejected (symbol version mismatch)"
severity = "high"
subject = "host"
needs = ["pcie_endpoint.kind", "kernel_message.kind"]
message = "{subject}: {observed} did not load"
action = "ask"
since = "0.2"
sources = [
  "review DRV-01 (its third condition: version-symbol errors of this boot)",
  "incident I-100, I-086",
  "judgement: a module that is loaded now was mended since",
]

[uses]
"kernel_message.driver" = "the module of a message that was found"
"kernel_message.text" = {purpose = "words", why = "the symbol"}
"probe_result.status" = "distinguishes what does not exist from what was not collected"
+++
## Why it matters
The module was built against another kernel or another ib_core, and the kernel refuses to load it. RDMA, or the path from
NIC to GPU memory, is missing although the packages look installed.

## What to do
1. Rebuild the module against the running kernel and the loaded RDMA stack: use DKMS, or reinstall the driver package after
   the kernel (nvidia_peermem after the RDMA stack).
2. Check that /usr/src/ofa_kernel/default points to the headers of this kernel.
3. Load the module with `modprobe`. Reloading the RDMA stack takes down every port of the host.

## Exceptions
If the rejected module is not needed, waive the finding. Other signs of a wrong build (srcversion of the loaded module
against that of its file, no module at all for this kernel) are not checked.
*/
with cards as (
    select target, any_known(kind = 'nic') as has_one
    from pcie_endpoint
    group by target
),

answered as (
    select
        target,
        bool_or(probe = 'pci' and status = 'ok') as pci, -- null: no answer, no row
        bool_or(probe = 'modules' and status = 'ok') as modules -- null: the same
    from probe_result
    where probe in ('pci', 'modules')
    group by target
),

refused as (
    select
        e.target,
        e.driver || ' (' || string_agg(distinct e.text, ', ' order by e.text) || ')' as words,
        -- A module that is loaded now was fixed since.
        case when count(m.name) > 0 then false when min(a.modules) then true end as is_missing
    from kernel_message as e
    left join kernel_module as m on m.target = e.target and m.name = e.driver
    left join answered as a on a.target = e.target
    where e.kind = 'symbol_mismatch'
    group by e.target, e.driver
),

hosts as (
    select
        target,
        any_known(is_missing) as is_missing,
        string_agg(words, ', ' order by words) filter (is_missing) as words
    from refused
    group by target
)

select
    t.target,
    h.words as observed,
    'loaded' as expected,
    case when c.target is not null then c.has_one when a.pci then false end as applies,
    case
        when h.is_missing then true
        when l.is_whole and h.target is null then false
        when l.is_whole then h.is_missing
    end as fault
from host_scope as t
left join cards as c on c.target = t.target
left join answered as a on a.target = t.target
left join hosts as h on h.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
