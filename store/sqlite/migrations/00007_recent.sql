-- +goose Up

-- Recent records are not in the indices by owner (recent.go). A record is recent if its
-- id sorts after the boundary of its kind. The column is only kept up while the record is
-- open or unacked.
alter table records add column recent integer not null default 0 check (recent in (0, 1));

create table boundaries (
    kind text not null primary key,
    id   text not null
) strict, without rowid;

insert into boundaries (kind, id) select kind, max(id) from records group by kind;

drop index records_owner;

drop index records_unacked;

-- For List of the open records of one owner, without the recent ones.
create index records_owner on records (kind, owner, id) where open = 1 and recent = 0;

-- For List of what one owner has not acknowledged, without the recent ones.
create index records_owner_unacked on records (kind, owner, id) where unacked = 1 and recent = 0;

-- For List of all that is not acknowledged.
create index records_unacked on records (kind, id) where unacked = 1;
