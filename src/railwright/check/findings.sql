-- From verdicts to findings. Tables at hand: verdict (what the rules said), rule_info, rule_grade, rule_cause,
-- rule_probe, severity, waiver, target, gap, port, netdev.

-- A finding has the severity that its rule gave it, or the rule's worst where it gave none. A role that was only
-- inferred caps it at medium (review G-ROLE). What is unknown may be as bad as the rule can tell.
create temp table graded as
select
    v.* exclude (severity),
    s.severity,
    s.rank,
    s.rank = r.rank as is_worst,
    r.kind
from verdict as v
inner join rule_info as r on r.rule = v.rule
left join rule_grade as g on g.rule = v.rule and g.severity = v.severity
inner join severity as s
    on s.rank = case
        when v.verdict = 'unknown' then r.rank
        when v.inferred then greatest(coalesce(g.rank, r.rank), 2)
        else coalesce(g.rank, r.rank)
    end
where v.verdict in ('fail', 'unknown') and s.is_shown;

-- Where a subject is: the PCI function of its NIC. Subjects of different kinds meet there.
create temp table place as
select target, target || ':' || device || '/' || port as name, pci from port
union
select target, target || ':' || device, pci from port
union
select target, target || ':' || name, pci from netdev where pci <> '';

create temp table failed as
select
    g.*,
    case
        when g.kind in ('nic', 'pci_function', 'gpu') then g.subject
        when g.kind = 'parameter' then regexp_extract(g.subject, '^.*:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]')
        when p.pci is not null then g.target || ':' || p.pci
    end as place
from graded as g
left join place as p on p.target = g.target and p.name = regexp_replace(g.subject, '[#\[].*$', '')
where g.verdict = 'fail';

-- One cause, one finding: at the same subject, at the same NIC, or on the machine as a whole; what is said of a switch as a
-- whole may follow from one of its ports. The milder grade of a rule does not explain what is worse than it.
create temp table named_cause as
select f.rule, f.subject, min(c.rule) as cause
from failed as f
inner join rule_cause as w on w.rule = f.rule
inner join failed as c
    on c.rule = w.cause and c.target = f.target
    and (c.subject = f.subject or c.place = f.place or c.kind in ('host', 'switch') or f.kind = 'switch')
    and (c.is_worst or c.rank <= f.rank)
group by f.rule, f.subject;

-- A rule under `*` only tells that something is odd: it goes under the worst other finding there that stands by itself, a
-- machine's under one of anything in it. Under mere information it does not go: that would end with exit status 0.
create temp table caused as
select rule, subject, cause from named_cause
union all
select f.rule, f.subject, first(c.rule order by c.rank, c.rule) as cause
from failed as f
inner join rule_cause as w on w.rule = f.rule and w.cause = '*'
inner join failed as c
    on c.target = f.target and c.severity <> 'info'
    and (c.subject = f.subject or c.place = f.place or c.kind = 'host' or f.kind = 'host')
where
    c.rule not in (select rule from rule_cause where cause = '*')
    and not exists (select 1 from named_cause as n where n.rule = c.rule and n.subject = c.subject)
group by f.rule, f.subject;

-- A waiver names a machine and the beginning of a subject, up to where a part of it ends.
create temp table waived as
select g.rule, g.verdict, g.subject, min(w.number) as number
from graded as g
inner join waiver as w
    on w.verdict = g.verdict and w.rule in (g.rule, '*') and w.target in (g.target, '*')
where
    not w.is_expired
    and (
        w.prefix = ''
        or (w.target = '*' and ':' || w.prefix = substr(g.subject, length(g.target) + 1))
        or g.subject = w.prefix
        or (starts_with(g.subject, w.prefix) and substr(g.subject, length(w.prefix) + 1, 1) in (':', '/', '#', '[', '+'))
    )
group by g.rule, g.verdict, g.subject;

-- What became of the probes that would have told; of those that are not always asked only where the others have answered.
create temp table silent_probe as
select
    g.target,
    p.rule,
    string_agg(distinct g.probe || ' ' || g.status, ', ' order by g.probe || ' ' || g.status) filter (p.is_needed) as said,
    string_agg(distinct g.probe || ' ' || g.status, ', ' order by g.probe || ' ' || g.status)
        filter (not p.is_needed) as said_beside
from gap as g
inner join rule_probe as p on p.probe = g.probe
where g.status <> 'absent' or g.nothing_read
group by g.target, p.rule;

create temp table finding as
select
    g.rule,
    g.verdict,
    g.severity,
    g.rank,
    g.target,
    g.subject,
    g.observed,
    g.expected,
    g.detail,
    g.cost_gbps,
    case
        when w.number is not null then case g.verdict when 'fail' then 'waived' else 'accepted' end
        when t.out_of_service <> '' then 'out of service'
        when c.cause is not null then 'implied'
        else 'open'
    end as state,
    w.number as waiver,
    c.cause,
    case
        when g.verdict = 'fail' then ''
        when t.status not in ('reached', 'incomplete') then 'not reached: ' || t.status
        else coalesce(s.said, s.said_beside, 'values not read')
    end as why
from graded as g
left join target as t on t.target = g.target
left join caused as c on g.verdict = 'fail' and c.rule = g.rule and c.subject = g.subject
left join waived as w on w.rule = g.rule and w.verdict = g.verdict and w.subject = g.subject
left join silent_probe as s on g.verdict = 'unknown' and s.target = g.target and s.rule = g.rule;
