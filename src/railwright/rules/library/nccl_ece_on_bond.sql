/* +++
id = "nccl-ece-on-bond"
aliases = ["NCC-08"]
title = "ECE left at its default on a bond"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "bond.mode_number",
    "library_setting.value", "library_setting.precedence",
]
message = "{subject} is bonded: {observed}; expected {expected}"
action = "ask"
setting = "library.setting"
preview = true
cost = "23 GB/s to 2.9 MB/s in one case (incident I-036)"
since = "0.2"
sources = ["review NCC-08", "incident I-036 I-037"]

[uses]
"site.fabric_mode" = "if the site file states the congestion control, that is checked instead"
"probe_result.status" = "distinguishes a port that is not a bond, or an unset variable, from data that was not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
With ECE, two NICs negotiate what both support, including congestion control, regardless of how the fabric was configured.
In isolated reports this selected a mode that did not work over a RoCE bond: throughput dropped by orders of magnitude.

## What to do
1. If bandwidth over the bond is far too low, compare a run with `UCX_RC_ECE=0` and `NCCL_IB_ECE_ENABLE=0`.
2. If that fixes it, write both into the libraries' files on all hosts. New jobs read the files; running jobs do not.
3. If it does not, or once all NICs have the same congestion control, state the mode of the fabric in the site file
   (its `profile`). The rule then no longer applies.

## Exceptions
Most bonds work with the default; the reports are isolated. A library that is not used needs no line. Only the host's
configuration files are read: values that a job sets itself are not seen.
*/
with settings as (
    select target, 'NCCL_IB_ECE_ENABLE' as name, value from library_value('NCCL_IB_ECE_ENABLE')
    union all
    select target, 'UCX_RC_ECE', value from library_value('UCX_RC_ECE')
),
ece as (
    select
        target,
        any_known(value <> '0' and lower(value) <> 'n') as left_on,
        string_agg(name, ' and ' order by name) filter (value <> '0' and lower(value) <> 'n') as names
    from settings
    group by target
),
members as (
    select target, bond, count(*) as members from bond_member group by target, bond
)
select
    p.target,
    p.device,
    p.port,
    e.names || ' left on' as observed,
    'ECE off, or congestion control stated in the site file' as expected,
    s.fabric_mode is null and p.link_layer = 'Ethernet' and p.role = 'compute'
        and case
            when b.netdev is not null then b.mode_number <> 1 and m.members > 1
            when r.status = 'ok' and p.netdev is not null then false
        end as applies,
    e.left_on as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
cross join site as s
left join bond as b on b.target = p.target and b.netdev = p.netdev
left join members as m on m.target = p.target and m.bond = p.netdev
left join ece as e on e.target = p.target
left join probe_result as r on r.target = p.target and r.probe = 'netdev' and r.instance = ''
