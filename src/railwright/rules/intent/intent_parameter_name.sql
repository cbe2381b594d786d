/* +++
id = "intent-parameter-name"
aliases = ["INTENT.parameter_name"]
title = "Intent names an unknown firmware parameter"
severity = "medium"
subject = "nic"
peers = true
needs = ["nic_scope.device_id", "rdma_device.pci", "rdma_device.psid", "nic_parameter.current_text"]
message = "{subject} has no parameter {observed}, which the site file sets"
action = "ask"
since = "0.2"
sources = [
  "judgement: a wish that no card can fulfil is a mistake in the site file or a card of another kind",
  "review FWC-06, G-PF",
  "mstflint mlxconfig_host.db: parameters shown only while another one is set",
]

[uses]
"wanted_parameter.value" = "only whether a value is set"
"nic_firmware.psid" = "read only if no RDMA device is visible: it is in a pod's namespace, or this is the second function of a bond"
"nic_parameter.current_code" = "for parameters that hide others: if it was not collected, it may hide them"
"probe_result.status" = "distinguishes a parameter that the card does not offer from one that was not collected"
+++
## Why it matters
The site file sets a value, but `intent-parameter` finds nothing to compare it with and leaves it out. The setting seems
to be checked, but is not. Usually the name has a typo or lacks its port: LINK_TYPE instead of LINK_TYPE_P1.

## What to do
1. Run `railwright sql "SELECT DISTINCT name, port FROM nic_parameter"` to list what the cards offer.
2. Correct the name in the site file, or remove it.

## Exceptions
If all cards of the type run firmware that does not have the parameter yet, it is the firmware that deviates from the
plan. If another card of the type has the parameter and this one does not, it is not reported here. If the parameter may
only be hidden, the check is inconclusive.
*/
with named as (
    select
        psid,
        value,
        name as written,
        regexp_extract(name, '^(.*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]+)\])?$', ['name', 'port', 'element']) as said
    from (from wanted_parameter union all by name select distinct name from wanted_parameter)
),

boards as (
    select target, pci, min(psid) as psid
    from rdma_device
    group by all
),

offered as (
    select distinct target, pci, name, port
    from nic_parameter
    where current_text is not null and name in (select said.name from named)
),

cards as (
    select
        n.target,
        n.pci,
        n.device_id,
        case when r.pci is null then f.psid else r.psid end as psid
    from nic_scope as n
    left join boards as r on r.target = n.target and r.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
),

wishes as (
    select
        c.target,
        c.pci,
        w.psid,
        w.written,
        w.value,
        w.said.name as name,
        coalesce(try_cast(w.said.port as integer), 0) as port, -- null: not per port
        -- A BlueField may hide these from its host.
        c.device_id in ('a2d2', 'a2d6', 'a2dc', 'a2df') and w.said.name like 'INTERNAL_CPU_%' as is_restricted,
        case
            when w.said.name in ('MAX_ACC_OUT_READ', 'FORCE_ETH_PCI_SUBCLASS', 'IBM_CAPI_EN') then 'ADVANCED_PCI_SETTINGS'
            when w.said.name = 'PHY_RATE_MASK' then 'PHY_RATE_MASK_OVERRIDE'
        end as gate
    from cards as c
    inner join named as w on w.psid is not distinct from c.psid -- null: a card whose board id was not collected may be of any type
),

-- Only cards with parameters in the site file: most sites name few parameters, and there are 150 per card.
answered as (
    select distinct n.target, n.pci
    from (select distinct target, pci from wishes) as w
    inner join nic_parameter as n on n.target = w.target and n.pci = w.pci
    where n.current_text is not null
),

gates as (
    select n.target, n.pci, n.name, n.port, n.current_code
    from (select distinct target, pci from wishes where gate is not null) as w
    inner join nic_parameter as n on n.target = w.target and n.pci = w.pci
    where n.name in ('ADVANCED_PCI_SETTINGS', 'PHY_RATE_MASK_OVERRIDE') and n.element = -1
),

-- One card that has it is enough: the name is correct.
somewhere as (
    select distinct w.psid, w.name, w.port
    from wishes as w
    inner join offered as o on o.target = w.target and o.pci = w.pci and o.name = w.name and o.port = w.port
),

judged as (
    select
        w.target,
        w.pci,
        w.written,
        case
            when w.value is null then null
            when s.name is not null then false
            when q.status is null or q.status <> 'ok' or w.is_restricted then null
            when p.target is null then null -- an answer without a single value in force
            when g.pci is not null and (g.current_code is null or g.current_code = 0) then null
            else true
        end as is_missing
    from wishes as w
    left join somewhere as s on s.psid = w.psid and s.name = w.name and s.port = w.port
    left join probe_result as q on q.target = w.target and q.instance = w.pci and q.probe = 'mlxconfig'
    left join answered as p on p.target = w.target and p.pci = w.pci
    left join gates as g
        on g.target = w.target and g.pci = w.pci and g.name = w.gate
        and g.port = case when w.gate = 'ADVANCED_PCI_SETTINGS' then 0 else w.port end
),

names as (
    select
        target,
        pci,
        any_known(is_missing) as fault,
        array_to_string(list_sort(list(written) filter (is_missing)), ', ') as listed
    from judged
    group by target, pci
)

select
    c.target,
    c.pci,
    n.listed as observed,
    'a parameter that mlxconfig lists' as expected,
    case
        when is_virtual_function(c.device_id) then false -- virtual, in a guest
        when c.device_id is null then null
        else n.pci is not null
    end as applies,
    n.fault
from cards as c
left join names as n on n.target = c.target and n.pci = c.pci
