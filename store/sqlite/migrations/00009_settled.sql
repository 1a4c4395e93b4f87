-- +goose Up

-- The index for searches finds asks by the time at which they were settled, and no longer by
-- the time at which they were made. Before this migration, an index of version 8 is created
-- again, empty (index_restore.go), so there is nothing to do here.
select 1;
