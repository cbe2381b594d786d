/* +++
id = "k8s-rdma-resource-short"
aliases = ["K8S-05"]
title = "Kubernetes node offers too few RDMA devices"
severity = "medium"
subject = "host"
needs = ["kubernetes_resource.capacity_count", "kubernetes_resource.allocatable_count", "pcie_endpoint.kind"]
message = "{subject} offers {observed}"
action = "reset"
setting = "kubernetes.device_plugin"
since = "0.2"
sources = [
  "review K8S-05",
  "incident I-091",
  "judgement: the plugin's selector is not read, so only a resource without devices and one with devices taken out count",
]

[uses]
"probe_result.status" = "a host that Kubernetes was not queried about does not count as a node"
"host_scope.status" = "a machine that did not answer either may still be a node"
"kubernetes_node.node" = {purpose = "words"}
"kubernetes_node.boot_id" = "an object of an earlier boot says nothing about this one"
"host.boot_id" = "the same"
+++
## Why it matters
Pods that request this resource do not start on the node, or all of its load falls on the remaining devices.

## What to do
1. Restart the device plugin's pod on this node: if it started before the driver had finished, it found no devices and does
   not look again. Running pods keep their devices.
2. If there are still too few, check the plugin's log for the devices it rejects, and `nic-without-rdma` and `port-down` for
   those that are not usable.

## Exceptions
A renamed resource stays on the node with 0 until the kubelet restarts. In the first ten minutes after a boot the plugin may
not have finished yet. Fewer devices than the host has is not a fault by itself: selectors leave some out on purpose.
*/
with cards as (
    select target, count(*) as count
    from pcie_endpoint
    where kind = 'nic'
    group by target
),

asked as (
    select target, bool_or(status = 'ok') as is_answered -- null: without an answer no row exists
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
    'all registered devices' as expected,
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
