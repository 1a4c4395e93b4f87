package feed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/text/search"
	"github.com/askback/askback/store"
)

const (
	// indexInterval is the time between two searches for newly settled asks. It doubles up to
	// maxIndexInterval while searches find nothing, because a search of a person adds the newest asks itself.
	indexInterval    = time.Second
	maxIndexInterval = time.Minute
	// maxIndexRetry is the longest pause after an error.
	maxIndexRetry = time.Hour
	// indexBatch and indexBytes limit the asks that one update of the index adds. Other commits wait for the
	// update, so it must take only a few milliseconds.
	indexBatch = 32
	indexBytes = 64 << 10
	// indexPause is the minimum pause between two updates. The pause is also at least indexIdle times as long
	// as the update. So the writer has nearly all its time for other commits.
	indexPause = 20 * time.Millisecond
	indexIdle  = 19
	// maxIndexed limits the bytes of an ask's words that are indexed.
	maxIndexed = 32 << 10
	// searchWait limits how long a search adds newly settled asks to the index before it runs.
	searchWait = 100 * time.Millisecond
	// searchChunk is the number of asks that a search reads at a time.
	searchChunk = 64
)

// IndexLoop adds settled asks to the index until ctx ends. It reads the history after the
// position of the index, so it also fills a new index.
func (e *Service) IndexLoop(ctx context.Context) {
	retry, idle := indexInterval, indexInterval // the pauses after an error and after a search that found no event
	for ctx.Err() == nil {
		begun := time.Now()
		read, more, err := e.fillIndex(ctx)
		pause := indexInterval
		switch {
		case err != nil && ctx.Err() == nil:
			e.Log.Warn("the index for searches could not be filled", "error", err, "again", retry)
			pause, retry = retry, min(2*retry, maxIndexRetry)
		case more:
			pause = max(indexPause, indexIdle*time.Since(begun))
			retry, idle = indexInterval, indexInterval
		case read:
			retry, idle = indexInterval, indexInterval
		default:
			pause, idle = idle, min(2*idle, maxIndexInterval)
		}
		_ = txn.Sleep(ctx, pause, nil) // the loop ends with ctx
	}
}

// fillIndex adds the next settled asks to the index. It reports whether it read an event,
// and whether there may be more.
func (e *Service) fillIndex(ctx context.Context) (read, more bool, err error) {
	e.indexing.Lock()
	defer e.indexing.Unlock()
	from, err := e.Store.Indexed(ctx)
	if err != nil {
		return false, false, err
	}
	events, err := e.Store.History(ctx, "", from, store.MaxList)
	if err != nil || len(events) == 0 {
		return false, false, err
	}
	u := store.IndexUpdate{From: from}
	size := 0
	for _, ev := range events {
		u.To = ev.Seq
		if !askback.EventType(ev.Type).Settles() {
			continue
		}
		d, ok, err := e.documentOf(ctx, ev.Subject)
		if err != nil {
			return false, false, err
		}
		if ok {
			u.Add = append(u.Add, d)
			size += len(d.Words)
		}
		if len(u.Add) == indexBatch || size >= indexBytes {
			break
		}
	}
	more = u.To < events[len(events)-1].Seq || len(events) == store.MaxList
	err = e.Store.UpdateIndex(ctx, u)
	if errors.Is(err, store.ErrConflict) {
		return true, true, nil // another process has already added these asks
	}
	return true, more, err
}

// documentOf returns the document of an ask for the index. It reports false if the ask was deleted, cannot be
// read, or is not settled.
func (e *Service) documentOf(ctx context.Context, id string) (d store.Document, ok bool, err error) {
	row, err := e.Store.Read(ctx, txn.KindAsk, id)
	if damaged := (store.DamagedError{}); errors.As(err, &damaged) || errors.Is(err, store.ErrNotFound) {
		return d, false, nil
	}
	if err != nil {
		return d, false, err
	}
	state, err := txn.DecodeAsk(row)
	if err != nil || !state.Ask.Settled() {
		return d, false, nil // lists log the error
	}
	words := strings.Join(listers(state.Ask), " ") + " " + wordsOf(state.Ask)
	return store.Document{Kind: txn.KindAsk, ID: id, At: state.Ask.Outcome.At, Words: words}, true, nil
}

// The prefixes of the index words for the principals that may list an ask. Each prefix begins with a
// character that is in no word of a text. So the text of an ask cannot contain such a word, and a search
// cannot contain it either.
const (
	ownerWord  = "§o" // and a name
	personWord = "§p" // a name follows, or nothing for every person
)

// listers returns the index words for the principals that may list an ask.
func listers(a askback.Ask) []string {
	all := []string{nameWord(ownerWord, a.Owner)}
	for _, name := range a.People() {
		all = append(all, nameWord(personWord, name))
	}
	if len(a.People()) == 0 {
		all = append(all, personWord)
	}
	return all
}

// nameWord returns the index word for a name. It hashes the name, which may have spaces and be long.
func nameWord(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:16])
}

// listed returns the index words of the principal. Each ask that the principal may list has one of these
// words. So neither the time of a search nor its cursor depends on other asks.
func (c *Client) listed() []string {
	if c.Who.Kind == askback.Agent {
		return []string{nameWord(ownerWord, c.Who.Name)}
	}
	return []string{personWord, nameWord(personWord, c.Who.Name)}
}

// wordsOf returns the words of an ask that a search can find.
func wordsOf(a askback.Ask) string {
	b := make([]byte, 0, 512)
	add := func(texts ...string) {
		for _, t := range texts {
			b = search.AppendWords(b, t, maxIndexed)
		}
	}
	add(a.Title, a.Agent)
	add(a.Tags...)
	if c := a.Confirmation; c != nil {
		add(c.ToolName, c.Server, c.Description)
	}
	for _, q := range a.Questions {
		add(q.Header, q.Text)
	}
	if o := a.Outcome; o != nil {
		add(o.Actor.Name, o.Comment, o.Reason)
		for _, one := range o.Answers {
			add(one.Selected...)
			add(one.Other, one.Notes)
		}
		addJSON(add, o.Input)
	}
	for _, q := range a.Questions {
		for _, o := range q.Options {
			add(o.Label, o.Description)
		}
	}
	if c := a.Confirmation; c != nil {
		addJSON(add, c.Input)
		add(c.Context)
	}
	addJSON(add, a.Context)
	return string(b)
}

// addJSON passes the names, texts and numbers in a JSON value to add.
func addJSON(add func(...string), raw json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return // the end
		}
		switch t := token.(type) {
		case string:
			add(t)
		case json.Number:
			add(t.String())
		}
	}
}

// search returns a page of the settled asks that contain all words of a query, sorted by outcome, latest
// first. It first adds the newly settled asks to the index. Without a word, the page is empty.
func (c *Client) search(ctx context.Context, q askback.Query) (page askback.Page, err error) {
	e := c.service
	begun := time.Now()
	for more := true; more && time.Since(begun) < searchWait; {
		if _, more, err = e.fillIndex(ctx); err != nil {
			return page, txn.FromStore(err)
		}
	}
	from := store.Search{AnyOf: c.listed(), Limit: searchChunk}
	for _, p := range search.Parse(q.Search) {
		from.Phrases = append(from.Phrases, store.Phrase(p))
	}
	if len(from.Phrases) == 0 {
		return page, nil
	}
	last, size := settledCursor{at: e.Clock()}, 0
	switch {
	case q.Cursor != "":
		if last, err = parseSettledCursor(q.Cursor); err != nil {
			return page, err
		}
		from.After, from.Before = last.ask, last.at // the document of this ask may have been deleted
	case !q.Until.IsZero():
		from.Before = q.Until.Add(time.Millisecond)
	}
	limit := cmp.Or(q.Limit, askback.DefaultLimit)
	for begun := time.Now(); ; {
		found, err := e.Store.Find(ctx, from)
		if err != nil {
			return askback.Page{}, txn.FromStore(err)
		}
		for _, id := range found {
			a, ok, err := c.foundAsk(ctx, q, id)
			switch {
			case err != nil:
				return askback.Page{}, err
			case ok && (len(page.Items) == limit || size > txn.ListBytes):
				page.NextCursor = last.String()
				return page, nil
			case ok:
				page.Items = append(page.Items, a)
				size += txn.AskBytes(&a)
			}
			if last.ask = id; a.Outcome != nil {
				last.at = a.Outcome.At
			}
		}
		if len(found) < searchChunk {
			return page, nil
		}
		if from.After = last.ask; time.Since(begun) >= txn.MaxListTime {
			page.NextCursor = last.String()
			return page, nil
		}
	}
}

// foundAsk returns an ask that a search has found. It reports false if the principal may not list the ask, or
// if the ask does not match the other filters. It also reports false if the ask cannot be read.
func (c *Client) foundAsk(ctx context.Context, q askback.Query, id string) (a askback.Ask, ok bool, err error) {
	found, err := c.service.Fetch(ctx, id)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		return a, false, nil
	case err != nil:
		return a, false, err
	}
	a, q.Search = found.State.Ask, ""
	if c.AuthorizeAsk(access.ActList, &found.State) != nil || !c.listsAsk(a) || !matchesQuery(q, a) {
		return a, false, nil
	}
	ok = a.Settled() && (q.Status == askback.SettledStatus || q.Status == a.Outcome.Status) &&
		(q.Agent == "" || q.Agent == a.Agent) && (q.SessionID == "" || q.SessionID == a.SessionID)
	return a, ok, nil
}

// listsAsk reports whether an ask is in the lists of the principal. An agent lists its own asks. A person
// lists the asks for this person and the asks for every person.
func (c *Client) listsAsk(a askback.Ask) bool {
	if c.Who.Kind == askback.Agent {
		return a.Owner == c.Who.Name
	}
	return access.Ever(c.Who.Kind, access.ActList) && a.Addressed(c.Who.Name)
}
