/* +++
id = "intent-compute-nics"
aliases = ["INTENT.compute_nics"]
title = "Fewer compute NICs than the node class"
severity = "blocker"
subject = "host"
needs = ["host_scope.has_class", "port_scope.card", "port_scope.role", "probe_result.status"]
message = "{subject} has {observed} compute NICs; its node class has {expected}"
action = "reseat"
covers = ["PCI-08"]
implied_by = ["part-missing"]
since = "0.2"
sources = [
  "review PCI-08",
  "review G-ROLE, G-NETNS",
  "incident I-103, I-104",
  "judgement: a card that was left out only by an inferred role caps the severity",
]

[uses]
"host_scope.compute_nics" = "not checked unless the node class sets it"
"port_scope.inferred" = {purpose = "severity", why = "if a card was left out because of an inferred role"}
"nic_scope.driver" = "read only if cards are missing: which of them are in a pod or a guest"
"nic_scope.device" = "the same"
"nic_scope.netns_mode" = "the same"
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other ports carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
+++
## Why it matters
A job that expects all rails fails, or runs with part of the bandwidth. Tools that adapt their expectation to what they
find pass such a host.

## What to do
Keep the host out of jobs until the card is back.
1. Find the missing card. Check whether it is on the bus (`lspci -d 15b3:`), and the kernel log for a failed probe.
2. Reload the driver.
3. Reset the firmware.
4. Do a cold power cycle.
5. Reseat the card.

## Exceptions
A card whose port is down still counts: `port-down` reports it. A front-end card with another chip than the compute NICs
does not count, even below a GPU's switch. If cards that were left out by an inferred role could fill the gap, the severity
is at most medium. A class that names its `hosts`, as `railwright intent init` proposes it, keeps a host that lost a card; a
class by `kind` does not. If the inferred role of a card is wrong, set its role in the site file. If the host belongs to
another node class, correct its class in the site file.
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

-- In exclusive mode the RDMA device of a card moves into a pod with it, under vfio-pci into a guest; the function stays.
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
    select target, bool_or(status in ('ok', 'absent')) as rdma -- null: no row without an answer
    from probe_result
    where probe = 'infiniband'
    group by target
),

counted as (
    select
        h.target,
        h.has_class,
        h.compute_nics as wanted,
        case when a.rdma then coalesce(c.compute, 0) end as compute, -- null: collected, but no port: none
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
    c.target,
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
    coalesce(compute + left_out >= wanted, false) as inferred, -- null: no port, nothing was left out
    case when compute < wanted and unsure = 0 then round((wanted - compute) * o.card_gbps, 1) end as cost_gbps
from counted as c
left join card_wire as o on o.target = c.target and o.role = 'compute'
