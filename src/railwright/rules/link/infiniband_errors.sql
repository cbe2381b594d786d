/* +++
id = "infiniband-errors"
aliases = ["LNK-07"]
title = "InfiniBand link errors increasing"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.rate_gbps", "rdma_counter.value", "before.rdma_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} counts errors: {observed}"
action = "reseat"
implied_by = ["link-ber-high", "module-hot"]
baseline = true
since = "0.2"
sources = [
  "review LNK-07, LNK-08, G-WINDOW", "Linux drivers/infiniband/core/sysfs.c (widths)",
  "Mellanox/ufm_sdk_3.0 plugins/pdr_deterministic_plugin/README.md (symbol errors)",
]

[uses]
"port_scope.inferred" = {purpose = "severity"}

[parameters.symbol_errors]
default = 1e-14
unit = "symbol errors per bit over 12 min, a tenth of it over 125 min or more"
reason = "review LNK-04, LNK-07: limits of UFM's PDR plugin"

[parameters.recoveries_per_min]
default = 5
unit = "1/min"
reason = "review LNK-07"

[parameters.receive_errors_per_s]
default = 10
unit = "1/s"
reason = "review LNK-07"

[parameters.discards_per_s]
default = 100
unit = "1/s"
reason = "review LNK-07"
+++
## Why it matters
Symbol errors and recoveries point to the cable, its ends or a module. Receive errors are packets that arrived damaged.
Discards are packets that could not be sent for too long: congestion, or a link partner that does not accept them. All of
them are retransmitted, and the slowest rail sets the pace.

## What to do
Symbol errors and recoveries: proceed as for `link-ber-high`. Receive errors also rise if the *sender* or an earlier hop is
bad: check both link partners (`perfquery -x`, `ibdiagnet`). Discards: look for the congested receiver, not at this cable.
No setting on the host needs to change.

## Exceptions
Errors during planned work or link training are expected. The counters have 8 and 16 bits and stop at their maximum. The
check is then inconclusive until you clear them (`perfquery -R`).
*/
-- A counter at its largest value stays there.
with rises as (
    select
        target,
        device,
        port,
        counter,
        case when value < case counter when 'link_error_recovery' then 255 else 65535 end then rise end as rise,
        seconds
    from rdma_rise
    where counter in ('symbol_error', 'link_error_recovery', 'port_rcv_errors', 'port_xmit_discards')
),

judged as (
    select
        r.*,
        r.rise > case r.counter
            when 'symbol_error' then p.rate_gbps * 1e9 * $symbol_errors
                * case when r.seconds >= 7500 then r.seconds / 10 else at_least(r.seconds, 720) end
            when 'link_error_recovery' then $recoveries_per_min * at_least(r.seconds, 60) / 60
            when 'port_rcv_errors' then $receive_errors_per_s * at_least(r.seconds, 1)
            when 'port_xmit_discards' then $discards_per_s * at_least(r.seconds, 1)
        end as is_over
    from rises as r
    inner join port_scope as p on p.target = r.target and p.device = r.device and p.port = r.port
),

ports as (
    select
        target,
        device,
        port,
        -- All four, or one of them is unknown.
        case when count(*) = 4 or count(*) filter (is_over) > 0 then any_known(is_over) end as fault,
        string_agg(counter || ' +' || rise, ', ' order by counter) filter (is_over) as words,
        max(seconds) as seconds
    from judged
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    e.words as observed,
    'next to none' as expected,
    p.link_layer = 'InfiniBand' and p.role in ('compute', 'storage') as applies,
    e.fault,
    printf('in %.0f s', e.seconds) as detail,
    p.inferred
from port_scope as p
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
