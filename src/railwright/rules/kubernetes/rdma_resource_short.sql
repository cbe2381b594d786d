/* +++
id = "K8S-05"
title = "A Kubernetes node offers fewer RDMA devices than it has registered"
severity = "medium"
subject = "host"
needs = ["kubernetes_resource.capacity_count", "kubernetes_resource.allocatable_count", "pcie_endpoint.kind"]
message = "{subject} offers {observed}"
since = "0.2"
sources = [
  "review K8S-05",
  "incident I-091",
  "judgement: the plugin's selector is not read, so only a resource without devices and one with devices taken out count",
]

[uses]
"probe_result.status" = "where nobody asked Kubernetes about a host it is taken for none of its nodes"
"host_scope.status" = "a machine that did not answer either may well be one"
"kubernetes_node.node" = {purpose = "words"}
"kubernetes_node.boot_id" = "an object of an earlier boot says nothing about this one"
"host.boot_id" = "the same"
+++
## Why it matters
Pods that ask for this resource do not start on the node, or all of its load falls on the devices that are left.

## What to do
Restart the device plugin's pod on this node: one that started before the driver had finished found no devices and does
not look again. Are there still fewer: its log says which devices it rejects, and PCI-07 and LNK-01 which of them are
not fit. Running pods keep their devices.

## When it is wrong
A resource that was renamed stays on the node with 0 until the kubelet restarts. Within ten minutes after a boot the
plugin may not be done yet. Fewer devices than the host has is no fault by itself: selectors leave out some on purpose.
*/
with cards as (
    select target, count(*) as count
    from pcie_endpoint
    where kind = 'nic'
    group by target
),

asked as (
    select target, bool_or(status = 'ok') as is_answered -- null: no answer is no row
    from probe_result
    where probe = 'kubernetes'
    group by target
),

resources as (
    select
        target,
        any_known(allocatable_count = 0 or allocatable_count < capacity_count) as is_short,
        string_agg(allocatable_count || ' of ' || capacity_count || ' ' || name, ', ' order by name) as words
    from kubernetes_resource
    where name like 'rdma/%' or regexp_matches(split_part(name, '/', 2), '(?i)rdma|roce|sriov|hostdev|mlnx|hca|infiniband')
    group by target
)

select
    t.target,
    r.words as observed,
    'all that are registered' as expected,
    case
        when a.target is null then case when t.status in ('reached', 'incomplete') then false end
        when not a.is_answered then null
        when r.target is null then false -- no plugin for RDMA on this node
        when c.count > 0 then true
    end as applies,
    case when k.boot_id <> h.boot_id then null else r.is_short end as fault,
    k.node as detail
from host_scope as t
left join asked as a on a.target = t.target
left join cards as c on c.target = t.target
left join host as h on h.target = t.target
left join kubernetes_node as k on k.target = t.target
left join resources as r on r.target = t.target
