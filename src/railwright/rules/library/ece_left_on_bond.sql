/* +++
id = "NCC-08"
title = "Enhanced connection establishment left to its default over a bond"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "bond.mode_number",
    "library_setting.value", "library_setting.precedence",
]
message = "{subject} is bonded: {observed}; wanted: {expected}"
preview = true
cost = "23 GB/s to 2.9 MB/s in one case (incident I-036)"
since = "0.2"
sources = ["review NCC-08", "incident I-036 I-037"]

[uses]
"site.fabric_mode" = "where the site says which congestion control it has, that is what is checked"
"probe_result.status" = "tells a port that is no bond, or a variable that is not set, from what was not read"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
With ECE two NICs agree on what both can do, congestion control included, whatever the fabric was set up for. In single
reports that chose a mode that did not work over a RoCE bond: traffic fell by orders of magnitude.

## What to do
If bandwidth over the bond is far too low, compare a run with `UCX_RC_ECE=0` and `NCCL_IB_ECE_ENABLE=0`. If that cures it,
write both into the libraries' files on all hosts, or align the congestion control settings of all NICs. New jobs read
the files, running ones do not.

## When it is wrong
Most bonds work with the default; these are single reports. A library that nobody uses needs no line. Only the host's
configuration files are read: what a job sets itself is not seen.
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
    'ECE off, or a site file that says which congestion control there is' as expected,
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
