/* +++
id = "link-flapping"
aliases = ["LNK-06"]
title = "Link flapping or down for long"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "netdev_counter.value", "before.netdev_counter.value", "rdma_counter.value",
  "before.rdma_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "The link of {subject} went down {observed}"
action = "reseat"
implied_by = ["port-down", "module-hot"]
baseline = true
since = "0.2"
sources = [
  "review LNK-05, LNK-06, G-WINDOW", "incident I-072, I-073",
  "https://docs.nvidia.com/health-validation/reference/checks/infiniband.md (an outage of 30 s)",
]

[unless]
"netdev_counter.value" = "the port is InfiniBand"
"before.netdev_counter.value" = "the port is InfiniBand"
"rdma_counter.value" = "the port is Ethernet"
"before.rdma_counter.value" = "the port is Ethernet"

[uses]
"port_scope.netdev" = "used on Ethernet only"
"port_scope.inferred" = {purpose = "severity"}
"kernel_message.kind" = "the length of the outage, used if the link went down once"
"kernel_message.seconds" = "the same"
"kernel_message.state" = "the same"
"kernel_message.netdev" = "the same"
"before.kernel_message.seconds" = "the same: what was already in the log is not new"

[parameters.flaps_per_day]
default = 2
unit = "times a day, and at least that many in total"
reason = "review LNK-05: two flaps are worse than one; the day is judgement"

[parameters.outage_s]
default = 30
unit = "s"
reason = "review LNK-06: NVIDIA's health validation counts outages of 30 s or more"
+++
## Why it matters
A cable or module that fails repeatedly will fail under the next job too, and retries do not bridge 30 seconds: with NCCL's
default timeout a job has lost its connection by then or soon after.

## What to do
1. Take the host out of jobs.
2. Clean, reseat, swap the cable, then swap one port at a time. Check `link-ber-high`, `fec-uncorrectable` and
   `optical-power-out-of-range` to see which end is bad.
3. Set a new baseline and watch the link for a day.

## Exceptions
Planned work at either end, a driver reload and a switch reboot count too: the counters cannot tell the difference. The
length of a single outage is only in the kernel log, for Ethernet devices only. Without that log, or if it has dates instead
of seconds, the length is unknown.
*/
-- InfiniBand's counter has 8 bits and stays at 255.
with rises as (
    select target, netdev as place, rise, seconds from netdev_rise where counter = 'link_down_events_phy'
    union all
    select target, device || '/' || port, case when value < 255 then rise end, seconds from rdma_rise where counter = 'link_downed'
),

-- On Ethernet the network devices count, for a bond its members; the IB counter means nothing there.
places as (
    select
        p.target,
        p.device,
        p.port,
        case
            when p.link_layer = 'InfiniBand' then p.device || '/' || p.port
            when p.link_layer = 'Ethernet' then l.netdev
        end as place
    from port_scope as p
    left join port_link as l on l.target = p.target and l.device = p.device and l.port = p.port
),

-- Only what is newer than the earlier log.
outages as (
    select k.target, k.netdev, max(k.lasted) as lasted, count(k.lasted) as measured
    from (
        select target, netdev, seconds, state, lead(seconds) over (partition by target, netdev order by place) - seconds as lasted
        from kernel_message
        where kind = 'link'
    ) as k
    inner join (select target, max(seconds) as seconds from before.kernel_message group by target) as b
        on b.target = k.target and k.seconds > b.seconds
    where k.state = 'down'
    group by k.target, k.netdev
),

ports as (
    select
        p.target,
        p.device,
        p.port,
        sum_known(r.rise) as flaps,
        max(r.seconds) as seconds,
        max(k.lasted) as lasted,
        sum(k.measured) as measured -- null: none
    from places as p
    left join one_boot as o on o.target = p.target
    left join rises as r on r.target = p.target and r.place = p.place
    left join outages as k on k.target = o.target and k.netdev = p.place
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    case when f.flaps = 1 then 'once' else f.flaps || ' times' end || printf(' in %.1f hours', f.seconds / 3600)
        || case when f.lasted >= $outage_s then printf(', for up to %.0f s', f.lasted) else '' end as observed,
    'fewer than ' || $flaps_per_day || ' times a day, each shorter than ' || $outage_s || ' s' as expected,
    p.role in ('compute', 'storage') and case p.link_layer when 'InfiniBand' then true when 'Ethernet' then p.netdev <> '' end
        as applies,
    case
        when f.flaps = 0 then false
        when f.flaps >= $flaps_per_day and f.flaps >= $flaps_per_day * f.seconds / 86400 then true
        when f.lasted >= $outage_s then true
        -- An outage that is not in the log, or not over yet, may be the long one.
        when f.measured >= f.flaps then false
    end as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join ports as f on f.target = p.target and f.device = p.device and f.port = p.port
