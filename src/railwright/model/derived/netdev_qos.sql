-- How a host's network device takes priorities: mlnx_qos and the kernel's dcb reconciled. What they contradict each other on is
-- not known.
with told_pfc as (
    select target, read_at, netdev, priority, pfc_enabled as enabled from qos_priority
    union all
    select target, read_at, netdev, priority, enabled from dcb_pfc_priority
),

pfc as (
    select
        target,
        netdev,
        max(read_at) as read_at,
        bit_or(case when enabled then 1 << priority else 0 end) as mask, -- null: in neither mask
        bit_or(case when not enabled then 1 << priority else 0 end) as off_mask -- null: in neither mask
    from told_pfc
    group by target, netdev
),

-- The kernel may have two entries for one DSCP.
kernel_entry as (
    select
        target,
        netdev,
        max(read_at) as read_at,
        protocol as dscp,
        case when min(priority) = max(priority) and count(priority) = count(*) then min(priority) end as priority
    from dcb_app
    where selector = 'dscp' and protocol between 0 and 63
    group by target, netdev, protocol
),

told_dscp as (
    select target, read_at, netdev, dscp, priority, true as by_tool from qos_dscp
    union all
    select target, read_at, netdev, dscp, priority, false as by_tool from kernel_entry
),

-- A hexadecimal digit per DSCP holds the priority plus 1: 0 = no entry, 9 = not understood; sixteen DSCPs to a number.
sixteen as (
    select
        target,
        netdev,
        dscp // 16 as quarter,
        max(read_at) as read_at,
        coalesce(bit_or(digit << (4 * (15 - dscp % 16))) filter (by_tool), 0)::ubigint as tool, -- null: no entry
        coalesce(bit_or(digit << (4 * (15 - dscp % 16))) filter (not by_tool), 0)::ubigint as kernel -- null: no entry
    from (select *, (case when priority between 0 and 7 then priority + 1 else 9 end)::ubigint as digit from told_dscp)
    group by target, netdev, dscp // 16
),

-- Digits of which both have an entry (all ones), and those of them that differ. 1229782938247303441 has a 1 in each digit.
compared as (
    select
        *,
        ((tool | (tool >> 1) | (tool >> 2) | (tool >> 3)) & 1229782938247303441::ubigint) * 15 as in_tool,
        ((kernel | (kernel >> 1) | (kernel >> 2) | (kernel >> 3)) & 1229782938247303441::ubigint) * 15 as in_kernel,
        xor(tool, kernel) & in_tool & in_kernel as parted,
        ((parted | (parted >> 1) | (parted >> 2) | (parted >> 3)) & 1229782938247303441::ubigint) as differing
    from sixteen
),

one_map as (
    select
        target,
        netdev,
        quarter,
        read_at,
        kernel <> 0 as is_in_kernel,
        lpad(to_hex(((tool | kernel) & ~(differing * 15)) | (differing * 9)), 16, '0') as digits
    from compared
),

maps as (
    select
        target,
        netdev,
        max(read_at) as read_at,
        bool_or(is_in_kernel) as is_in_kernel, -- null: never
        translate(
            coalesce(max(digits) filter (quarter = 0), '0000000000000000') -- null: no entry
            || coalesce(max(digits) filter (quarter = 1), '0000000000000000') -- null: no entry
            || coalesce(max(digits) filter (quarter = 2), '0000000000000000') -- null: no entry
            || coalesce(max(digits) filter (quarter = 3), '0000000000000000'), -- null: no entry
            '0123456789',
            '.01234567?'
        ) as dscp_priorities
    from one_map
    group by target, netdev
),

device as (
    select target, netdev from qos_port
    union
    select target, netdev from pfc
    union
    select target, netdev from maps
)

select
    d.target,
    greatest(q.read_at, p.read_at, m.read_at) as read_at, -- null: who told nothing has no time
    d.netdev,
    -- The driver goes by DSCP while the kernel's table has an entry for one, and takes all of them out with pcp (Linux mlx5
    -- en_dcbnl.c). An empty table contradicts nothing: firmware and OFED's own files set dscp without it.
    case
        when q.trust = 'pcp' and m.is_in_kernel then null
        else coalesce(q.trust, case when m.is_in_kernel then 'dscp' end) -- null: the next best
    end as trust,
    case when p.mask + p.off_mask = 255 then p.mask end as pfc_mask,
    m.dscp_priorities,
    q.dcbx_mode,
    q.lldpad_running,
    q.cable_length_m
from device as d
left join qos_port as q on q.target = d.target and q.netdev = d.netdev
left join pfc as p on p.target = d.target and p.netdev = d.netdev
left join maps as m on m.target = d.target and m.netdev = d.netdev
where d.netdev <> ''
