/* +++
id = "nvswitch-sxid"
aliases = ["GPU-02"]
title = "Fatal NVSwitch error in the kernel log (SXid)"
severity = "high"
subject = "host"
needs = ["host_scope.nvidia_gpus", "kernel_message.kind"]
message = "{subject}: {observed}"
action = "reset"
disturbs = "GPU reset"
since = "0.3"
sources = [
  "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html: a fatal SXid needs the GPUs of the board reset",
  "judgement: non-fatal ones are left to the log; a number whose kind is not printed is told as low",
]

[grades]
high = "logged as fatal"
low = "the log does not say whether it is fatal"

[unless]
"host_scope.nvidia_gpus" = "an NVSwitch logged an error, whatever is left of the GPUs"
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"kernel_message.driver" = "the switch that logged the message"
"kernel_message.xid" = "every message of this kind has a number"
"kernel_message.text" = "Fatal or Non-fatal; the lines that follow with details have neither"
+++
## Why it matters
All traffic between the GPUs of a board goes through its NVSwitches. After a fatal error jobs on this board hang or fail
with NVLink errors (Xid 74), and the switch may be blocked until the board is reset.

## What to do
1. Drain the host.
2. Reset all GPUs of the board (`nvidia-smi -r`).
3. Restart nvidia-fabricmanager and check its log.
4. If the number comes back, hand the board to the vendor.

## Exceptions
The log keeps errors that were already fixed: a board that has been reset since then is still reported until the next boot.
Waive it until then.
*/
with errors as (
    select
        target,
        driver,
        xid,
        case when bool_or(text = 'Fatal') then 'high' when count(text) = 0 then 'low' end as severity -- null: lines with details have no text
    from kernel_message
    where kind = 'sxid'
    group by target, driver, xid
),

hosts as (
    select
        target,
        min(severity) as severity,
        array_to_string(list_transform(list(distinct xid order by xid), lambda one: 'SXid ' || one), ', ') as words,
        string_agg(printf('SXid %d on %s', xid, driver), ', ' order by severity, driver, xid) as places
    from errors
    where severity is not null
    group by target
)

select
    t.target,
    h.words as observed,
    'no fatal NVSwitch errors since boot' as expected,
    case when h.target is not null then true else t.nvidia_gpus > 0 end as applies,
    case when h.target is not null then true when l.is_whole then false end as fault,
    h.places as detail,
    h.severity as severity
from host_scope as t
left join hosts as h on h.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
