package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// invariants are queries over the whole database, each with the only valid result.
var invariants = []struct{ what, query, want string }{
	{"the file is intact", `pragma integrity_check`, "ok"},
	{"the history has no gaps", `select count(*) - coalesce(max(seq), 0) from history`, "0"},
	{
		"the history of a session has no gaps",
		`select count(*) from (select 1 from history group by stream having min(n) <> 1 or max(n) <> count(*))`, "0",
	},
	{
		"the history of an ask is complete, with one end if it is settled",
		`with h as (select subject, count(*) as steps, sum(type = 'question_pending') as asked,
			sum(type in ('question_answered', 'question_declined', 'question_cancelled', 'question_expired')) as ended
			from history group by subject)
		select count(*) from records r left join h on h.subject = r.id
		where r.kind = 'ask' and (h.subject is null or h.steps < r.version or h.asked <> 1 or h.ended <> 1 - r.open)`, "0",
	},
	{
		"every event belongs to a stored ask or session",
		`select count(*) from history where case subject when '' then stream else subject end not in (select id from records where kind in ('ask', 'session'))`, "0",
	},
	{
		"the counts of a session match its asks",
		`select count(*) from records s where kind = 'session' and (
			coalesce(json_extract(cast(state as text), '$.total'), 0) <> (select count(*) from records where kind = 'ask' and stream = s.id)
			or coalesce(json_extract(cast(state as text), '$.pending'), 0) <> (select count(*) from records where kind = 'ask' and stream = s.id and open))`, "0",
	},
	{
		"asks and keys are unique",
		`select (select count(*) - count(distinct id) from records where kind = 'ask')
			+ (select count(key) - count(distinct kind || ' ' || key) from records)`, "0",
	},
}

// audit compares every ask in the database with all acknowledgements, checks the
// invariants, and returns the violations.
func (c *checker) audit(ctx context.Context) (bad []violation, err error) {
	if bad, err = c.check(ctx); err != nil {
		return bad, err
	}
	more, err := c.checkAllAsks(ctx)
	if bad = append(bad, more...); err != nil {
		return bad, err
	}
	db, err := sql.Open("sqlite", "file:"+c.path) // the driver is registered by package sqlite
	if err != nil {
		return bad, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range invariants {
		var got string
		if err := db.QueryRowContext(ctx, s.query).Scan(&got); err != nil {
			return bad, fmt.Errorf("%s: %w", s.what, err)
		}
		if got != s.want {
			bad = append(bad, violated(inconsistent, "%s: got %s, want %s", s.what, got, s.want))
		}
	}
	return bad, nil
}

// checkAllAsks returns the violations of all asks in the database, and a violation for each acknowledged ask
// that is not stored.
func (c *checker) checkAllAsks(ctx context.Context) (bad []violation, err error) {
	db, err := sqlite.Open(c.path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found := map[string]bool{}
	q := store.Query{Kind: kindAsk, Limit: store.MaxList}
	for {
		records, err := db.List(ctx, q)
		if err != nil {
			return bad, err
		}
		for _, r := range records {
			found[r.ID] = true
			q.After = r.ID
			bad = append(bad, c.checkRecord(r)...)
		}
		if len(records) < q.Limit {
			return append(bad, c.missing(found)...), nil
		}
	}
}

func (c *checker) missing(found map[string]bool) (bad []violation) {
	for key, id := range c.ackLog.ids {
		if !found[id] {
			bad = append(bad, violated(lost, "%s, with the key %s, was acknowledged and is missing", id, key))
		}
	}
	for id, outcome := range c.ackLog.outcomes {
		if !found[id] {
			bad = append(bad, violated(lost, "%s was acknowledged as %s and is missing", id, outcome))
		}
	}
	return bad
}

// outcomeOf returns the id and the outcome of the ask with a key. The outcome is nil if
// the ask is pending.
func outcomeOf(ctx context.Context, path, key string) (id string, o *askback.Outcome, err error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r, err := db.ReadKey(ctx, kindAsk, key)
	if err != nil {
		return "", nil, err
	}
	s, err := lifecycle.DecodeAsk(columnsOf(r), r.Fixed, r.State)
	return r.ID, s.Ask.Outcome, err
}
