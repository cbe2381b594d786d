-- What the sections say in the same way.

-- A PCIe link is one text; NULL as soon as a part of it was not read.
create temp macro pcie(speed, width) as case
    when width = 0 then 'no link'
    else
        'Gen'
        || case speed
            when 2.5 then 1
            when 5 then 2
            when 8 then 3
            when 16 then 4
            when 32 then 5
            when 64 then 6
            when 128 then 7
        end
        || ' x'
        || width
end;

create temp macro said(text) as case text when '' then '-' else text end;

create temp macro parameter(name, port, element) as
    name
    || case port when 0 then '' else '_P' || port end
    || case element when -1 then '' else '[' || element || ']' end;

create temp macro is_port(port_name) as port_name = '' or regexp_full_match(port_name, 'p[0-9]+');

-- Probes that told nothing on a machine, each once.
create temp table silent as
select target, probe, min(status) as status
from gap
where nothing_read
group by all;
