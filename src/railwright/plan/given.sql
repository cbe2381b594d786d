-- What the guards are given besides facts: of the settings, of the options, of the site file, of owners.toml and counterparts.toml.
create temp table setting_guard (setting varchar, stops varchar, reach varchar, held varchar, takes_hold varchar, lost_at varchar[]);

create temp table whole_write (setting varchar, write integer);

create temp table family (setting varchar, family varchar);

create temp table never (pattern varchar);

create temp table second_way (target varchar, netdevs varchar[]);

create temp table declared_owner (target varchar, name varchar, setting varchar);

create temp table owner_key (setting varchar, key varchar);

create temp table owner_call (setting varchar, tool varchar, word varchar);

create temp table owner_file (setting varchar, file varchar);

create temp table operator (name varchar, label varchar, value varchar, setting varchar);

create temp table address_bits (text varchar, family varchar, bits varchar);
