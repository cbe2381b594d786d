-- What findings are settled by, beside the verdicts: filled by findings.py, read by findings.sql.
create temp table severity (severity varchar, rank integer, is_shown boolean);
create temp table rule_info (rule varchar, rank integer, kind varchar, both_ends boolean);
create temp table rule_grade (rule varchar, severity varchar, rank integer);
create temp table rule_cause (rule varchar, cause varchar);
create temp table rule_probe (rule varchar, probe varchar, is_needed boolean);
create temp table rule_table (rule varchar, "table" varchar); -- tables of probes that it rests on
create temp table reason_words (reason varchar, words varchar);
create temp table waiver (
    number integer,
    verdict varchar,
    rule varchar,
    target varchar,
    prefix varchar,
    is_expired boolean,
    system varchar,
    fact varchar
);
create temp table asked_target (target varchar);
