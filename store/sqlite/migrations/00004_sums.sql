-- +goose Up

-- CRC-32C of what was written, to notice what reads otherwise (sum.go). sum is that of
-- all other columns of a row but `fixed`, which is not written again with each change and
-- has one of its own. Rows from before have none until they are written again.
alter table records add column sum integer;
alter table records add column fixed_sum integer;
alter table history add column sum integer;
