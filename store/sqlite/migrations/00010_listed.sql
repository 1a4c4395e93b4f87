-- +goose Up

-- A document of the index for searches has words for the principals that may list it. Before this
-- migration, an index of an earlier version is created again, empty (index_restore.go), so there
-- is nothing to do here.
select 1;
