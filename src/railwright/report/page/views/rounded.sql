-- Numbers with many values as three significant digits in 16 bits, from 1e-30 on, in hexadecimal; how many have a value, how
-- many have none. web/src/columns.ts turns the codes back.
with powers as (
    select idx, value, none, floor(log10(nullif(value, 0))) as power
    from page_value
),

parts as (
    select *, round(value / pow(10, power - 2)) as digits
    from powers
),

coded as (
    select
        idx,
        value,
        none,
        case
            when value is null then coalesce(none::integer, 0)
            when value = 0 or power < -30 then 2
            when digits >= 1000 then least(3 + (power + 31) * 900, 65535)
            else least(3 + (power + 30) * 900 + digits - 100, 65535)
        end::integer as code
    from parts
)

select string_agg(printf('%04x', code), '' order by idx), count(value), count(*) filter (value is null and none)
from coded
