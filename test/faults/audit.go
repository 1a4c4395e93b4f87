package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// sound are questions about the whole database that have one good answer.
var sound = []struct{ what, query, want string }{
	{"the file is whole", `pragma integrity_check`, "ok"},
	{"the history has no gap", `select count(*) - coalesce(max(seq), 0) from history`, "0"},
	{
		"no session's history has a gap",
		`select count(*) from (select 1 from history group by stream having min(n) <> 1 or max(n) <> count(*))`, "0",
	},
	{
		"every ask has its whole history, and one ending if it is settled",
		`with h as (select subject, count(*) as steps, sum(type = 'question_pending') as asked,
			sum(type in ('question_answered', 'question_declined', 'question_cancelled', 'question_expired')) as ended
			from history group by subject)
		select count(*) from records r left join h on h.subject = r.id
		where r.kind = 'ask' and (h.subject is null or h.steps <> r.version or h.asked <> 1 or h.ended <> 1 - r.open)`, "0",
	},
	{
		"all history is of an ask or a session that is there",
		`select count(*) from history where subject not in (select id from records where kind in ('ask', 'session'))`, "0",
	},
	{
		"every session counts its asks",
		`select count(*) from records s where kind = 'session' and (
			coalesce(json_extract(cast(state as text), '$.total'), 0) <> (select count(*) from records where kind = 'ask' and stream = s.id)
			or coalesce(json_extract(cast(state as text), '$.pending'), 0) <> (select count(*) from records where kind = 'ask' and stream = s.id and open))`, "0",
	},
	{
		"no ask and no key is there twice",
		`select (select count(*) - count(distinct id) from records where kind = 'ask')
			+ (select count(key) - count(distinct kind || ' ' || key) from records)`, "0",
	},
}

// audit asks about the whole database, and compares every ask with everything
// that was ever acknowledged.
func (c *checker) audit(ctx context.Context) (bad []violation, err error) {
	if bad, err = c.check(ctx); err != nil {
		return bad, err
	}
	wrong, err := c.everyAsk(ctx)
	if bad = append(bad, wrong...); err != nil {
		return bad, err
	}
	db, err := sql.Open("sqlite", "file:"+c.path) // the driver that package sqlite brings
	if err != nil {
		return bad, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range sound {
		var got string
		if err := db.QueryRowContext(ctx, s.query).Scan(&got); err != nil {
			return bad, fmt.Errorf("%s: %w", s.what, err)
		}
		if got != s.want {
			bad = append(bad, violated(torn, "not so: %s (%s, not %s)", s.what, got, s.want))
		}
	}
	return bad, nil
}

// everyAsk reads all asks and looks for all that were acknowledged.
func (c *checker) everyAsk(ctx context.Context) (bad []violation, err error) {
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
			bad = append(bad, c.compare(r)...)
		}
		if len(records) < q.Limit {
			return append(bad, c.missing(found)...), nil
		}
	}
}

func (c *checker) missing(found map[string]bool) (bad []violation) {
	for key, id := range c.ledger.ids {
		if !found[id] {
			bad = append(bad, violated(lost, "%s, of key %s, was acknowledged and is not there", id, key))
		}
	}
	for id, told := range c.ledger.outcomes {
		if !found[id] {
			bad = append(bad, violated(lost, "%s was acknowledged as %s and is not there", id, told))
		}
	}
	return bad
}

// outcomeOf returns how the ask with a key ended, nil if it has not, as the
// store has it.
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
	s, err := lifecycle.Decode(r.Fixed, r.State)
	return r.ID, s.Ask.Outcome, err
}
