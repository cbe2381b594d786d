/* +++
id = "GPU-02"
title = "An NVSwitch reported a fatal error"
severity = "high"
subject = "host"
needs = ["host_scope.nvidia_gpus", "kernel_message.kind"]
message = "{subject}: {observed}"
since = "0.3"
sources = [
  "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html: a fatal SXid needs the GPUs of the board reset",
  "judgement: non-fatal ones are left to the log; a number whose kind is not printed is told as low",
]

[grades]
high = "it is printed as fatal"
low = "whether it is fatal is not printed"

[unless]
"host_scope.nvidia_gpus" = "the switches speak, whatever is left of the GPUs"
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"kernel_message.driver" = "the switch that speaks"
"kernel_message.xid" = "every message of this kind has a number"
"kernel_message.text" = "Fatal or Non-fatal; the lines that follow with details have neither"
+++
## Why it matters
All traffic between the GPUs of a board goes through its NVSwitches. After a fatal error jobs on this board hang or end with NVLink
errors (Xid 74), and the switch may be closed until the board is reset.

## What to do
Drain the host, reset all GPUs of the board (`nvidia-smi -r`), restart nvidia-fabricmanager and look into its log. If the number comes
back, the board goes to the vendor.

## When it is wrong
The log keeps what was mended: a board that was reset since is named until the next boot. Waive it until then.
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
        string_agg(printf('SXid %d of %s', xid, driver), ', ' order by severity, driver, xid) as words
    from errors
    where severity is not null
    group by target
)

select
    t.target,
    h.words as observed,
    'no fatal error of an NVSwitch since boot' as expected,
    case when h.target is not null then true else t.nvidia_gpus > 0 end as applies,
    case when h.target is not null then true when l.is_whole then false end as fault,
    h.severity as severity
from host_scope as t
left join hosts as h on h.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
