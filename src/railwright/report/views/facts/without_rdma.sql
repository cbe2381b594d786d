-- Whether every host was reached, answered which RDMA devices it has, and has none: laptops, login nodes.
select not exists (from rdma_device)
    and not exists (
        from target as t
        where
            t.kind = 'host' and t.out_of_service = ''
            and not exists (
                from probe_result as r
                where r.target = t.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
            )
    )
