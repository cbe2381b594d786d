-- From verdicts to findings. Tables at hand: verdict (what the rules said), rule_info, rule_grade, rule_cause,
-- rule_probe, severity, waiver, target, gap, port, netdev, link_end, switch_fact.

-- A finding has the severity that its rule gave it, or the rule's worst where it gave none. A role that was only
-- inferred caps it at medium (review G-ROLE). What is unknown may be as bad as the rule can tell.
create temp table graded as
select
    v.* exclude (severity),
    s.severity,
    s.rank,
    s.rank = r.rank as is_worst,
    r.kind,
    r.both_ends
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

-- The other end of a link, by its name and by the NIC that it belongs to.
create temp table other_end as
select
    e.target || ':' || e.port as subject,
    e.peer as target,
    e.peer || ':' || e.peer_port as name,
    e.peer || ':' || p.pci as place,
    case when t.status not in ('reached', 'incomplete') then 'the other end was not read: ' || e.peer || ' ' || t.status end as unread,
    t.out_of_service <> '' as is_away,
    -- Its NIC is gone since LLDP heard it, or another machine has its name.
    case when o.port is null then 'link partner unknown: ' || e.peer || ' has no port ' || e.peer_port end as lost
from link_end as e
inner join target as t on t.target = e.peer
left join link_end as o on o.target = e.peer and o.port = e.peer_port
left join place as p on p.target = e.peer and p.name = e.peer || ':' || e.peer_port
where e.peer_port <> '' and e.target || ':' || e.port in (select subject from graded where both_ends or verdict = 'unknown');

-- One cause, one finding: at the same subject, at the same NIC, or on the machine as a whole; what is said of a switch as a
-- whole may follow from one of its ports. The milder grade of a rule does not explain what is worse than it.
create temp table named_cause as
select f.rule, f.subject, c.rule as cause, c.subject as cause_subject
from failed as f
inner join rule_cause as w on w.rule = f.rule
inner join failed as c
    on c.rule = w.cause and c.target = f.target
    and (c.subject = f.subject or c.place = f.place or c.kind in ('host', 'switch') or f.kind = 'switch')
    and (c.is_worst or c.rank <= f.rank)
union
-- What is said of a link may follow from what is found at its other end; said at both ends it counts at one of them.
select f.rule, f.subject, c.rule as cause, c.subject as cause_subject
from failed as f
inner join other_end as o on o.subject = f.subject
inner join failed as c
    on c.target = o.target
    and (c.subject = o.name or c.place = o.place or c.kind in ('host', 'switch'))
    and (c.is_worst or c.rank <= f.rank)
where
    f.both_ends
    and ((f.rule, c.rule) in (select (rule, cause) from rule_cause) or (f.rule = c.rule and c.subject = o.name and c.subject < f.subject));

-- A rule under `*` only tells that something is odd: it goes under the worst other finding there that stands by itself, a
-- machine's under one of anything in it. Under mere information it does not go: that would end with exit status 0.
create temp table any_cause as
select f.rule, f.subject, c.rule as cause, c.subject as cause_subject, c.rank
from failed as f
inner join rule_cause as w on w.rule = f.rule and w.cause = '*'
inner join failed as c
    on c.target = f.target and c.severity <> 'info'
    and (c.subject = f.subject or c.place = f.place or c.kind = 'host' or f.kind = 'host')
where
    c.rule not in (select rule from rule_cause where cause = '*')
    and not exists (select 1 from named_cause as n where n.rule = c.rule and n.subject = c.subject);

-- A waiver names a machine and the beginning of a subject, up to where a part of it ends.
create temp macro is_covered(named, prefix, target, subject) as
    named in (target, '*')
    and (
        prefix = ''
        or (named = '*' and ':' || prefix = substr(subject, length(target) + 1))
        or subject = prefix
        or (starts_with(subject, prefix) and substr(subject, length(prefix) + 1, 1) in (':', '/', '#', '[', '+'))
    );

create temp table waived as
select g.rule, g.verdict, g.subject, min(w.number) as number
from graded as g
inner join waiver as w
    on w.verdict = g.verdict and w.rule in (g.rule, '*') and w.target in (g.target, '*') and w.fact = ''
where not w.is_expired and is_covered(w.target, w.prefix, g.target, g.subject)
group by g.rule, g.verdict, g.subject;

-- Of several causes one that nobody waived stands before the others, then one that follows from nothing else.
create temp table caused as
select c.rule, c.subject, c.cause, c.cause_subject
from (
    select rule, subject, cause, cause_subject, 0 as rank from named_cause
    union all by name
    select rule, subject, cause, cause_subject, rank from any_cause
) as c
left join waived as w on w.verdict = 'fail' and w.rule = c.cause and w.subject = c.cause_subject
left join (select distinct rule, subject from named_cause) as h on h.rule = c.cause and h.subject = c.cause_subject
qualify row_number() over (partition by c.rule, c.subject order by w.number is not null, c.rank, h.rule is not null, c.cause, c.cause_subject) = 1;

-- A waiver covers what the waived finding implies, and what follows from that. No chain of causes is longer than the rules.
create temp table covered as
with recursive chain as (
    select rule, subject, cause, cause_subject, 1 as steps from caused
    union all
    select c.rule, c.subject, n.cause, n.cause_subject, c.steps + 1
    from chain as c
    inner join caused as n on n.rule = c.cause and n.subject = c.cause_subject
    where c.steps < 8
)

select c.rule, c.subject, min(w.number) as number
from chain as c
inner join waived as w on w.verdict = 'fail' and w.rule = c.cause and w.subject = c.cause_subject
group by c.rule, c.subject;

-- What a verdict misses, where the rule says that nothing else was missing, and whether the switch's system reports it.
-- What a rule compares over a link may be missing at its other end.
create temp table unread as
select
    g.rule,
    g.target,
    g.subject,
    u.fact,
    coalesce(case when f.state = 'not_reported' then f.system end, case when o.state = 'not_reported' then o.system end, f.system) as system,
    coalesce('not_reported' in (f.state, o.state), false) as is_not_reported
from graded as g
cross join unnest(string_split(g.unread_facts, ',')) as u(fact)
inner join target as t on t.target = g.target and t.status in ('reached', 'incomplete')
left join switch_fact as f on f.target = g.target and f.fact = u.fact
left join other_end as e on g.both_ends and e.subject = g.subject
left join switch_fact as o on o.target = e.target and o.fact = u.fact
where g.verdict = 'unknown' and g.unread_facts <> '';

-- Accepting that a system does not report a fact ends with the first release that reads it, and never covers an answer
-- that failed: then the fact is not collected.
create temp table not_reported as
select
    u.rule,
    u.target,
    u.subject,
    u.fact,
    u.system,
    min(w.number) as number
from unread as u
left join waiver as w
    on w.fact = u.fact and w.system = u.system and w.rule in (u.rule, '*') and not w.is_expired
    and is_covered(w.target, w.prefix, u.target, u.subject)
where (u.rule, u.subject) not in (select (rule, subject) from unread where not is_not_reported)
group by all;

create temp table reported_nowhere as
select
    rule,
    subject,
    min(system) || ' does not report ' || string_agg(fact, ', ' order by fact) as said,
    case when count(number) = count(*) then min(number) end as number
from not_reported
group by rule, subject;

-- Facts that the system reports, and that are not there.
create temp table not_collected as
select rule, subject, 'not collected: ' || string_agg(fact, ', ' order by fact) as said
from unread
where not is_not_reported
group by rule, subject;

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

-- A port whose role nobody can tell, though all was read: one line says so for all rules that ask for it.
create temp table undecided_port as
select target || ':' || device || '/' || port as subject, 'role undecided: ' || role_reason as words
from port
where role_basis = 'undecided';

-- Two sources of one fact that contradict each other: then it is not known, though both were read. Of a bond its members count.
create temp table contradiction as
with told as (
    select distinct target, fact, source_a, source_b, regexp_replace(subject, '#.*$', '') as part
    from disagreement
    where target in (select target from graded where verdict = 'unknown')
),

placed as (
    select d.*, p.target || ':' || p.device || '/' || p.port as subject
    from told as d
    inner join port as p on p.target = d.target and d.part in (p.device, p.device || '/' || p.port, p.pci, p.netdev)
    union
    select d.*, e.target || ':' || e.device || '/' || e.device_port as subject
    from told as d
    inner join link_end as e on e.target = d.target and e.port = d.part and e.device <> ''
    union
    select d.*, d.target || ':' || d.part as subject
    from told as d
)

select
    g.rule,
    g.subject,
    'contradictory: ' || string_agg(distinct p.fact, ', ' order by p.fact)
    || ' (' || string_agg(distinct p.source_a || ', ' || p.source_b, '; ' order by p.source_a || ', ' || p.source_b) || ')' as said
from placed as p
inner join graded as g on g.verdict = 'unknown' and g.subject = p.subject
where (g.rule, split_part(p.source_a, '.', 1)) in (from rule_table) and (g.rule, split_part(p.source_b, '.', 1)) in (from rule_table)
group by g.rule, g.subject;

-- Why a verdict is unknown: what the rule itself says, else the first that holds. What a port is for is told by what is behind it:
-- the machine at the other end counts for rules that look at one end, too, where nothing else is missing.
create temp table unknown_why as
select
    g.rule,
    g.subject,
    coalesce(
        case when t.status not in ('reached', 'incomplete') then {'reason': 'not_reached', 'words': 'not reached: ' || t.status} end,
        case when o.words is not null then {'reason': g.reason, 'words': o.words} end,
        case when g.both_ends and e.unread is not null then {'reason': 'other_end_unread', 'words': e.unread} end,
        case when u.subject is not null then {'reason': 'role_undecided', 'words': u.words} end,
        case when d.said is not null then {'reason': 'contradictory', 'words': d.said} end,
        case when n.said is not null then {'reason': 'not_reported', 'words': n.said} end,
        case when s.said is not null then {'reason': 'not_collected', 'words': s.said} end,
        case when s.said_beside is not null then {'reason': 'not_collected', 'words': s.said_beside} end,
        case when m.said is not null then {'reason': 'not_collected', 'words': m.said} end,
        case when e.unread is not null then {'reason': 'other_end_unread', 'words': e.unread} end,
        {'reason': 'not_read', 'words': coalesce(e.lost, 'values not read')}
    ) as why,
    case when struct_extract(why, 'reason') = 'other_end_unread' and e.is_away then e.target end as away
from graded as g
left join target as t on t.target = g.target
left join reason_words as o on o.reason = g.reason
left join other_end as e on e.subject = g.subject
-- Where the site says the role, something else is the reason.
left join undecided_port as u on u.subject = g.subject and g.inferred
left join contradiction as d on d.rule = g.rule and d.subject = g.subject
left join reported_nowhere as n on n.rule = g.rule and n.subject = g.subject
left join silent_probe as s on s.target = g.target and s.rule = g.rule
left join not_collected as m on m.rule = g.rule and m.subject = g.subject
where g.verdict = 'unknown';

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
    g.classes,
    g.cost_gbps,
    case
        when coalesce(w.number, n.number, v.number) is not null then case g.verdict when 'fail' then 'waived' else 'accepted' end
        -- Nobody need know what only a machine that is out of service could tell.
        when t.out_of_service <> '' or y.away is not null then 'out of service'
        when c.cause is not null then 'implied'
        else 'open'
    end as state,
    coalesce(y.away, case when t.out_of_service <> '' then g.target end) as excluded_with,
    coalesce(w.number, n.number, v.number) as waiver,
    c.cause,
    c.cause_subject,
    coalesce(y.why.reason, '') as reason,
    coalesce(y.why.words, '') as why
from graded as g
left join target as t on t.target = g.target
left join caused as c on g.verdict = 'fail' and c.rule = g.rule and c.subject = g.subject
left join covered as v on g.verdict = 'fail' and v.rule = g.rule and v.subject = g.subject
left join waived as w on w.rule = g.rule and w.verdict = g.verdict and w.subject = g.subject
left join reported_nowhere as n on g.verdict = 'unknown' and n.rule = g.rule and n.subject = g.subject
left join unknown_why as y on g.verdict = 'unknown' and y.rule = g.rule and y.subject = g.subject;
