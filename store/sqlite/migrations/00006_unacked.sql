-- +goose Up

-- The ask is settled, and its agent has not acknowledged the outcome. SQLite cannot rename
-- an index, so it is created again.
alter table records rename column untold to unacked;

drop index records_untold;

create index records_unacked on records (kind, owner, id) where unacked = 1;
