-- +goose Up

-- List of what is over and belongs to one owner: an agent that comes back looks
-- for the answers it was not told yet.
create index records_owner_over on records (kind, owner, id) where open = 0;
