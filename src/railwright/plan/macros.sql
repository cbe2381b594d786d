-- Words of a mount: /home (nfs4) is on 198.51.100.20.
create or replace temp macro storage_words(mount_point, file_system, server) as
    case when mount_point = '' or mount_point is null then 'a file system' else mount_point end
    || case when file_system = '' or file_system is null then '' else ' (' || file_system || ')' end
    || ' is on ' || case when server = '' or server is null then 'the network' else server end;

-- Whether two ends of a link fit with these values: whoever sends to a switch sends no more than it takes; all else is the same.
create or replace temp macro ends_fit(family, kind, other_kind, mine, theirs) as
    case
        when family = 'mtu' and kind = 'switch' and other_kind = 'host' then try_cast(theirs as integer) <= try_cast(mine as integer)
        when family = 'mtu' then try_cast(theirs as integer) >= try_cast(mine as integer)
        when family = 'fec' then
            case mine when 'baser' then 'fc' when 'off' then 'none' else mine end
            = case theirs when 'baser' then 'fc' when 'off' then 'none' else theirs end
        when theirs is not null then mine = theirs
    end;
