/* +++
id = "XHP-01"
title = "The two ends of a link disagree on what is lossless"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.has_switches", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble",
  "end_scope.cohort", "end_scope.pfc_mask",
]
message = "{subject} has {observed}, the other end has {expected}"
implied_by = ["INTENT.pfc", "INTENT.trust", "INTENT.data_dscp", "QOS-01", "QOS-03", "SWQ-01", "SWQ-02", "SWQ-15"]
since = "0.3"
sources = [
  "review XHP-01, G-FABRIC", "incident I-070",
  "judgement: the end that is not as wanted is named; without a wish the one that is unlike its cohort; without either both",
]

[uses]
"end_scope.peer" = "nobody there: then there is no link to judge, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"site.pfc_mask" = "tells which end is wrong"
"site.trust" = "tells which end is wrong"
"site.data_priority" = "which priority must be lossless; where nobody says it, all are compared. Also tells which end is wrong"
"site.cnp_priority" = "tells which end is wrong"
"site.data_dscp" = "where nobody says it, maps are not compared"
"site.cnp_dscp" = "where nobody says it, maps are not compared"
"end_scope.trust" = "compared where both ends tell it: who does not go by DSCP has no class for it either"
"end_scope.data_class" = "asked where the site says the DSCP of data"
"end_scope.cnp_class" = "asked where the site says the DSCP of CNPs"
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
PFC works on a link only if both ends agree: a pause for priority 3 is nothing to an end that sends data in priority 0. Each machine looks
right by itself; under load this one hop drops, or pauses what it should not.

## What to do
Bring the end that is named here in line with the other one and with the site's profile: INTENT.pfc and INTENT.trust say how at a host, SWQ-01
and SWQ-02 at a switch. Changing PFC takes the link down for a moment.

## When it is wrong
Only what RoCE needs is compared: PFC of the data priority, trust, and the priority of data and of CNPs. Links whose other end was not read are
not judged. Where the finding says that it cannot be told which end is wrong, both are named and one of them is right.
*/
with usual as (
    select
        cohort,
        usual_of(trust) as trust,
        usual_of(pfc_mask) as pfc_mask,
        usual_of(data_class) as data_class,
        usual_of(cnp_class) as cnp_class
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
        s.trust as wanted_trust,
        s.data_priority as wanted_data,
        s.cnp_priority as wanted_cnp,
        s.data_dscp,
        s.cnp_dscp,
        u.trust as usual_trust,
        u.data_class as usual_data,
        u.cnp_class as usual_cnp,
        o.trust as other_usual_trust,
        o.data_class as other_usual_data,
        o.cnp_class as other_usual_cnp
    from end_pair as p
    cross join site as s
    left join usual as u on u.cohort = p.cohort
    left join usual as o on o.cohort = p.other_cohort
),

blamed as (
    select
        *,
        blame(pfc, other_pfc, wanted_pfc, wanted_pfc, usual_pfc, other_usual_pfc) as for_pfc,
        coalesce(blame(trust, other_trust, wanted_trust, wanted_trust, usual_trust, other_usual_trust), '') as for_trust, -- null: compared where both tell
        case when data_dscp is null then '' else blame(data_class, other_data_class, wanted_data, wanted_data, usual_data, other_usual_data) end as for_data,
        case when cnp_dscp is null then '' else blame(cnp_class, other_cnp_class, wanted_cnp, wanted_cnp, usual_cnp, other_usual_cnp) end as for_cnp
    from pairs
)

select
    target,
    port,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_pfc) then 'PFC on ' || priorities_of(pfc_mask) end,
        case when is_blamed(for_trust) then 'trust ' || trust end,
        case when is_blamed(for_data) then 'DSCP ' || data_dscp || ' in priority ' || case data_class when -1 then 'none' else data_class::VARCHAR end end,
        case when is_blamed(for_cnp) then 'DSCP ' || cnp_dscp || ' in priority ' || case cnp_class when -1 then 'none' else cnp_class::VARCHAR end end
    ) as observed,
    concat_ws( -- null: only what differs
        ', ',
        case when is_blamed(for_pfc) then priorities_of(other_pfc_mask) end,
        case when is_blamed(for_trust) then other_trust end,
        case when is_blamed(for_data) then case other_data_class when -1 then 'none' else other_data_class::VARCHAR end end,
        case when is_blamed(for_cnp) then case other_cnp_class when -1 then 'none' else other_cnp_class::VARCHAR end end
    ) as expected,
    has_switches and role in ('compute', 'fabric') and peer_kind in ('host', 'switch') as applies,
    case
        when cohort is not null
            then is_blamed(for_pfc) or is_blamed(for_trust) or is_blamed(for_data) or is_blamed(for_cnp)
    end as fault,
    'the other end is ' || peer || ':' || peer_port
        || case when 'cannot be told' in (for_pfc, for_trust, for_data, for_cnp) then '; which of both is wrong cannot be told' else '' end as detail,
    inferred
from blamed
