-- Three-valued aggregates: DuckDB's own skip NULL, so that one member that was not read looks like none.

-- True if one is true; false only if all were read and none is.
create macro any_known(x) as
    case when bool_or(x) then true when count(x) = count(*) then false end;

-- False if one is false; true only if all were read and all are.
create macro all_known(x) as
    case when not bool_and(x) then false when count(x) = count(*) then true end;

-- How many are true; NULL if one was not read.
create macro count_known(x) as
    case when count(x) = count(*) then count(*) filter (x) end;

-- What most members have, if that stays so even if every member that was not read disagrees;
-- NULL where there is no such value.
create macro mode_known(x) as
    case
        when 2 * list_max(map_values(histogram(x))) > count(*)
            then map_keys(histogram(x))[list_position(map_values(histogram(x)), list_max(map_values(histogram(x))))]
    end;

-- Whether two of them differ; NULL if one was not read that might.
create macro differ_known(x) as
    case when count(distinct x) > 1 then true when count(*) = 1 or count(x) = count(*) then false end;

-- The sum of all; NULL if one was not read.
create macro sum_known(x) as
    case when count(x) = count(*) then sum(x) end;

-- Eight flags as bits, by their number; NULL if one was not read.
create macro mask_known(flag, number) as
    case when count(flag) = 8 then bit_or(case when flag then 1 << number else 0 end) end;

-- The larger of both, and NULL where the first was not read: greatest() takes the other one then.
create macro at_least(x, smallest) as
    case when x < smallest then smallest else x end;

-- The class that a map of 64 characters (link_end.dscp_classes) gives a DSCP: -1 = the map has none, or the end does not go
-- by DSCP; NULL = not read, or nobody says which DSCP.
create macro class_of(classes, dscp) as
    case
        when dscp is not null and classes = '' then -1
        when classes[dscp + 1] = '.' then -1
        when classes[dscp + 1] between '0' and '7' then classes[dscp + 1]::INTEGER
    end;

-- Such a class in words.
create macro class_words(class) as
    case class when -1 then 'no class' else 'class ' || class end;

-- The priority that a host's map (netdev_qos.dscp_priorities) gives a DSCP; NULL where it shows none.
create macro priority_of(priorities, dscp) as
    case when priorities[dscp + 1] between '0' and '7' then priorities[dscp + 1]::INTEGER end;

-- 3,4 for the bits 24; none for 0.
create macro priorities_of(mask) as
    case
        when mask = 0 then 'none'
        when mask > 0 then array_to_string([x for x in range(8) if mask & (1 << x) <> 0], ',')
    end;

-- One number for three values. Each is hashed with a number of its own, or values that change places would cancel.
create macro hash_of_three(a, b, c) as
    hash(xor(xor(hash(xor(hash(a), 1)), hash(xor(hash(b), 2))), hash(xor(hash(c), 3))));
