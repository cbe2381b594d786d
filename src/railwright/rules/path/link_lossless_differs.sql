/* +++
id = "link-lossless-differs"
aliases = ["XHP-01"]
title = "PFC mismatch between link partners"
severity = "high"
subject = "end"
peers = true
both_ends = true
needs = [
  "end_scope.has_switches", "end_scope.kind", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble",
  "end_scope.cohort", "end_scope.pfc_mask",
]
message = "{subject} has {observed}; its link partner has {expected}"
action = "set"
setting = "switch.pfc"
implied_by = ["intent-pfc", "intent-trust", "intent-data-dscp", "trust-pcp-untagged", "data-dscp-lossy", "switch-pfc-mismatch", "switch-data-class", "switch-cnp-queue"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.3"
sources = [
  "review XHP-01, G-FABRIC", "incident I-070",
  "sonic-buildimage files/build_templates/qos_config.j2 (PFC 3,4) with hosts that use 3 alone: in order",
  "Cumulus Linux 5.14, RDMA over Converged Ethernet: trust pcp,dscp takes the DSCP of IP packets, as trust dscp does",
  "judgement: which class CNPs have inside a machine is its own affair, only their DSCP is on the wire (switch-cnp-queue)",
  "judgement: the end that is not as wanted is named; without a wish the one that is unlike its cohort; without either both",
]

[uses]
"end_scope.peer" = "without a neighbor nothing is checked, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"site.pfc_mask" = "shows which end is wrong"
"site.trust" = "shows which end is wrong"
"site.data_priority" = "which priority must be lossless; without it, those of the host. Also shows which end is wrong"
"site.fabric_mode" = "if neither end of a lossy fabric has PFC, no class matters to both"
"site.data_dscp" = "without it, maps are not compared"
"end_scope.trust" = "not used if neither end has PFC and the site file does not set it"
"end_scope.data_class" = "used if the site file sets the DSCP of data"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
PFC works on a link only if both ends agree: a pause for priority 3 means nothing to an end that sends data in priority 0.
Each machine looks correct by itself; under load this one hop drops packets, or pauses what it should not.

## What to do
Make the reported end match its link partner and the site's profile: `intent-pfc` and `intent-trust` explain how on a host,
`switch-pfc-mismatch` and `switch-data-class` on a switch. Changing PFC takes the link down briefly.

## Exceptions
Only what RoCE needs is compared: PFC of the data priority, trust, and the priority of data. Trust `pcp,dscp` (Cumulus)
counts as dscp, because RoCE packets are IP packets. If the site file does not set
the data priority, the priorities that have PFC on a host must have it on the switch too, and two switches must share one.
Links whose link partner was not collected are not checked. If the finding says that it is unknown which end is wrong, both
are reported and one of them is right. If the site is lossy (`roce-lossy`) and neither end has PFC, classes are not compared.
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
        s.fabric_mode,
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
        -- Ends that share what data needs and have more besides: fine, unless one of them deviates from its kind.
        case
            when pfc = other_pfc then ''
            when not pfc_agrees then blame(pfc, other_pfc, wanted_pfc, wanted_pfc, usual_pfc, other_usual_pfc)
            when pfc_agrees and (is_pfc_open and usual_pfc is null or other_is_pfc_open and other_usual_pfc is null) then null
            when pfc_agrees and pfc <> usual_pfc then 'this end'
            when pfc_agrees and other_pfc <> other_usual_pfc then 'other end'
            when pfc_agrees then ''
        end as for_pfc,
        -- If neither end pauses anything and the site file sets no trust, no class depends on it.
        case
            when wanted_trust is not null or pfc <> 0 or other_pfc <> 0
                then blame(acting_trust(trust), acting_trust(other_trust), wanted_trust, wanted_trust, usual_trust, other_usual_trust)
            when pfc = 0 and other_pfc = 0 then ''
        end as for_trust,
        -- Where the site wants nothing lossless and neither end pauses anything, the class inside each is its own affair.
        case
            when data_dscp is null then ''
            when fabric_mode = 'lossy' and pfc = 0 and other_pfc = 0 then ''
            when fabric_mode = 'lossy' and (pfc is null or other_pfc is null) then null
            else blame(data_class, other_data_class, wanted_data, wanted_data, usual_data, other_usual_data)
        end as for_data
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
    'link partner ' || peer || ':' || peer_port
        || case when 'cannot be told' in (for_pfc, for_trust, for_data) then '; which of the two is wrong is unknown' else '' end as detail,
    inferred
from blamed
