-- port_class, as people are told of it: where a system has no second switch for marking, there is none that could be off.
create or replace temp view class_fact as
select c.* replace (case when f.state <> 'lacking' then c.red_enabled end as red_enabled)
from port_class as c
left join switch_fact as f on f.target = c.target and f.fact = 'marking_switch';
