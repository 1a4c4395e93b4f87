pragma application_id = 1098083138;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO "goose_db_version" VALUES(1,0,1,'2026-11-22 10:10:25');
INSERT INTO "goose_db_version" VALUES(2,1,1,'2026-11-22 10:10:25');
INSERT INTO "goose_db_version" VALUES(3,2,1,'2026-11-22 10:10:25');
INSERT INTO "goose_db_version" VALUES(4,3,1,'2026-11-22 10:10:25');
CREATE TABLE history (
    seq     integer primary key,
    stream  text    not null,
    n       integer not null,
    subject text    not null,
    type    text    not null,
    at      integer not null,
    data    blob
) strict;
INSERT INTO "history" VALUES(1,'ses_01m81brnfnsssmnwf93zzzw8jd',1,'ask_01m81brnfnsssmnwf93zzzw8jd','question_pending',1795342226933,X'7B7D');
INSERT INTO "history" VALUES(2,'ses_01m81brnfnsssmnwf93zzzw8jd',2,'ask_01m81brnfnsssmnwf93zzzw8jd','question_answered',1795342227232,X'7B7D');
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
, untold integer not null default 0 check (untold in (0, 1))) strict;
INSERT INTO "records" VALUES('token','tok_01m81brm9gckbqgr5jyfghkjbf',1,'','946c5e3bb4956dd58836353f8aefe25dc0b71552639a0ff3fc92ba1031a33559',1,'local','local','agent',NULL,1795342225712,1795342225712,NULL,X'7B2276223A317D',X'7B2276223A312C226B696E64223A226167656E74222C226E616D65223A226C6F63616C222C22766961223A227465726D696E616C222C2263726561746564223A313739353334323232353731327D',0);
INSERT INTO "records" VALUES('token','tok_01m81brm9nwe3mjfsy3ed92d6v',1,'','b1a96dfbe99fa58c8d3b117b37eb7d7c4622ee72cdc8252d5cdb2de836a78e87',1,'root','root','admin',NULL,1795342225717,1795342225717,NULL,X'7B2276223A317D',X'7B2276223A312C226B696E64223A2261646D696E222C226E616D65223A22726F6F74222C22766961223A227465726D696E616C222C2263726561746564223A313739353334323232353731377D',0);
INSERT INTO "records" VALUES('ask','ask_01m81brnfnsssmnwf93zzzw8jd',2,'ses_01m81brnfnsssmnwf93zzzw8jd',NULL,0,'local','local','answered',NULL,1795342226933,1795342227232,NULL,X'7B2276223A312C22737461747573223A22616E737765726564222C226F7574636F6D65223A7B226465636973696F6E223A22617070726F766564222C226279223A22706572736F6E222C226E616D65223A22726F6F74222C22766961223A227465726D696E616C222C226174223A313739353334323232373233327D7D',X'7B2276223A312C226964223A2261736B5F30316D383162726E666E7373736D6E776639337A7A7A77386A64222C2273657373696F6E223A227365735F30316D383162726E666E7373736D6E776639337A7A7A77386A64222C226F776E6572223A226C6F63616C222C226167656E74223A226C6F63616C222C226B696E64223A22636F6E6669726D6174696F6E222C22636F6E6669726D6174696F6E223A7B22746F6F6C223A226465706C6F79222C22696E707574223A7B22746F223A2270726F64227D2C2274696572223A22636F6E6669726D222C22646967657374223A227368613235363A62316533346561393935383131353834386439303138356465373332663366666437333730353138333761623130623661613838316562303861396132636431227D2C2271756F72756D223A312C2263726561746564223A313739353334323232363933332C22646561646C696E65223A313830363134323232363933332C226F6E5F74696D656F7574223A226661696C227D',1);
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('goose_db_version',4);
COMMIT;
