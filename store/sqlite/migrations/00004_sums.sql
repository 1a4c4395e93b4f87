-- +goose Up

-- CRC-32C checksums, to detect rows that were changed by a disk or another program
-- (sum.go). sum covers all other columns of a row except `fixed`, which is written once and
-- has its own. Rows of older versions have none until they are written again.
alter table records add column sum integer;
alter table records add column fixed_sum integer;
alter table history add column sum integer;
