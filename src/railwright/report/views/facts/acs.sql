select
    target,
    case
        when acs = 'absent' then 'no such capability'
        when
            acs_source_validation
            or acs_request_redirect
            or acs_completion_redirect
            or acs_upstream_forwarding
            or acs_direct_translated
            then
                'on: '
                || concat_ws(
                    ' ',
                    case when acs_source_validation then 'SrcValid' end,
                    case when acs_request_redirect then 'ReqRedir' end,
                    case when acs_completion_redirect then 'CmpltRedir' end,
                    case when acs_upstream_forwarding then 'UpstreamFwd' end,
                    case when acs_direct_translated then 'DirectTrans' end
                )
        when
            not (
                acs_source_validation
                or acs_request_redirect
                or acs_completion_redirect
                or acs_upstream_forwarding
                or acs_direct_translated
            )
            then 'off'
    end as acs
from pci_config
where port_type = 'switch_downstream'
union all
-- A bridge of which too little was read may be a switch port: it stays unknown.
select c.target, null as acs
from (from pci_config where port_type is null) as c
left join pci_function as f on f.target = c.target and f.pci = c.pci
where f.class is null or f.class like '0604%'
