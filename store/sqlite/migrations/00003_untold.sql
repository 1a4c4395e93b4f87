-- +goose Up

-- What is over, and its owner was not told yet: an agent that comes back asks for
-- that, and it is little beside all that was ever settled.
alter table records add column untold integer not null default 0 check (untold in (0, 1));

create index records_untold on records (kind, owner, id) where untold = 1;
