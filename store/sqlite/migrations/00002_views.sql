-- +goose Up

-- Views for people who read the database: the columns of the /agent routes. Programs use
-- the API; later versions may add columns to these views.

-- +goose StatementBegin
create view agent_questions as
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
-- +goose StatementEnd

-- The session of a single ask has no record; its row is computed from the ask.
-- +goose StatementBegin
create view agent_sessions as
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
-- +goose StatementEnd

create view events as
select seq, stream as session_id, n as session_seq, subject, type, cast(data as text) as data,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') as at
from history;
