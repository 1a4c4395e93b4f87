-- +goose Up

-- One row for each long-lived thing. Times are milliseconds since 1970, UTC.
-- `fixed` stands in the same row: in a table of its own a new record writes one
-- page more, and an update writes as many (docs/design.md, "The store").
create table records (
    kind    text    not null,
    id      text    not null,
    version integer not null,
    stream  text    not null, -- '' is none
    key     text,             -- null is none
    open    integer not null check (open in (0, 1)),
    owner   text    not null,
    agent   text    not null,
    status  text    not null,
    names   text,             -- whom it is addressed to, each on a line of its own; null is everybody
    created integer not null,
    updated integer not null,
    due     integer,          -- null is never
    state   blob,
    fixed   blob    not null
) strict;

-- Read, and List of all of a kind. Every update finds its row by it.
create unique index records_id on records (kind, id);

-- ReadKey, and no key twice.
create unique index records_key on records (kind, key) where key is not null;

-- List of what is open, oldest or newest first: the inbox. An answer takes its
-- ask out of it, so it stays as small as the inbox is.
create index records_open on records (kind, id) where open = 1;

-- List of what is open and belongs to one owner; an agent asks for its own,
-- and its own are few beside everybody's.
create index records_owner on records (kind, owner, id) where open = 1;

-- List of one session, open or not.
create index records_stream on records (stream, kind, id) where stream <> '';

-- Due, in its order.
create index records_due on records (due, id) where due is not null;

-- What happened, numbered by the writer in the order of the commits: seq over
-- all, n within a stream.
create table history (
    seq     integer primary key,
    stream  text    not null,
    n       integer not null,
    subject text    not null,
    type    text    not null,
    at      integer not null,
    data    blob
) strict;

-- History of one stream after a seq, and the head of a stream: an index ends
-- in the row's own number, which is seq. With (stream, n) instead, the second
-- page of a stream could only be found by walking the first.
create index history_stream on history (stream);
