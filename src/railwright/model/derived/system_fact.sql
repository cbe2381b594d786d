-- Which facts a switch reports, by its system. Filled in are the probes of every system, and the states of its facts.
select s.target, s.read_at, f.fact, s.system, f.state
from (
    select r.target, max(r.read_at) as read_at, min(p.system) as system
    from probe_result as r
    inner join (values {probes}) as p (system, probe) on p.probe = r.probe
    group by r.target
) as s
inner join (values {facts}) as f (system, fact, state) on f.system = s.system
