/* +++
id = "link-settings-differ"
aliases = ["XHP-02"]
title = "Speed, FEC or autonegotiation mismatch"
severity = "high"
subject = "end"
peers = true
both_ends = true
on_path = {packets = ["data", "CNP", "other"], sides = ["in", "out"]}
needs = ["end_scope.has_switches", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble", "end_scope.fec"]
message = "{subject} has {observed}; its link partner has {expected}"
action = "set"
setting = "nic.fec"
since = "0.3"
sources = [
  "review XHP-02", "incident I-080, I-081",
  "judgement: the speed in force of a link that is up is the same at both ends, so what is asked for is compared; negotiation that differs on every link alike is a matter of words",
]

[grades]
high = "FEC or the configured speed differs"
low = "only autonegotiation differs"

[uses]
"end_scope.cohort" = "tells which of two ends is wrong, and whether they negotiate differently by design"
"end_scope.peer" = "without a neighbor nothing is checked, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"end_scope.speed_asked_mbps" = "compared if neither end autonegotiates: otherwise none is configured"
"end_scope.autonegotiation" = "compared if both ends report it: alone it does not break a link that is up"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A link whose ends are configured differently comes up by luck, and not after the next reboot. With different FEC one end may
report that it is up while its link partner is down.

## What to do
Give the wrong end the setting of its link partner. The wrong end is the one that deviates from its peers, or does not match
intent (`ethtool --set-fec`, `mlxlink`; on a switch the port's fec, speed and autoneg). The link goes down for this, even if
the same value is written again, and stays down if the two still differ: have another way in.

## Exceptions
MTU is not compared here: a switch's MTU is larger by design (`host-mtu-above-switch`). FEC families are compared (none, FC,
RS), not the vendors' names for them.
*/
with usual as (
    select
        cohort,
        usual_of(fec) as fec,
        usual_of(speed_asked_mbps) as speed_asked_mbps,
        usual_of(autonegotiation) as autonegotiation
    from grouped_end
    group by cohort
),

pairs as (
    select
        p.*,
        u.fec as usual_fec,
        o.fec as other_usual_fec,
        u.speed_asked_mbps as usual_speed,
        o.speed_asked_mbps as other_usual_speed,
        u.autonegotiation as usual_negotiation,
        o.autonegotiation as other_usual_negotiation
    from end_pair as p
    left join usual as u on u.cohort = p.cohort
    left join usual as o on o.cohort = p.other_cohort
),

blamed as (
    select
        *,
        blame(fec, other_fec, null, null, usual_fec, other_usual_fec) as for_fec,
        case
            when not autonegotiation and not other_autonegotiation
                then coalesce(blame(speed_asked_mbps, other_speed_asked_mbps, null, null, usual_speed, other_usual_speed), '') -- null: compared where both report it
            else ''
        end as for_speed,
        case
            when autonegotiation = usual_negotiation and other_autonegotiation = other_usual_negotiation then ''
            when cohort is null and autonegotiation <> other_autonegotiation then null
            else coalesce(blame(autonegotiation, other_autonegotiation, null, null, usual_negotiation, other_usual_negotiation), '') -- null: compared where both report it
        end as for_negotiation
    from pairs
)

select
    target,
    port,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_fec) then 'FEC ' || fec end,
        case when is_blamed(for_speed) then printf('%d Gb/s', speed_asked_mbps // 1000) end,
        case when is_blamed(for_negotiation) then 'autonegotiation ' || case when autonegotiation then 'on' else 'off' end end
    ) as observed,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_fec) then other_fec end,
        case when is_blamed(for_speed) then printf('%d Gb/s', other_speed_asked_mbps // 1000) end,
        case when is_blamed(for_negotiation) then case when other_autonegotiation then 'autonegotiation on' else 'autonegotiation off' end end
    ) as expected,
    has_switches and role in ('compute', 'storage', 'fabric') and peer_kind in ('host', 'switch') as applies,
    is_blamed(for_fec) or is_blamed(for_speed) or is_blamed(for_negotiation) as fault,
    'link partner ' || peer || ':' || peer_port
        || case when 'cannot be told' in (for_fec, for_speed, for_negotiation) then '; which of the two is wrong is unknown' else '' end as detail,
    inferred,
    case when is_blamed(for_fec) or is_blamed(for_speed) then 'high' else 'low' end as severity,
    case
        when has_switches and role is not null and peer_kind is not null and other_role is not null and (fec is null or other_fec is null) then 'fec'
    end as unread_facts
from blamed
