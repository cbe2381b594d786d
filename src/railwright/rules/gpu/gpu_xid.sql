/* +++
id = "gpu-xid"
aliases = ["GPU-01"]
title = "GPU error in the kernel log (Xid)"
severity = "blocker"
subject = "host"
needs = ["host_scope.nvidia_gpus", "kernel_message.kind"]
message = "{subject}: {observed}"
action = "reset"
disturbs = "GPU reset"
since = "0.3"
sources = [
  "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html: the immediate action of each number",
  "judgement: a number that the catalogue gives to programs (13, 31, 43, 45) is not told",
]

[grades]
blocker = "the machine must be rebooted or opened (79, 54)"
high = "the GPU must be reset, or drained for inspection (48, 64, 74, 95, 119, 144 to 150 that are fatal, ...)"
low = "the GPU keeps working (63, 92, 94, 121, ...)"

[unless]
"host_scope.nvidia_gpus" = "a GPU that fell off the bus left messages"
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"kernel_message.pci" = "every message of the GPU driver names one"
"kernel_message.xid" = "every message of this kind has a number"
"kernel_message.text" = "for Xid 154 what the GPU needs, for 144 to 150 whether it is fatal"
+++
## Why it matters
A job waits for its slowest GPU, and a GPU that is off the bus or needs a reset ends it. nvidia-smi and the PCI bus may
still list that GPU.

## What to do
1. Look up the number in NVIDIA's catalogue of Xid errors.
2. Drain the host.
3. Reset the GPU (`nvidia-smi --gpu-reset -i BUS_ID`; on a board with NVSwitches all programs must be off all GPUs), or
   reboot if that is what it needs.
4. If the number comes back, run `dcgmi diag -r 3` and hand the board to the vendor.

## Exceptions
The log keeps errors that were already fixed: a GPU that has been reset since then is still reported until the next boot.
Waive it until then.
*/
with errors as (
    select
        target,
        xid,
        -- 154 itself says what the GPU needs from now on.
        case
            when xid between 144 and 150 and text = 'Fatal' then 'reset' -- judgement: the vendor's workflow begins so
            when xid <> 154 then gpu_error_need(xid)
            when text ilike '%reboot%' then 'reboot'
            when text <> 'None' then 'reset'
        end as need,
        printf(
            'Xid %d%s: %s',
            xid,
            case when count(distinct pci) > 1 then ' on ' || count(distinct pci) || ' GPUs' else '' end,
            case when xid = 154 then lower(text) else gpu_error_words(xid) end
        ) as words,
        string_agg(distinct pci, ', ' order by pci) as places
    from kernel_message
    where kind = 'xid'
    group by target, xid, text
),

-- What a number requires that the catalogue did not have yet is unknown (judgement: 200 is beyond it), and so is a recovery action
-- that could not be read.
strange as (
    select distinct target from kernel_message where kind = 'xid' and (xid > 200 or (xid = 154 and text is null))
),

hosts as (
    select
        target,
        bool_or(need in ('reboot', 'repair')) as is_lost, -- null: a number that is not listed has no need
        bool_or(need = 'reset') as is_ill, -- null: the same
        string_agg(words, '; ' order by need, xid) as words,
        case when count(*) = 1 then 'at ' || min(places) else string_agg('Xid ' || xid || ' at ' || places, ', ' order by need, xid) end as places
    from errors
    where need is not null
    group by target
)

select
    t.target,
    h.words as observed,
    'no GPU errors since boot' as expected,
    case when h.target is not null then true else t.nvidia_gpus > 0 end as applies,
    case when h.target is not null then true when s.target is null and l.is_whole then false end as fault,
    h.places as detail,
    case when h.is_lost then 'blocker' when h.is_ill then 'high' else 'low' end as severity
from host_scope as t
left join hosts as h on h.target = t.target
left join strange as s on s.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
