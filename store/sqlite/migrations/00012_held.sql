-- +goose Up

-- A held effect is claimed by no process until its key is released. The checksum of an effect
-- that is not held is the same as before.
alter table effects add column held text;

drop index effects_due;

-- For Claim, in its order.
create index effects_due on effects (due, id) where node is null and dead = 0 and held is null;

-- To release a key.
create index effects_held on effects (held) where held is not null;
