-- +goose Up

-- One row for each effect until it is done. Times are milliseconds since 1970, UTC. Rows
-- are small, so the table is ordered by id and has no rowid, and a new effect writes one
-- tree less.
create table effects (
    id           text    not null primary key,
    kind         text    not null,
    subject_kind text    not null, -- kind and id of its record
    subject      text    not null,
    stream       text    not null,
    due          integer not null,
    created      integer not null,
    attempts     integer not null,
    node         text,             -- the process that has claimed it; null means none
    dead         integer not null check (dead in (0, 1)),
    error        text    not null, -- of the last attempt
    data         blob,
    sum          integer not null  -- CRC-32C of all other columns
) strict, without rowid;

-- For Claim, in its order.
create index effects_due on effects (due, id) where node is null and dead = 0;

-- To free the claims of a node without a heartbeat, and all claims after a start.
create index effects_node on effects (node) where node is not null;

-- For Dead.
create index effects_dead on effects (id) where dead = 1;

-- To delete the effects of a record.
create index effects_subject on effects (subject_kind, subject);
