-- +goose Up

-- The column says what the agent has not acknowledged. Its index gets the name as well,
-- which SQLite can only do by making it again.
alter table records rename column untold to unacked;

drop index records_untold;

create index records_unacked on records (kind, owner, id) where unacked = 1;
