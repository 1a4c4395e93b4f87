-- +goose Up

-- One row for each ask, session, grant and token. Times are milliseconds since 1970, UTC.
-- `fixed` is in the same row: with a table of its own, a new record writes one page
-- more, and an update writes as many (docs/design/store.md, "What a change writes").
create table records (
    kind    text    not null,
    id      text    not null,
    version integer not null,
    stream  text    not null, -- '' means none
    key     text,             -- null means none
    open    integer not null check (open in (0, 1)),
    owner   text    not null,
    agent   text    not null,
    status  text    not null,
    names   text,             -- the people it is addressed to, one per line; null means every person
    created integer not null,
    updated integer not null,
    due     integer,          -- null means never
    state   blob,
    fixed   blob    not null
) strict;

-- For Read, for List of all records of a kind, and for every update.
create unique index records_id on records (kind, id);

-- For ReadKey, and so that a key is unique.
create unique index records_key on records (kind, key) where key is not null;

-- For List of open records, oldest or newest first: the inbox. An answer removes its
-- ask from this index, so the index stays as small as the inbox.
create index records_open on records (kind, id) where open = 1;

-- For List of the open records of one owner: an agent lists its own, which are few
-- among all.
create index records_owner on records (kind, owner, id) where open = 1;

-- For List of the records of one session, open or not.
create index records_stream on records (stream, kind, id) where stream <> '';

-- For Due, in its order.
create index records_due on records (due, id) where due is not null;

-- The events, numbered by the writer in commit order: seq over all streams, n within
-- one.
create table history (
    seq     integer primary key,
    stream  text    not null,
    n       integer not null,
    subject text    not null,
    type    text    not null,
    at      integer not null,
    data    blob
) strict;

-- For History of one stream after a seq, and for Head: an index ends with the rowid,
-- which is seq. With (stream, n) instead, the second page of a stream could only be found
-- by reading the first.
create index history_stream on history (stream);
