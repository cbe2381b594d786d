/* +++
id = "rdma-retransmissions"
aliases = ["CNT-01"]
title = "RDMA retransmissions"
severity = "high"
subject = "port"
peers = true
needs = [
  "port_scope.role", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "{subject} retransmits packets: {observed}"
action = "ask"
implied_by = ["fec-uncorrectable", "link-ber-high", "link-went-down", "link-flapping", "nic-drops-lossless"]
baseline = true
cost = "all-reduce fell to 0.x GB/s where packets were dropped (incident I-059)"
since = "0.2"
sources = [
  "review CNT-01, G-WINDOW, G-FLEET", "reference B5", "incident I-059, I-072",
  "Linux drivers/infiniband/hw/mlx5/counters.c (32 bits, which wrap)",
  "Linux drivers/infiniband/sw/rxe/rxe_hw_counters.c, rxe_comp.c (Soft-RoCE: names, and what adds to them)",
]

[uses]
"port_scope.cohort" = "used where more than one packet per second is retransmitted"
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_members]
default = 8
unit = "ports of one cohort"
reason = "review G-FLEET: fewer are too few to compare"

[parameters.times_median]
default = 10
unit = "times the cohort's median of events per million packets"
reason = "review CNT-01"

[parameters.events_per_s]
default = 1
unit = "1/s, over 60 s or more"
reason = "review CNT-01: fewer are not worth acting on"
+++
## Why it matters
After a lost packet, RoCE retransmits the whole window. A timeout stalls a connection for seconds. One such rail slows every
collective. `req_transport_retries_exceeded` is worse: a connection failed.

## What to do
Find where packets are lost; no setting on this port fixes it. Check in this order:
1. Link errors (`fec-uncorrectable`, `link-ber-high`, `infiniband-errors`).
2. Drops in the NIC (`nic-drops-lossless`).
3. The switches: drops and PFC of the data class along the path, at both link partners.

## Exceptions
A killed job leaves its peers with exceeded retries. Out-of-order packets are not counted here, because adaptive routing
causes them. Connections driven by the GPU may not show. In a cohort of fewer than eight ports, a steady loss is
inconclusive, not ok. Soft-RoCE never gives up a connection whose retry count is 7, which is what most programs request.
*/
-- Soft-RoCE has other names for failed connections and packets sent, and one for all causes of retransmission.
with named as (
    select
        * replace (
            case counter
                when 'retry_exceeded_err' then 'req_transport_retries_exceeded'
                when 'sent_pkts' then 'port_xmit_packets'
                else counter
            end as counter
        )
    from rdma_rise
    where counter in (
        'packet_seq_err', 'implied_nak_seq_err', 'local_ack_timeout_err', 'roce_adp_retrans',
        'req_transport_retries_exceeded', 'port_xmit_packets', 'completer_retry_err', 'retry_exceeded_err', 'sent_pkts'
    )
),

rises as (
    select
        target,
        device,
        port,
        counter,
        -- 32-bit counters wrap to 0; a smaller step down is a reset. The packet counter has 64 bits.
        case
            when counter <> 'port_xmit_packets' and earlier - value > 2147483648 then value - earlier + 4294967296
            else rise
        end as rise,
        seconds
    from named
),

ports as (
    select
        target,
        device,
        port,
        -- Older cards have no roce_adp_retrans; the other three must be there.
        case
            when count(rise) = count(*)
                and count(rise) filter (counter like '%_err')
                = case when count(*) filter (counter = 'completer_retry_err') > 0 then 1 else 3 end
                then sum(rise) filter (counter like '%_err' or counter = 'roce_adp_retrans') -- null: all were read
        end as events,
        max(rise) filter (counter = 'req_transport_retries_exceeded') as deaths,
        events * 1e6 / at_least(max(rise) filter (counter = 'port_xmit_packets'), 1) as per_million,
        max(seconds) as seconds
    from rises
    group by target, device, port
),

cohorts as (
    select
        p.cohort,
        count(*) as members,
        case when count(r.per_million) >= $least_members then median(r.per_million) end as per_million -- null: of enough peers
    from port_scope as p
    left join ports as r on r.target = p.target and r.device = p.device and r.port = p.port
    group by p.cohort
)

select
    p.target,
    p.device,
    p.port,
    printf('%d times, %.1f per million packets; failed connections: %d', r.events::bigint, r.per_million, r.deaths) as observed,
    printf('at most %d per second, or like its peers (%.1f per million); no failed connection', $events_per_s, c.per_million) as expected,
    p.role = 'compute' as applies,
    r.deaths > 0
    or (
        r.events > $events_per_s * r.seconds
        -- A burst in a shorter time may be over: inconclusive.
        and case when r.seconds >= 60 and c.members >= $least_members then r.per_million > $times_median * c.per_million end
    ) as fault,
    printf('in %.0f s', r.seconds) as detail,
    p.inferred,
    case
        when r.events > $events_per_s * r.seconds and r.seconds >= 60 and c.per_million is null then 'few_peers'
    end as reason
from port_scope as p
left join ports as r on r.target = p.target and r.device = p.device and r.port = p.port
left join cohorts as c on c.cohort = p.cohort
