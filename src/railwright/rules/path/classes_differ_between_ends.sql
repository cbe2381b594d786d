/* +++
id = "XHP-01"
title = "The two ends of a link disagree on what is lossless"
severity = "high"
subject = "end"
peers = true
both_ends = true
needs = [
  "end_scope.has_switches", "end_scope.kind", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble",
  "end_scope.cohort", "end_scope.pfc_mask",
]
message = "{subject} has {observed}, the other end has {expected}"
implied_by = ["INTENT.pfc", "INTENT.trust", "INTENT.data_dscp", "QOS-01", "QOS-03", "SWQ-01", "SWQ-02", "SWQ-15"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.3"
sources = [
  "review XHP-01, G-FABRIC", "incident I-070",
  "sonic-buildimage files/build_templates/qos_config.j2 (PFC 3,4) with hosts that use 3 alone: in order",
  "Cumulus Linux 5.14, RDMA over Converged Ethernet: trust pcp,dscp takes the DSCP of IP packets, as trust dscp does",
  "judgement: which class CNPs have inside a machine is its own affair, only their DSCP is on the wire (QOS-06, SWQ-15)",
  "judgement: the end that is not as wanted is named; without a wish the one that is unlike its cohort; without either both",
]

[uses]
"end_scope.peer" = "nobody there: then there is no link to judge, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"site.pfc_mask" = "tells which end is wrong"
"site.trust" = "tells which end is wrong"
"site.data_priority" = "which priority must be lossless; where nobody says it, the host's are. Also tells which end is wrong"
"site.data_dscp" = "where nobody says it, maps are not compared"
"end_scope.trust" = "not asked where neither end has PFC and the site does not say it"
"end_scope.data_class" = "asked where the site says the DSCP of data"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
PFC works on a link only if both ends agree: a pause for priority 3 is nothing to an end that sends data in priority 0. Each machine looks
right by itself; under load this one hop drops, or pauses what it should not.

## What to do
Bring the end that is named here in line with the other one and with the site's profile: INTENT.pfc and INTENT.trust say how at a host, SWQ-01
and SWQ-02 at a switch. Changing PFC takes the link down for a moment.

## When it is wrong
Only what RoCE needs is compared: PFC of the data priority, trust, and the priority of data. Where the site does not say which priority that is, the
priorities that a host has PFC for must have it at the switch too, and two switches must share one. Links whose other end was not read are
not judged. Where the finding says that it cannot be told which end is wrong, both are named and one of them is right.
*/
with usual as (
    select
        cohort,
        usual_of(acting_trust(trust)) as trust,
        usual_of(pfc_mask) as pfc_mask,
        count(*) >= 4 and count(pfc_mask) < count(*) as is_pfc_open,
        usual_of(data_class) as data_class
    from grouped_end
    group by cohort
),

pairs as (
    select
        p.*,
        -- Of the masks only the bit that matters, if it is known which.
        case when s.data_priority is null then p.pfc_mask else p.pfc_mask & (1 << s.data_priority) end as pfc,
        case when s.data_priority is null then p.other_pfc_mask else p.other_pfc_mask & (1 << s.data_priority) end as other_pfc,
        case when s.data_priority is null then s.pfc_mask else s.pfc_mask & (1 << s.data_priority) end as wanted_pfc,
        case when s.data_priority is null then u.pfc_mask else u.pfc_mask & (1 << s.data_priority) end as usual_pfc,
        case when s.data_priority is null then o.pfc_mask else o.pfc_mask & (1 << s.data_priority) end as other_usual_pfc,
        acting_trust(s.trust) as wanted_trust,
        s.data_priority as wanted_data,
        s.data_dscp,
        u.trust as usual_trust,
        u.data_class as usual_data,
        u.is_pfc_open,
        o.is_pfc_open as other_is_pfc_open,
        o.trust as other_usual_trust,
        o.data_class as other_usual_data
    from end_pair as p
    cross join site as s
    left join usual as u on u.cohort = p.cohort
    left join usual as o on o.cohort = p.other_cohort
),

agreed as (
    select
        *,
        case
            when pfc = other_pfc then true
            when pfc = 0 or other_pfc = 0 then false
            when kind = 'host' then pfc & (255 - other_pfc) = 0
            when other_kind = 'host' then other_pfc & (255 - pfc) = 0
            else pfc & other_pfc <> 0
        end as pfc_agrees
    from pairs
),

blamed as (
    select
        *,
        -- Ends that share what data needs and have more besides: in order, unless one of them is unlike its kind.
        case
            when pfc = other_pfc then ''
            when not pfc_agrees then blame(pfc, other_pfc, wanted_pfc, wanted_pfc, usual_pfc, other_usual_pfc)
            when pfc_agrees and (is_pfc_open and usual_pfc is null or other_is_pfc_open and other_usual_pfc is null) then null
            when pfc_agrees and pfc <> usual_pfc then 'this end'
            when pfc_agrees and other_pfc <> other_usual_pfc then 'other end'
            when pfc_agrees then ''
        end as for_pfc,
        -- Where neither end pauses anything and nobody says what is wanted, no class is sorted by it.
        case
            when wanted_trust is not null or pfc <> 0 or other_pfc <> 0
                then blame(acting_trust(trust), acting_trust(other_trust), wanted_trust, wanted_trust, usual_trust, other_usual_trust)
            when pfc = 0 and other_pfc = 0 then ''
        end as for_trust,
        case when data_dscp is null then '' else blame(data_class, other_data_class, wanted_data, wanted_data, usual_data, other_usual_data) end as for_data
    from agreed
)

select
    target,
    port,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_pfc) then 'PFC on ' || priorities_of(pfc_mask) end,
        case when is_blamed(for_trust) then 'trust ' || trust end,
        case when is_blamed(for_data) then 'DSCP ' || data_dscp || ' in priority ' || case data_class when -1 then 'none' else data_class::VARCHAR end end
    ) as observed,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_pfc) then priorities_of(other_pfc_mask) end,
        case when is_blamed(for_trust) then other_trust end,
        case when is_blamed(for_data) then case other_data_class when -1 then 'none' else other_data_class::VARCHAR end end
    ) as expected,
    has_switches and role in ('compute', 'fabric') and peer_kind in ('host', 'switch') as applies,
    case
        when cohort is not null and kind is not null
            then is_blamed(for_pfc) or is_blamed(for_trust) or is_blamed(for_data)
    end as fault,
    'the other end is ' || peer || ':' || peer_port
        || case when 'cannot be told' in (for_pfc, for_trust, for_data) then '; which of both is wrong cannot be told' else '' end as detail,
    inferred
from blamed
