pragma application_id = 1098083138;
BEGIN TRANSACTION;
CREATE TABLE effects (
    id           text    not null primary key,
    kind         text    not null,
    subject_kind text    not null, -- kind and id of its record
    subject      text    not null,
    stream       text    not null,
    due          integer not null,
    created      integer not null,
    attempts     integer not null,
    node         text,             -- the process that has claimed it; null is none
    dead         integer not null check (dead in (0, 1)),
    error        text    not null, -- of the last attempt
    data         blob,
    sum          integer not null  -- CRC-32C of all other columns
) strict, without rowid;
INSERT INTO "effects" VALUES('eff_1','send','ask','ask_00000000000000000000000002','ses_00000000000000000000000002',1795000000002,1795000000002,1,NULL,1,'no',X'7B22746F223A22616E61227D',4162497384);
INSERT INTO "effects" VALUES('eff_2','send','ask','ask_00000000000000000000000002','ses_00000000000000000000000002',1795000000002,1795000000002,1,'node',0,'',X'7B22746F223A22616E61227D',3545520132);
INSERT INTO "effects" VALUES('eff_3','send','ask','ask_00000000000000000000000002','ses_00000000000000000000000002',1795000000002,1795000000002,0,NULL,0,'',X'7B22746F223A22616E61227D',2877382076);
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO "goose_db_version" VALUES(1,0,1,'2026-11-22 12:51:19');
INSERT INTO "goose_db_version" VALUES(2,1,1,'2026-11-22 12:51:19');
INSERT INTO "goose_db_version" VALUES(3,2,1,'2026-11-22 12:51:19');
INSERT INTO "goose_db_version" VALUES(4,3,1,'2026-11-22 12:51:19');
INSERT INTO "goose_db_version" VALUES(5,4,1,'2026-11-22 12:51:19');
INSERT INTO "goose_db_version" VALUES(6,5,1,'2026-11-22 12:51:19');
CREATE TABLE history (
    seq     integer primary key,
    stream  text    not null,
    n       integer not null,
    subject text    not null,
    type    text    not null,
    at      integer not null,
    data    blob
, sum integer) strict;
INSERT INTO "history" VALUES(1,'ses_00000000000000000000000001',1,'ask_00000000000000000000000001','asked',1795000000001,X'7B7D',1771365857);
CREATE TABLE records (
    kind    text    not null,
    id      text    not null,
    version integer not null,
    stream  text    not null, -- '' is none
    key     text,             -- null is none
    open    integer not null check (open in (0, 1)),
    owner   text    not null,
    agent   text    not null,
    status  text    not null,
    names   text,             -- whom it is addressed to, each on a line of its own; null is everybody
    created integer not null,
    updated integer not null,
    due     integer,          -- null is never
    state   blob,
    fixed   blob    not null
, untold integer not null default 0 check (untold in (0, 1)), sum integer, fixed_sum integer) strict;
INSERT INTO "records" VALUES('ask','ask_00000000000000000000000001',1,'ses_00000000000000000000000001',NULL,0,'agent-1','Claude','answered','
ana
',1795000000001,1795000000001,NULL,X'7B2276223A317D',X'7B2276223A317D',1,3540005912,1052329098);
INSERT INTO "records" VALUES('ask','ask_00000000000000000000000002',1,'ses_00000000000000000000000002','key_00000000000000000000000002',1,'agent-1','Claude','pending',NULL,1795000000002,1795000000002,1795003600002,X'7B2276223A317D',X'7B2276223A317D',0,2146215729,3858613219);
INSERT INTO "records" VALUES('ask','ask_00000000000000000000000003',1,'ses_00000000000000000000000003','key_00000000000000000000000003',1,'agent-1','Claude','pending',NULL,1795000000003,1795000000003,1795003600003,X'7B2276223A317D',X'7B2276223A317D',0,351813623,2898378436);
CREATE UNIQUE INDEX records_id on records (kind, id);
CREATE UNIQUE INDEX records_key on records (kind, key) where key is not null;
CREATE INDEX records_open on records (kind, id) where open = 1;
CREATE INDEX records_owner on records (kind, owner, id) where open = 1;
CREATE INDEX records_stream on records (stream, kind, id) where stream <> '';
CREATE INDEX records_due on records (due, id) where due is not null;
CREATE INDEX history_stream on history (stream);
CREATE VIEW agent_questions as
select
    id,
    stream as session_id,
    agent as agent_name,
    status,
    coalesce(fixed ->> '$.questions[0].text', 'Confirm: ' || coalesce(fixed ->> '$.confirmation.description', fixed ->> '$.confirmation.tool')) as question,
    fixed -> '$.questions' as questions,
    fixed -> '$.confirmation' as confirmation,
    fixed -> '$.context' as context,
    case when status = 'answered' then coalesce(state ->> '$.outcome.decision', (
        select group_concat(value, char(10)) from (
            select coalesce((select group_concat(s.value, ', ') from json_each(a.value, '$.selected') s), '')
                || case when a.value ->> '$.selected' is not null and a.value ->> '$.other' is not null then ', ' else '' end
                || coalesce(a.value ->> '$.other', '') as value
            from json_each(state, '$.outcome.answers') a)))
    end as answer,
    state ->> '$.outcome.name' as answered_by,
    case when status = 'answered' then strftime('%Y-%m-%dT%H:%M:%fZ', (state ->> '$.outcome.at') / 1000.0, 'unixepoch') end as answered_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') as created_at
from (select id, stream, agent, status, created, cast(fixed as text) as fixed, cast(state as text) as state from records where kind = 'ask');
CREATE VIEW agent_sessions as
select
    id,
    agent as agent_name,
    case status when 'waiting_for_input' then 'pending_input' when 'cancelled' then 'failed' else status end as status,
    null as original_payload,
    cast(state as text) as execution_state,
    strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') as created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', updated / 1000.0, 'unixepoch') as updated_at
from records where kind = 'session'
union all
select
    stream,
    agent,
    case
        when status = 'pending' then 'pending_input'
        when status = 'expired' and cast(fixed as text) ->> '$.on_timeout' = 'fail' then 'failed'
        else 'completed'
    end,
    null,
    null,
    strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%dT%H:%M:%fZ', updated / 1000.0, 'unixepoch')
from records where kind = 'ask' and substr(stream, 5) = substr(id, 5);
CREATE VIEW events as
select seq, stream as session_id, n as session_seq, subject, type, cast(data as text) as data,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') as at
from history;
CREATE INDEX records_untold on records (kind, owner, id) where untold = 1;
CREATE INDEX effects_due on effects (due, id) where node is null and dead = 0;
CREATE INDEX effects_node on effects (node) where node is not null;
CREATE INDEX effects_dead on effects (id) where dead = 1;
CREATE INDEX effects_subject on effects (subject_kind, subject);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('goose_db_version',6);
COMMIT;
