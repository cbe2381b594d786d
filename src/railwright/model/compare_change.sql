-- Every change: at which machine, which table and probe tell it, at which thing, in which row of it, which column; '' = the row itself.
create temp table change (
    target varchar, fact_table varchar, probe varchar, thing varchar, other varchar, what varchar, number bigint, col varchar,
    kind varchar, old varchar, new varchar
)
