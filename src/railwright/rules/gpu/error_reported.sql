/* +++
id = "GPU-01"
title = "A GPU reported an error that is not a program's own"
severity = "blocker"
subject = "host"
needs = ["host_scope.nvidia_gpus", "kernel_message.kind"]
message = "{subject}: {observed}"
since = "0.3"
sources = [
  "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html: the immediate action of each number",
  "judgement: a number that the catalogue gives to programs (13, 31, 43, 45) is not told",
]

[grades]
blocker = "the machine has to be started anew or opened (79, 54)"
high = "the GPU has to be reset, or to be drained for a look (48, 64, 74, 95, 119, ...)"
low = "the GPU works on (63, 92, 94, 121, ...)"

[unless]
"host_scope.nvidia_gpus" = "a GPU that is gone from the bus has left its messages"
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"kernel_message.pci" = "every message of the GPU driver names one"
"kernel_message.xid" = "every message of this kind has a number"
+++
## Why it matters
A job waits for its slowest GPU, and one that is off the bus or waits for a reset ends it. nvidia-smi may still list that GPU, and
so does the PCI bus.

## What to do
Look the number up in NVIDIA's catalogue of Xid errors. Drain the host; reset the GPU (`nvidia-smi --gpu-reset -i BUS_ID`, which needs
all programs off all GPUs of a board with NVSwitches) or reboot where that is what it needs; if the number comes back, run
`dcgmi diag -r 3` and give the board to the vendor.

## When it is wrong
The log keeps what was mended: a GPU that was reset since is named until the next boot. Waive it until then.
*/
with errors as (
    select
        target,
        xid,
        gpu_error_need(xid) as need,
        printf('Xid %d at %s: %s', xid, string_agg(distinct pci, ', ' order by pci), gpu_error_words(xid)) as words
    from kernel_message
    where kind = 'xid'
    group by target, xid
),

hosts as (
    select
        target,
        bool_or(need in ('reboot', 'repair')) as is_lost, -- null: a number that is not listed has no need
        bool_or(need = 'reset') as is_ill, -- null: the same
        string_agg(words, '; ' order by need, xid) as words
    from errors
    where need is not null
    group by target
)

select
    t.target,
    h.words as observed,
    'no error of a GPU since boot' as expected,
    case when h.target is not null then true else t.nvidia_gpus > 0 end as applies,
    case when h.target is not null then true when l.is_whole then false end as fault,
    case when h.is_lost then 'blocker' when h.is_ill then 'high' else 'low' end as severity
from host_scope as t
left join hosts as h on h.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
