-- +goose Up

-- The ask is settled, and its agent has not acknowledged the outcome. An agent that
-- returns lists these; they are few among all settled asks.
alter table records add column untold integer not null default 0 check (untold in (0, 1));

create index records_untold on records (kind, owner, id) where untold = 1;
