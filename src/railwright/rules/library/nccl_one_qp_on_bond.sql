/* +++
id = "nccl-one-qp-on-bond"
aliases = ["NCC-05"]
title = "One NCCL queue pair on a bond"
severity = "low"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "bond.mode_number",
    "library_setting.value", "library_setting.precedence",
]
message = "{subject} is bonded and NCCL_IB_QPS_PER_CONNECTION is {observed}; {expected} would use both links"
action = "ask"
setting = "library.setting"
preview = true
cost = "240 instead of 395 Gb/s on 2x200G (incident I-034)"
since = "0.2"
sources = ["review NCC-05", "incident I-034", "reference B9"]

[uses]
"probe_result.status" = "distinguishes a port that is not a bond, or an unset variable, from data that was not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A queue pair stays on one link of the bond. NCCL opens one per connection and channel: with few channels, a link can stay
idle, and with it half of the port's bandwidth.

## What to do
1. Compare the byte counters of the two members.
2. Only if one carries more than half as much again as the other, set `NCCL_IB_QPS_PER_CONNECTION=2` in /etc/nccl.conf on
   all hosts of the pool. New jobs read the file; running jobs do not.

## Exceptions
Several channels spread over the links by themselves: if both members carry the same amount, waive the finding. Only the
host's configuration files are read: values that a job sets itself are not seen.
*/
with queue_pairs as (
    -- Not set: NCCL's default.
    select target, case when value = '' then 1 else try_cast(value as integer) end as value
    from library_value('NCCL_IB_QPS_PER_CONNECTION')
),
members as (
    select target, bond, count(*) as members from bond_member group by target, bond
)
select
    p.target,
    p.device,
    p.port,
    q.value as observed,
    '2 or more' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute'
        -- A standby link (mode 1) carries nothing by design.
        and case
            when b.netdev is not null then b.mode_number <> 1 and m.members > 1
            when r.status = 'ok' and p.netdev is not null then false
        end as applies,
    q.value < 2 as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join bond as b on b.target = p.target and b.netdev = p.netdev
left join members as m on m.target = p.target and m.bond = p.netdev
left join queue_pairs as q on q.target = p.target
left join probe_result as r on r.target = p.target and r.probe = 'netdev' and r.instance = ''
