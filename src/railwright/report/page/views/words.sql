-- The values of a column with their codes: the first port that has a value says which one it gets.
create or replace temp table page_word as
select value, (row_number() over (order by min(idx)))::integer + 1 as code
from page_value
where value is not null
group by value
