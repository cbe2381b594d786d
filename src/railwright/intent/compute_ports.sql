-- Makes compute_port: the Ethernet ports of the compute fabric that have a network device; and compute_qos: the QoS of each.
create or replace temp view compute_port as
from port
where role = 'compute' and link_layer = 'Ethernet' and netdev <> '';

-- Of a bond the members have the QoS.
create or replace temp view compute_qos as
select p.target, p.netdev, q.netdev as carrier, q.trust, q.pfc_mask
from compute_port as p
left join bond_member as b on b.target = p.target and b.bond = p.netdev
left join netdev_qos as q on q.target = p.target and q.netdev = coalesce(b.member, p.netdev);
