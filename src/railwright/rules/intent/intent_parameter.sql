/* +++
id = "intent-parameter"
aliases = ["INTENT.parameter"]
title = "Firmware parameter does not match intent"
severity = "high"
subject = "parameter"
enumerated_by = "pci" # parameters in the site file and cards on the bus: without a parameter there is nothing to check
needs = ["nic_scope.device_id", "rdma_device.pci", "rdma_device.psid", "nic_parameter.current_text"]
message = "{subject} is {observed}; intent is {expected}"
action = "set"
setting = "nic.parameter"
fix = "mlxconfig -d PCI set NAME=EXPECTED"
covers = ["FWC-06", "FWC-07"]
since = "0.2"
sources = [
  "review FWC-06, FWC-07, FWC-12, G-PF, EFFECTS",
  "reference B1.0, B1.1",
  "incident I-120, I-122, I-126",
  "mstflint mlxconfig_host.db: parameters shown only while another one is set",
]

[uses]
"wanted_parameter.value" = "parameters that the site file does not name are not checked"
"nic_firmware.psid" = "read only if no RDMA device is visible: it is in a pod's namespace, or this is the second function of a bond"
"nic_parameter.current_code" = "arrays and long numbers have none: only the text can be compared then"
"nic_parameter.next_text" = {purpose = "words"}
"probe_result.status" = "distinguishes a parameter that the card does not offer from one that was not collected"
+++
## Why it matters
The site file defines how cards of this type are configured. A wrong LINK_TYPE keeps the link down. A BlueField in the
wrong mode puts another system into the data path. Other parameters change what the card can do.

## What to do
1. Run `mlxconfig -d PCI set NAME=EXPECTED`. The value is persistent, but does not take effect yet.
2. In a maintenance window, run `mlxfwreset -d PCI query` and reset at a level that it offers. The reset takes down every
   function of the card, on multi-host and Socket Direct cards also those of the other hosts. Some machines need a power
   cycle.
3. For the mode of a BlueField, shut down the Arm side first, then do a cold power cycle and read the mode again. A
   firmware reset has been seen to revert the mode.

## Exceptions
A parameter that the card does not offer is left out here; `intent-parameter-name` reports a name that no card of the type
has. If the parameter may only be hidden, the check is inconclusive.
*/
-- Cards whose board id was not collected have separate rows, with nothing to compare with.
with named as (
    select
        psid,
        value,
        regexp_extract(name, '^(.*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]+)\])?$', ['name', 'port', 'element']) as said
    from (from wanted_parameter union all by name select distinct name from wanted_parameter)
),

boards as (
    select target, pci, min(psid) as psid
    from rdma_device
    group by all
),

-- Of a card's hundreds of parameters, only those in the site file and those that may hide them.
offered as (
    select target, pci, name, port, element, current_text, current_code, next_text
    from nic_parameter
    where name in (select said.name from named) or name in ('ADVANCED_PCI_SETTINGS', 'PHY_RATE_MASK_OVERRIDE')
),

wishes as (
    select
        n.target,
        n.pci,
        n.device_id,
        w.value,
        w.said.name as name,
        coalesce(try_cast(w.said.port as integer), 0) as port, -- null: not per port
        coalesce(try_cast(w.said.element as integer), -1) as element, -- null: not an element of an array
        -- A BlueField may hide these from its host.
        n.device_id in ('a2d2', 'a2d6', 'a2dc', 'a2df') and w.said.name like 'INTERNAL_CPU_%' as is_restricted,
        -- What must be set for mlxconfig to show it; an element of an array is shown only on request.
        case
            when w.said.element <> '' then w.said.name
            when w.said.name in ('MAX_ACC_OUT_READ', 'FORCE_ETH_PCI_SUBCLASS', 'IBM_CAPI_EN') then 'ADVANCED_PCI_SETTINGS'
            when w.said.name = 'PHY_RATE_MASK' then 'PHY_RATE_MASK_OVERRIDE'
        end as gate
    from nic_scope as n
    left join boards as r on r.target = n.target and r.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
    inner join named as w on w.psid is not distinct from case when r.pci is null then f.psid else r.psid end -- null: see above
)

select
    w.target,
    w.pci,
    w.name,
    w.port,
    w.element,
    p.current_text as observed,
    w.value as expected,
    case
        when is_virtual_function(w.device_id) then false -- virtual, in a guest
        when w.device_id is null or w.value is null then null
        -- Not offered: nothing hides it, or what could hide it does not.
        when p.pci is null and q.status = 'ok' and g.pci is null and not w.is_restricted then false
        when p.pci is null and q.status = 'ok' and w.element < 0 and g.current_code <> 0 then false
        else true
    end as applies,
    case
        when p.current_text is null or p.current_text = 'N/A' or p.current_text like 'Array[%' then null
        when lower(w.value) in ('true', 'false') then p.current_code <> (lower(w.value) = 'true')::bigint
        when try_cast(w.value as bigint) is not null then p.current_code <> try_cast(w.value as bigint)
        else not w.value in (p.current_text, split_part(p.current_text, '(', 1))
    end as fault,
    case when p.next_text <> p.current_text then 'changes to ' || p.next_text || ' at the next reset' end as detail
from wishes as w
left join probe_result as q on q.target = w.target and q.instance = w.pci and q.probe = 'mlxconfig'
left join offered as p
    on p.target = w.target and p.pci = w.pci and p.name = w.name and p.port = w.port and p.element = w.element
left join offered as g
    on g.target = w.target and g.pci = w.pci and g.name = w.gate and g.element = -1
    and g.port = case when w.gate = 'ADVANCED_PCI_SETTINGS' then 0 else w.port end
