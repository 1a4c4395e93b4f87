-- +goose Up

-- The index for full-text search (index.go). It is filled from the history, apart from
-- commits, up to the event with this seq.
create table search_position (
    one integer primary key check (one = 1),
    seq integer not null
) strict;

insert into search_position (one, seq) values (1, 0);

-- The records that the index has. The first digits of n are the time of the record, so
-- that the newest are found first.
create table search_ids (
    n  integer primary key,
    id text    not null unique
) strict;

-- The words, without their text. They are in lower case, so the tokenizer only splits at
-- spaces.
create virtual table search using fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
