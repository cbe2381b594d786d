/* +++
id = "INTENT.compute_nics"
title = "Fewer compute NICs than the node class has"
severity = "blocker"
subject = "host"
needs = ["host_scope.has_class", "port_scope.card", "port_scope.role", "probe_result.status"]
message = "{subject} has {observed} compute NICs, its class has {expected}"
covers = ["PCI-08"]
implied_by = ["INV-01"]
since = "0.2"
sources = [
  "review PCI-08",
  "review G-ROLE, G-NETNS",
  "incident I-103, I-104",
  "judgement: a card that was left out only by an inferred role caps the severity",
]

[uses]
"host_scope.compute_nics" = "nothing is wanted where the class says nothing"
"port_scope.inferred" = {purpose = "severity", why = "where an inferred role left a card out"}
"nic_scope.driver" = "asked only where cards are missing: which are in a pod or a guest"
"nic_scope.device" = "the same"
"nic_scope.netns_mode" = "the same"
+++
## Why it matters
A job that counts on all rails fails or runs with a share of the bandwidth. Tools that adapt their expectation to what
they find pass such a host.

## What to do
Find the missing card: `lspci -d 15b3:` (is it on the bus?), the kernel's log for a failed probe, the port's state and
address (a port that is down and without an address counts as unused). Then in this order: reload the driver, firmware
reset, cold power cycle, reseat. Keep the host out of jobs until then.

## When it is wrong
A role that was inferred and is not what the card is for: name it in the site file. A host that belongs to another
class.
*/
with cards as (
    select
        target,
        count(distinct card) filter (role = 'compute') as compute,
        count(distinct card) filter (role is null) + count(*) filter (card is null) as unsure,
        count(distinct card) filter (role <> 'compute' and inferred) as left_out,
        string_agg(distinct device || ' ' || role, ', ' order by device || ' ' || role) filter (role <> 'compute') as others
    from port_scope
    group by target
),

-- In exclusive mode the RDMA device of a card goes with it into a pod, under vfio-pci into a guest; the function stays.
given_away as (
    select
        target,
        count(*) filter (driver = 'vfio-pci' or netns_mode = 'exclusive') as certain,
        count(*) filter (driver <> 'vfio-pci' and netns_mode is null) as perhaps
    from nic_scope
    where device is null and driver in ('mlx5_core', 'vfio-pci')
    group by target
),

answered as (
    select target, bool_or(status in ('ok', 'absent')) as rdma -- null: no answer is no row
    from probe_result
    where probe = 'infiniband'
    group by target
),

counted as (
    select
        h.target,
        h.has_class,
        h.compute_nics as wanted,
        case when a.rdma then coalesce(c.compute, 0) end as compute, -- null: read, and no port: none
        coalesce(c.unsure, 0) as unsure, -- null: the same
        c.left_out,
        c.others,
        coalesce(g.certain, 0) as certain, -- null: none
        coalesce(g.perhaps, 0) as perhaps -- null: none
    from host_scope as h
    left join cards as c on c.target = h.target
    left join given_away as g on g.target = h.target
    left join answered as a on a.target = h.target
)

select
    target,
    compute as observed,
    wanted as expected,
    case
        when has_class is null then null
        when wanted is null then false
        when compute < wanted and compute + certain >= wanted then false
        when compute < wanted and compute + certain + perhaps >= wanted then null
        else true
    end as applies,
    case when compute >= wanted then false when compute + unsure < wanted then true end as fault,
    'not counted: ' || others as detail,
    coalesce(compute + left_out >= wanted, false) as inferred -- null: no port, nothing was left out
from counted
