package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// A hostedRecord is the recorded state of a hosted session at its end.
type hostedRecord struct {
	session askback.Session
	replies int
	calls   []hostedCall // in order
	asks    []string     // the questions that people were asked
}

// A hostedCall is a tool call in the history.
type hostedCall struct {
	id, write string // write is the change as in the log of the tool, or "" if the call changes nothing
	results   int
	isError   bool
}

// check checks the runs of a round, which have ended, and their children.
func (t *hostedTest) check(ctx context.Context, runs []string) error {
	made, err := readCalls(t.callLog)
	if err != nil {
		return err
	}
	shapes := map[string]hostedShape{}
	for _, run := range runs {
		for agent, shape := range hostedShapes(run) {
			shapes[agent] = shape
		}
	}
	ctx, stop := context.WithTimeout(ctx, hostedEndTime)
	defer stop()
	records, err := t.records(ctx, len(shapes))
	if err != nil {
		return err
	}
	for _, r := range records {
		shape, ok := shapes[r.session.Agent]
		if !ok {
			t.bad = append(t.bad,
				violated(duplicated, "there is a second session of the agent %s: %s", r.session.Agent, r.session.ID))
			continue
		}
		delete(shapes, r.session.Agent)
		t.bad = append(t.bad, r.check(shape, made)...)
		t.interrupted += r.interrupted()
	}
	for agent := range shapes {
		t.bad = append(t.bad, violated(lost, "there is no session of the agent %s", agent))
	}
	return nil
}

// interrupted returns the number of calls that change something and have an error.
func (r hostedRecord) interrupted() (n int) {
	for _, c := range r.calls {
		if c.write != "" && c.isError {
			n++
		}
	}
	return n
}

// check returns the differences between a session and its required shape. made has the number of times that
// each call was made, as the tool recorded it.
func (r hostedRecord) check(want hostedShape, made map[string]int) (bad []violation) {
	violate := func(f fault, format string, args ...any) {
		bad = append(bad, violated(f, "%s (%s): "+format, append([]any{r.session.Agent, r.session.ID}, args...)...))
	}
	if s := r.session; s.Status != askback.SessionCompleted || !strings.Contains(string(s.Result), want.result) {
		violate(inconsistent, "it ended as %s %s %s, want %q", s.Status, s.Result, s.Error, want.result)
	}
	switch {
	case r.replies < want.replies:
		violate(lost, "%d replies of the model, want %d", r.replies, want.replies)
	case r.replies > want.replies:
		violate(duplicated, "%d replies of the model, want %d", r.replies, want.replies)
	}
	if len(r.calls) != want.calls {
		violate(inconsistent, "%d calls, want %d", len(r.calls), want.calls)
	}
	var writes []string
	for _, c := range r.calls {
		if c.results != 1 {
			violate(inconsistent, "%s has %d results", c.id, c.results)
		}
		if c.write == "" {
			continue
		}
		writes = append(writes, c.write)
		switch n := made[c.write]; {
		case n > 1:
			violate(duplicated, "%q was made %d times", c.write, n)
		case n == 0 && !c.isError:
			violate(lost, "%q has a result and was not made", c.write)
		}
	}
	if !slices.Equal(writes, want.writes) {
		violate(inconsistent, "the calls %q, want %q", writes, want.writes)
	}
	for _, ask := range want.asks {
		if n := len(slices.DeleteFunc(slices.Clone(r.asks), func(s string) bool { return s != ask })); n > 1 {
			violate(duplicated, "a person was asked %q %d times", ask, n)
		} else if n == 0 {
			violate(lost, "a person was not asked %q", ask)
		}
	}
	if len(r.asks) > len(want.asks) {
		violate(duplicated, "people were asked %q, want %q", r.asks, want.asks)
	}
	return bad
}

// readCalls returns the number of times that each call was made, from the log of the tool.
func readCalls(path string) (map[string]int, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	made := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var line struct{ Tool, Path string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("the log of the tool: %w", err)
		}
		made[line.Tool+" "+line.Path]++
	}
	return made, nil
}

// records returns the n hosted sessions that were not checked yet.
func (t *hostedTest) records(ctx context.Context, n int) (all []*hostedRecord, err error) {
	byID := map[string]*hostedRecord{}
	page := askback.SessionQuery{Limit: askback.MaxLimit}
	for len(byID) < n {
		got, _, err := call(ctx,
			t.conn, t.person.token, func(ctx context.Context, c *httpapi.Client) (askback.SessionPage, error) {
				return c.Sessions(ctx, page)
			})
		if err != nil {
			return nil, err
		}
		for _, s := range got.Items {
			if s.Hosted && !t.checked[s.ID] {
				r := &hostedRecord{session: s}
				byID[s.ID], all, t.checked[s.ID] = r, append(all, r), true
			}
		}
		if page.Cursor = got.NextCursor; page.Cursor == "" {
			break
		}
	}
	for id, r := range byID {
		if err := t.readHistory(ctx, id, r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readHistory adds the events of a session to its record.
func (t *hostedTest) readHistory(ctx context.Context, id string, r *hostedRecord) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s, httpClient, err := t.conn.connect(ctx)
	if err != nil {
		return err
	}
	ended := 0
	for e, err := range httpapi.NewClient(s.URL, t.person.token, httpClient).Events(ctx, id, askback.Beginning) {
		if err != nil {
			return fmt.Errorf("read the history of %s: %w", id, err)
		}
		if err := r.add(e); err != nil {
			return err
		}
		if e.Type == askback.EventAgentComplete || e.Type.EndsSession() {
			if ended++; ended == 2 {
				return nil
			}
		}
	}
	return nil
}

// add adds an event to the record.
func (r *hostedRecord) add(e askback.Event) error {
	var d struct {
		Role    string
		CallID  string `json:"call_id"`
		Name    string
		IsError bool `json:"is_error"`
		Input   struct{ Path string }
		Ask     askback.Ask
	}
	switch e.Type {
	case askback.EventMessage, askback.EventToolInput, askback.EventToolComplete, askback.EventQuestionPending:
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return fmt.Errorf("event %s: %w: %s", e.Type, err, e.Data)
		}
	}
	switch e.Type {
	case askback.EventMessage:
		if d.Role == "assistant" {
			r.replies++
		}
	case askback.EventToolInput:
		c := hostedCall{id: d.CallID}
		if tool, _ := strings.CutPrefix(d.Name, "files__"); tool == "write" || tool == "delete" {
			c.write = tool + " " + d.Input.Path
		}
		r.calls = append(r.calls, c)
	case askback.EventToolComplete:
		if i := slices.IndexFunc(r.calls, func(c hostedCall) bool { return c.id == d.CallID }); i >= 0 {
			r.calls[i].results++
			r.calls[i].isError = d.IsError
		}
	case askback.EventQuestionPending:
		r.asks = append(r.asks, askedFor(d.Ask))
	}
	return nil
}

// askedFor returns the question to people, without the parts that are the same in all runs.
func askedFor(a askback.Ask) string {
	if a.Confirmation == nil {
		return a.Questions[0].Text
	}
	var input struct{ Path string }
	if a.Confirmation.Server == "" || json.Unmarshal(a.Confirmation.Input, &input) != nil {
		return a.Confirmation.Description
	}
	return a.Confirmation.Server + "." + a.Confirmation.ToolName + " " + input.Path
}
