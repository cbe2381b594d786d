-- Every link once. The end nearer to the hosts stands first; one whose neighbor names another is a row of its own. A port whose
-- link partner is not known is half a link: that of a host where it is for data, of a switch all of them. Tables at hand:
-- link_end, site_port.
create or replace temp table link as
select
    e.target as a_target,
    e.port as a_port,
    e.peer as b_target,
    e.peer_port as b_port,
    e.tier as a_tier,
    p.tier as b_tier,
    coalesce(r.role, e.role) as role,
    e.peer_kind,
    e.told_by,
    e.trouble,
    e.speed_mbps,
    e.is_up is false or p.is_up is false as is_down,
    e.peer is null or e.peer = '' as is_half
from link_end as e
left join link_end as p on p.target = e.peer and p.port = e.peer_port
left join site_port as r on e.kind = 'host' and r.target = e.target and r.device = e.device and r.port = e.device_port
where
    (
        coalesce(e.peer, '') = ''
        and (e.kind = 'switch' or coalesce(r.role, e.role) in ('compute', 'storage'))
    )
    or (
        e.peer <> ''
        and (
            p.target is null
            or p.peer is distinct from e.target
            or p.peer_port is distinct from e.port
            or row(coalesce(e.tier, 99), e.target, e.port) < row(coalesce(p.tier, 99), p.target, p.port)
        )
    );
