select
    target,
    fact,
    value_a || ' (' || source_a || ')' as one_says,
    value_b || ' (' || source_b || ')' as other_says
from disagreement
