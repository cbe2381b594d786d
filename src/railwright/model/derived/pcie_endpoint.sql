-- The two ends of a link say the same; the least known hop makes the whole path unknown.
with path as (
    select
        target,
        pci,
        count(*) as hops,
        arg_max(hop, place) as root_port,
        case when count(gbps) = count(*) then min(gbps) end as narrowest_gbps,
        case when count(gbps) = count(*) then arg_min(hop, row(gbps, -place)) end as narrowest_hop
    from pcie_path
    group by target, pci
)

select
    path.target,
    own.read_at,
    path.pci,
    f.kind,
    path.hops,
    path.root_port,
    own.speed_max_gts * own.width_max * case
        when own.speed_max_gts <= 5 then 0.8
        when own.speed_max_gts <= 32 then 128 / 130.0
        else 242 / 256.0
    end as own_gbps,
    path.narrowest_gbps,
    path.narrowest_hop,
    path.narrowest_gbps < own_gbps - 0.001 as is_narrowed
from path
inner join pcie_path as own on own.target = path.target and own.pci = path.pci and own.place = 0
inner join card_function as f on f.target = path.target and f.pci = path.pci
