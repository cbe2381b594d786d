-- Machines by how they answered, with what most of them said.
select answer, mode(said), count(distinct said), list(target order by target)
from (
    select
        target,
        case out_of_service when '' then status else 'out of service, ' || status end as answer,
        case out_of_service
            -- Of what ssh said only the last line: before it stand banners and warnings.
            when '' then regexp_extract(rtrim(words, E'\r\n\t '), '[^\r\n]*$')
            else out_of_service
        end as said
    from target
    where status <> 'reached'
)
group by answer
order by answer like 'out of service%', answer
