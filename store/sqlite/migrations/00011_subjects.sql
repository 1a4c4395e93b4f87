-- +goose Up

-- The subject of an event about the session itself is '', since it is the stream. Events of
-- older versions keep it.
drop view events;

create view events as
select seq, stream as session_id, n as session_seq, case subject when '' then stream else subject end as subject, type, cast(data as text) as data,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') as at
from history;
