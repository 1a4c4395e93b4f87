-- +goose Up

-- Committed work: one row for each effect until it is done. Times are milliseconds
-- since 1970, UTC. A row is small, so the table is ordered by id and has no rowid: a
-- new effect writes one tree less.
create table effects (
    id           text    not null primary key,
    kind         text    not null,
    subject_kind text    not null, -- kind and id of its record
    subject      text    not null,
    stream       text    not null,
    due          integer not null,
    created      integer not null,
    attempts     integer not null,
    node         text,             -- the process that has claimed it; null is none
    dead         integer not null check (dead in (0, 1)),
    error        text    not null, -- of the last attempt
    data         blob,
    sum          integer not null  -- CRC-32C of all other columns
) strict, without rowid;

-- Claim, in its order.
create index effects_due on effects (due, id) where node is null and dead = 0;

-- The claims of a node that has no heartbeat, and all claims after a start.
create index effects_node on effects (node) where node is not null;

-- Dead. Dead letters are few.
create index effects_dead on effects (id) where dead = 1;

-- The effects of a deleted record.
create index effects_subject on effects (subject_kind, subject);
