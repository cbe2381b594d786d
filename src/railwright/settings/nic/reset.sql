-- Once per card, by its first function: everything that waits takes hold, so all of it must be what the site file wants.
with functions as (
    select n.*, case when c.card is null then n.pci else c.card end as card, d.is_enslaved
    from nic_scope as n
    left join (select target, pci, min(card) as card from port_scope group by all) as c on c.target = n.target and c.pci = n.pci
    left join (select target, pci, any_known(master <> '') as is_enslaved from netdev group by all) as d
        on d.target = n.target and d.pci = n.pci
),

cards as (
    select
        target,
        card,
        all_known(role in ('compute', 'unused')) as is_ours,
        all_known(driver = 'mlx5_core') as has_driver,
        any_known(vf_count > 0) as has_virtual,
        any_known(is_enslaved) as is_enslaved,
        any_known(device_id in ('a2d2', 'a2d6', 'a2dc', 'a2df')) as is_bluefield,
        count(distinct regexp_replace(pci, '\.[0-7]$', '')) > 1 as is_split
    from functions
    group by target, card
),

named as (
    select psid, value, regexp_extract(name, '^(.*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]+)\])?$', ['name', 'port', 'element']) as said
    from wanted_parameter
),

-- Read-only rows and N/A cannot wait. Arrays are printed as a range, so two of them look alike.
parameters as (
    select
        f.target,
        f.card,
        p.current_text <> p.next_text as waits,
        case
            when p.current_text = p.next_text then true
            when lower(w.value) in ('true', 'false') then p.next_code = (lower(w.value) = 'true')::bigint
            when try_cast(w.value as bigint) is not null then p.next_code = try_cast(w.value as bigint)
            else w.value in (p.next_text, split_part(p.next_text, '(', 1))
        end as is_wanted,
        p.name
            || case when p.port > 0 then '_P' || p.port else '' end
            || case when p.element >= 0 then '[' || p.element || ']' else '' end as parameter,
        p.current_text || ' to ' || p.next_text as words
    from functions as f
    inner join nic_parameter as p on p.target = f.target and p.pci = f.pci
    left join nic_firmware as i on i.target = f.target and i.pci = f.card
    left join named as w
        on w.psid = i.psid and w.said.name = p.name
        and coalesce(try_cast(w.said.port as integer), 0) = p.port -- null: not per port
        and coalesce(try_cast(w.said.element as integer), -1) = p.element -- null: not an element
    where p.read_only is not true and ('N/A' in (p.current_text, p.next_text)) is not true
),

waiting as (
    select
        target,
        card,
        any_known(waits) as waits,
        all_known(is_wanted) as is_wanted,
        list(distinct parameter) filter (is_wanted is not true) as unwanted, -- null: counts as unwanted
        string_agg(distinct parameter || ' ' || words, ', ' order by parameter || ' ' || words) filter (waits) as words
    from parameters
    group by target, card
),

-- '' = flint printed no running version: it is the one in the flash.
flashes as (
    select
        target,
        pci,
        psid,
        version,
        case when version <> '' then running_version <> '' and running_version <> version end as waits,
        'firmware ' || running_version || ' to ' || version as words
    from nic_firmware
),

machines as (
    select
        f.target,
        any_known(f.vendor = '15b3' and f.class like '06%') as has_switch,
        (select any_known(s.active_state = 'active') from service as s
            where s.target = f.target and s.unit in ('opensm.service', 'opensmd.service')) as has_manager
    from pci_function as f
    group by f.target
)

-- What forbids a reset counts only if something waits; `blocked` tells it in any case, `unwanted` what else would take hold.
select
    target,
    pci,
    now,
    wanted,
    case when not is_waiting then '' else blocked end as refused,
    device,
    blocked,
    unwanted
from (
    select
        n.target,
        n.pci,
        case
            when not i.waits and not w.waits then 'no pending change'
            when not i.waits and w.waits then w.words
            when i.waits and not w.waits then i.words
            when i.waits and w.waits then i.words || ', ' || w.words
        end as now,
        case when (not i.waits or i.version = a.version) and w.is_wanted then 'no pending change' end as wanted,
        case
            when is_of_other_vendor(n.vendor) or is_virtual_function(n.device_id) then 'it has no firmware that mlxfwreset could reset'
            when n.virtualization = 'guest' then 'the tool refuses virtual machines'
            when c.is_bluefield then 'a BlueField: its Arm side goes down too, and may need a power cycle'
            when m.has_switch then 'cards with a PCIe switch: the tool resets all of them and reboots the host'
            when c.is_split then 'a Socket Direct card: its other half goes down too'
            when c.has_virtual then 'it has virtual functions, which would be gone'
            when c.is_enslaved then 'a bond has it: the driver refuses the reset'
            when not c.has_driver then 'one of its functions has another driver than mlx5_core'
            when m.has_manager then 'a subnet manager runs on the host'
            when not c.is_ours then 'one of its functions is not for compute'
            when not list_contains(string_split(r.supported_levels, ','), '3') then 'reset level 3 is not offered: only a reboot or a power cycle'
            when r.supported_levels is not null and n.virtualization is not null and n.device_id is not null
                and c.is_bluefield is not null and m.has_switch is not null and c.has_virtual is not null
                and c.has_driver and c.is_ours
                then ''
        end as blocked,
        i.waits or w.waits as is_waiting,
        case
            when i.waits is null or w.waits is null then null
            else list_concat(coalesce(w.unwanted, []), case when i.waits and i.version = a.version is not true then [i.words] else [] end) -- null: none
        end as unwanted,
        n.device
    from functions as n
    inner join cards as c on c.target = n.target and c.card = n.card
    left join machines as m on m.target = n.target
    left join flashes as i on i.target = n.target and i.pci = n.pci
    left join wanted_firmware as a on a.psid = i.psid
    left join waiting as w on w.target = n.target and w.card = n.card
    left join nic_reset as r on r.target = n.target and r.pci = n.pci
    where n.pci = n.card and (n.role in ('compute', 'unused') or n.role is null)
)
