-- Switches that netdevs of RDMA NICs hear, by name, or by chassis where the switch sends none. All machines are asked: those that
-- are alike need not hear the same chassis.
select distinct coalesce(nullif(l.system_name, ''), l.chassis_id, '?') as name
from main.lldp_neighbor as l
semi join (
    select unnest(members) as target, n.name
    from rdma_netdev as n
    inner join machine using (target)
) as n on l.target = n.target and l.netdev = n.name
