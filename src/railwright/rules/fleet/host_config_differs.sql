/* +++
id = "host-config-differs"
aliases = ["FLT-01"]
title = "Configuration drift from peer hosts"
severity = "medium"
subject = "host"
peers = true
needs = ["host_scope.kind", "digest.digest"]
message = "{subject} deviates from most of its kind in {observed}"
action = "ask"
implied_by = ["*"]
since = "0.2"
sources = [
  "review FLT-01, G-FLEET", "incident I-010, I-016",
  "judgement: which tables hold settings and no serial numbers, addresses or counters",
]

[uses]
"host_scope.class" = "hosts of one kind in different classes of the site file are not compared"
"port_scope.netdev" = "which NICs a host has; '' in a pod"
"port_scope.pci" = "the same"
"netdev.mtu" = "compared where it was read"
"pci_config.max_read_request" = "the same"
"numa_node.cpu_count" = "the same"

[parameters.least_members]
default = 8
unit = "hosts of one kind"
reason = "review G-FLEET: fewer do not make a peer group"
+++
## Why it matters
Hosts of one kind should be configured alike. The odd one out becomes the straggler of the next large job, even if none of
its settings is wrong by itself.

## What to do
1. Compare the values with those of a good host, using the table named in the finding:
   `railwright sql "SELECT * FROM qos_port WHERE target IN ('this', 'that')"`.
2. Correct the setting with the tool that owns it, not by hand. What the change disrupts depends on the setting.

## Exceptions
Expected during a rollout, until more than half of the hosts have the new setting. If pools of the same hardware are meant
to differ, give them classes in the site file. Settings without a majority are not compared. Firmware, drivers and library
files have their own rules (`firmware-differs`, `driver-differs`, `nccl-settings-differ`).
*/
with members as (
    select
        target,
        concat_ws(' of class ', kind, class) as peers,
        count(*) over (partition by kind, class) as hosts
    from host_scope
    where kind is not null
),

settings as (
    select target, fact_table, subject, digest
    from digest
    where fact_table in (
        'kernel_argument', 'sysctl', 'resource_limit', 'rdma_system', 'cpu_governor', 'gpu_direct', 'qos_port', 'qos_priority',
        'qos_dscp', 'qos_class', 'qos_buffer', 'ecn_priority', 'ecn_parameter', 'netdev_pause', 'ip_sysctl', 'nic_parameter',
        'roce_tos'
    )
    union all
    select target, 'MTU', name, mtu from netdev
    union all
    -- Hosts of a kind have their NICs at the same few addresses: most functions are left out.
    select c.target, 'max_read_request', c.pci, c.max_read_request
    from pci_config as c
    semi join (select distinct pci from port_scope) as p on p.pci = c.pci -- null: a NIC without an address is named below
    union all
    select target, 'NUMA nodes', '', count_known(cpu_count > 0) from numa_node group by target
),

-- A million NICs have ten million settings, and few hosts differ: those with the same settings are compared once.
told as (
    select target, bit_xor(hash_of_three(fact_table, subject, digest)) as settings -- null: a hash never is
    from settings
    group by target
),

named as (
    select target, bit_xor(hash_of_three(netdev, pci, device)) as nics -- null: a hash never is
    from port_scope
    group by target
),

alike as (
    select m.target, m.peers, m.hosts, min(m.target) over (partition by m.peers, t.settings, n.nics) as example
    from members as m
    left join told as t on t.target = m.target
    left join named as n on n.target = m.target
),

examples as (
    select example as target, peers, hosts, count(*) as members
    from alike
    group by example, peers, hosts
),

values_of as (
    select e.peers, s.target, s.fact_table, s.subject, s.digest, e.members
    from settings as s
    inner join examples as e on e.target = s.target
),

counted as (
    select peers, fact_table, subject, digest, sum(members) as holders -- null: a count never is
    from values_of
    group by peers, fact_table, subject, digest
),

-- The value of more than half of the hosts that report one.
usual as (
    select
        peers,
        fact_table,
        subject,
        sum(holders) as holders, -- null: a count never is
        arg_max(digest, holders) as digest, -- null: one that was not read agrees with none
        max(holders) filter (digest is not null) as agreeing, -- null: as above
        count(distinct digest) as settings
    from counted
    group by peers, fact_table, subject
),

-- What a host can be expected to report: about itself, and about the NICs that it sees.
places as (
    select target, '' as subject
    from examples
    union
    select p.target, unnest(list_filter([p.netdev, p.pci, p.device], lambda name: name <> '')) as subject
    from port_scope as p
    inner join examples as e on e.target = p.target
),

compared as (
    select
        p.target,
        case when 2 * u.agreeing > u.holders then s.digest <> u.digest else true end as differs,
        u.fact_table,
        u.fact_table || case when u.subject = '' then '' else ' of ' || u.subject end as place
    from places as p
    inner join examples as e on e.target = p.target
    inner join usual as u
        on u.peers = e.peers and u.subject = p.subject and 2 * u.holders > e.hosts
        -- In a small group a difference is inconclusive, whichever value most have.
        and (2 * u.agreeing > u.holders or (e.hosts < $least_members and u.settings > 1))
    left join values_of as s on s.target = p.target and s.fact_table = u.fact_table and s.subject = u.subject
    union all
    -- A NIC whose name was not read cannot be compared.
    select p.target, null, null, null
    from port_scope as p
    inner join examples as e on e.target = p.target
    where p.netdev is null or p.pci is null
    union all
    -- Nor can a host if none of its settings was read.
    select e.target, null, null, null
    from examples as e
    left join (select distinct target from digest where digest is not null) as d on d.target = e.target
    where d.target is null
),

judged as (
    select
        target,
        any_known(differs) as fault,
        list_sort(list(distinct fact_table) filter (differs)) as kinds,
        list_sort(list(place) filter (differs)) as places
    from compared
    group by target
)

select
    h.target,
    array_to_string(c.kinds[:4], ', ') || case when len(c.kinds) > 4 then ' and ' || len(c.kinds) - 4 || ' more' else '' end as observed,
    'the same as most hosts of its kind' as expected,
    case when h.kind is not null then a.hosts >= $least_members or (a.hosts > 1 and c.fault) end as applies,
    case when a.hosts >= $least_members then c.fault end as fault,
    concat_ws('; ',
        array_to_string(c.places[:4], ', ') || case when len(c.places) > 4 then ' and ' || len(c.places) - 4 || ' more' else '' end,
        'peers: ' || a.peers
    ) as detail,
    case when a.hosts < $least_members then 'few_peers' end as reason
from host_scope as h
left join alike as a on a.target = h.target
left join judged as c on c.target = a.example
