-- From every GPU and every RDMA card upwards. A virtual function has no link of its own: it hangs on its physical
-- function's.
with recursive up(target, pci, place, hop, above) as (
    select f.target, f.pci, 0, f.pci, f.parent
    from pci_function as f
    inner join card_function as c on c.target = f.target and c.pci = f.pci
    where c.kind = 'gpu' or (c.kind = 'nic' and c.is_rdma)
    union all
    select up.target, up.pci, up.place + 1, f.pci, f.parent
    from up
    inner join pci_function as f on f.target = up.target and f.pci = up.above
    where up.place < 30 -- a tree that is deeper than any real one is a circle
)

select
    up.target,
    f.read_at,
    up.pci,
    up.place,
    up.hop,
    f.link_speed_gts as speed_gts,
    f.link_width as width,
    f.link_speed_max_gts as speed_max_gts,
    f.link_width_max as width_max,
    f.link_speed_gts * f.link_width * case
        when f.link_speed_gts <= 5 then 0.8
        when f.link_speed_gts <= 32 then 128 / 130.0
        else 242 / 256.0
    end as gbps
from up
inner join pci_function as f on f.target = up.target and f.pci = up.hop
