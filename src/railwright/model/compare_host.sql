-- What a host says about itself; another boot counts once, whatever its number.
insert into change
select target, 'host', '', '', '', '', 1, cell.c, 'changed', case when cell.c <> 'boot_id' then cell.o end, case when cell.c <> 'boot_id' then cell.n end
from (
    select
        b.target,
        unnest([
            {'c': 'boot_id', 'o': b.boot_id, 'n': n.boot_id},
            {'c': 'hostname', 'o': b.hostname, 'n': n.hostname},
            {'c': 'kernel', 'o': b.kernel, 'n': n.kernel},
            {'c': 'architecture', 'o': b.architecture, 'n': n.architecture},
            {'c': 'operating_system', 'o': b.operating_system, 'n': n.operating_system}
        ]) as cell
    from before.host as b
    semi join asked as a on a.target = b.target
    inner join now.host as n on n.target = b.target
)
where cell.o <> cell.n
