/* +++
id = "counter-above-peers"
aliases = ["FLT-04"]
title = "Counter growth far above peers"
severity = "medium"
subject = "port"
peers = true
needs = [
  "port_scope.role", "port_scope.cohort", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id",
  "before.host.boot_id",
]
message = "{subject} is far above its peers: {observed}"
action = "ask"
implied_by = ["rdma-retransmissions", "nic-drops-lossless", "nic-pause-storm", "slow-receiver"]
preview = true
baseline = true
since = "0.2"
sources = [
  "review FLT-04, G-FLEET, G-PCC, G-AR, G-WINDOW", "incident I-069, I-075",
  "judgement: which counters, and their floors",
]

[uses]
"port_scope.netdev" = "pause and drops, on Ethernet only; not visible in a pod"
"netdev_counter.value" = "the same"
"before.netdev_counter.value" = "the same"
"site.programmable_cc" = "CNP counters are then not evidence"
"port_scope.pci" = "used to look up the card's USER_PROGRAMMABLE_CC"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, which older cards do not have: the same"
"site.adaptive_routing" = "out-of-order packets are then normal"
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_members]
default = 8
unit = "ports of one cohort"
reason = "review G-FLEET: fewer are too few to compare"

[parameters.times_median]
default = 10
unit = "times the cohort's median rate"
reason = "review FLT-04"

[parameters.events_per_s]
default = 1
unit = "1/s"
reason = "judgement: floor for events that a good fabric does not have"

[parameters.notifications_per_s]
default = 100
unit = "1/s"
reason = "judgement: floor for congestion notifications, which every busy fabric has"

[parameters.pause_us_per_s]
default = 1000
unit = "us/s"
reason = "judgement: floor for pause, a thousandth of the time"
+++
## Why it matters
All ports of a cohort do the same work. A port whose counters grow much faster than its peers' is an early sign of a bad
link, a slow host or an overloaded path.

## What to do
1. Take a third snapshot: one window is a hint, two are a finding.
2. Follow the counter. Pause received points to the network, pause sent to this host, congestion notifications (CNPs) to the
   receiver that this port sends to, out of buffer to the software.

## Exceptions
Expected if jobs load their ports unevenly, e.g. the root of a broadcast or one host of a many-to-one pattern. Compare
during the same job, over the same time.
*/
-- A counter that went down was reset, unless its 32 bits went past their end.
with rdma as (
    select
        target,
        device,
        port,
        counter,
        case
            when counter not like '%cnp%' and earlier - value > 2147483648 then value - earlier + 4294967296
            else rise
        end / at_least(seconds, 1) as rate
    from rdma_rise
    where counter in ('out_of_sequence', 'out_of_buffer', 'rnr_nak_retry_err', 'np_cnp_sent', 'rp_cnp_handled')
),

ethernet as (
    select
        p.target,
        p.device,
        p.port,
        case when n.counter like '%pause%' then n.counter[1:2] || ' pause' else n.counter end as name,
        sum_known(n.rise)
            / at_least(max(n.seconds), 1) as rate
    from port_scope as p
    inner join netdev_rise as n on n.target = p.target and n.netdev = p.netdev
    where n.counter like '_x_prio__pause_duration' or n.counter = 'rx_discards_phy'
    group by p.target, p.device, p.port, name
),

rates as (
    select
        r.*,
        case when count(r.rate) over peers >= $least_members then median(r.rate) over peers end as usual, -- null: of enough peers
        case
            when r.counter like '%pause' then $pause_us_per_s
            when r.counter like '%cnp%' then $notifications_per_s
            else $events_per_s
        end as least,
        r.rate > least and r.rate > $times_median * usual as is_far
    from (from rdma union all from ethernet) as r
    inner join port_scope as p on p.target = r.target and p.device = r.device and p.port = r.port
    cross join site as s
    left join nic_parameter as u
        on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
    where not (r.counter like '%cnp%' and (s.programmable_cc or u.current_code = 1) is true)
        and not (r.counter = 'out_of_sequence' and s.adaptive_routing is true)
    window peers as (partition by p.cohort, r.counter)
),

ports as (
    select
        target,
        device,
        port,
        -- Every mlx5 card has this one: without it the port was not read.
        case when count(rate) filter (counter = 'out_of_buffer') > 0 then any_known(is_far) end as fault,
        string_agg(printf('%s %.0f/s (peers: %.0f/s)', counter, rate, usual), ', ' order by counter) filter (is_far) as words
    from rates
    group by target, device, port
),

cohorts as (
    select cohort, count(*) as members from port_scope group by cohort
)

select
    p.target,
    p.device,
    p.port,
    r.words as observed,
    'at most ' || $times_median || ' times the median of its cohort' as expected,
    p.role = 'compute' and case when p.cohort is not null then c.members >= $least_members end as applies,
    r.fault,
    'peers: ' || p.cohort as detail,
    p.inferred
from port_scope as p
left join ports as r on r.target = p.target and r.device = p.device and r.port = p.port
left join cohorts as c on c.cohort = p.cohort
