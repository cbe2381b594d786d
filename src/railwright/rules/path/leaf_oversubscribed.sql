/* +++
id = "leaf-oversubscribed"
aliases = ["TOP-06"]
title = "Leaf more oversubscribed than intended"
severity = "medium"
subject = "switch"
needs = ["switch_place.tier", "switch_place.down_mbps", "switch_place.up_mbps", "switch_place.up_links"]
message = "{subject} has {observed} of downlink speed for each of uplink; the site was built for {expected}"
action = "ask"
implied_by = ["uplinks-missing", "cable-unlike-plan"]
since = "0.3"
sources = ["SUPERPOD: fabrics that are not oversubscribed", "judgement: only links that are up count"]

[uses]
"target.kind" = "the run itself records which machines are switches"
"site.oversubscription" = "nothing is expected if the site file does not set it"
+++
## Why it matters
Traffic between leaves gets at most its share of the uplinks: at 2.0 that is half of what the hosts can send. A site that
was planned at 1.0 and runs at 1.1 loses a tenth in every collective that leaves the leaf.

## What to do
Find the missing uplinks (`uplinks-missing`), or hosts that were added to the leaf. If the ratio is intended, set
`oversubscription` in the site file.

## Exceptions
Expected in fabrics whose traffic stays below the leaf by design. A leaf without uplinks cannot be compared.
*/
select
    t.target,
    printf('%.2f', p.down_mbps / p.up_mbps) as observed,
    printf('%.2f', s.oversubscription) as expected,
    s.oversubscription is not null and p.tier = 1 and p.up_links > 0 as applies,
    p.down_mbps > p.up_mbps * s.oversubscription * 1.0001 as fault, -- a ratio that was rounded in the site file is not a fault
    round(at_least(p.down_mbps / s.oversubscription - p.up_mbps, 0) / 1000, 1) as cost_gbps
from target as t
cross join site as s
left join switch_place as p on p.target = t.target
where t.kind = 'switch'
