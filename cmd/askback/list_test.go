package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// The title ends with "of a longer list" if the page does not contain all asks.
func TestListTitleShowsThatMoreAsksExist(t *testing.T) {
	asks := make([]askback.Ask, 2)
	for i := range asks {
		asks[i] = askback.Ask{ID: "ask_01m81fsg1tjwk21qxw7zbe621" + string(rune('a'+i)), Status: askback.Pending}
		asks[i].Questions = []askback.Question{{ID: "q1", Text: "Which?"}}
	}
	for _, test := range []struct {
		status, cursor, next, want string
	}{
		{"pending", "", "", "2 open questions"},
		{"pending", "", asks[1].ID, "2 open questions of a longer list"},
		{"pending", asks[0].ID, "", "2 open questions of a longer list"},
		{"answered", "", "", "2 answered asks"},
		{"all", "", asks[1].ID, "2 asks of a longer list"},
	} {
		var out bytes.Buffer
		c := listCommand{Status: test.status, Cursor: test.cursor}
		c.draw(&out, askback.Page{Items: asks, NextCursor: test.next}, 80, time.Now())
		if title, _, _ := strings.Cut(out.String(), "\n"); title != test.want {
			t.Errorf("status %s, cursor %q, next %q: title is %q, want %q", test.status, test.cursor, test.next, title,
				test.want)
		}
	}
}

// The note for an empty page names the next cursor if later pages may have asks.
func TestEmptyPagePrintsTheNextCursor(t *testing.T) {
	c := listCommand{Status: "pending"}
	if got, want := c.empty("ask_1"),
		"No asks on this page, but there may be more; continue with --cursor ask_1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := c.empty(""); !strings.HasPrefix(got, "No open asks.") {
		t.Errorf("got %q, want that there are no open asks", got)
	}
}

// A list shows the arguments of calls, so that two calls of one tool look different.
func TestListShowsTheArgumentsOfApprovals(t *testing.T) {
	asks := make([]askback.Ask, 2)
	for i, input := range []string{`{"path": "a.txt"}`, `{"path": "b.txt"}`} {
		asks[i] = askback.Ask{
			ID: "ask_01m81fsg1tjwk21qxw7zbe621" + string(rune('a'+i)), Kind: askback.Confirm, Status: askback.Pending,
			Agent: "bot",
		}
		asks[i].Confirmation = &askback.Confirmation{ToolName: "remove", Input: json.RawMessage(input)}
	}
	var out bytes.Buffer
	c := listCommand{Status: "pending"}
	c.draw(&out, askback.Page{Items: asks}, 80, time.Now())
	for _, want := range []string{`remove · path: "a.txt"`, `remove · path: "b.txt"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the list lacks %q:\n%s", want, out.String())
		}
	}
}

// A list tells runs, sessions and sub-agents of one agent apart, even if the question is long.
func TestListTellsRunsApart(t *testing.T) {
	asks := []askback.Ask{
		{SessionID: "ses_00aaaaaa"},
		{SessionID: "ses_00bbbbbb"},
		{SessionID: "ses_00cccccc", SessionTitle: "Ticket 71"},
		{SessionID: "ses_00dddddd", Path: []string{"lead"}},
	}
	for i := range asks {
		asks[i].ID, asks[i].Status = "ask_01m81fsg1tjwk21qxw7zbe621"+string(rune('a'+i)), askback.Pending
		asks[i].Agent, asks[i].Questions = "bot", []askback.Question{{Text: strings.Repeat("Close it? ", 20)}}
	}
	var out bytes.Buffer
	c := listCommand{Status: "pending"}
	c.draw(&out, askback.Page{Items: asks}, 100, time.Now())
	_, rows, _ := strings.Cut(out.String(), "QUESTION\n")
	lines := strings.Split(rows, "\n")
	views := viewsOf(asks, view.Of)
	for i, want := range []string{"(session aaaaaa)", "(session bbbbbb)", "(Ticket 71)", "(a sub-agent of lead)"} {
		if !strings.HasSuffix(lines[i], want) || safetext.Width(safetext.Line(lines[i])) > 99 {
			t.Errorf("the row does not end with %q: %s", want, lines[i])
		}
		if line := listLine(asks[i], views[i], time.Now()); !strings.HasSuffix(line, want) {
			t.Errorf("the line lacks %q: %s", want, line)
		}
	}
}

// At a terminal, a token is one row with a short id.
func TestTokenListFitsTheTerminal(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	mustRun(t, env, "token", "add", "--kind", "responder", "--name", strings.Repeat("ana", 20), "--expires", "30d")
	_, rows, _ := strings.Cut(mustRun(t, env, "token", "list"), "\n")
	id := strings.Fields(rows)[0]
	s := startTerminal(t, env, 60, "askback", "token", "list")
	s.waitExit(0)
	s.waitForScreen(`ID +KIND +NAME +VALID`)
	s.waitForScreen(`anaana`)
	for row := range strings.SplitSeq(strings.TrimSpace(s.screen.String()), "\n") {
		if got := safetext.Width(safetext.Line(strings.TrimRight(row, "\r"))); got > 60 {
			t.Errorf("a row has %d columns, want at most 60: %s", got, row)
		}
	}
	if screen := s.screen.String(); strings.Contains(screen, id) || !strings.Contains(screen, id[len(id)-minEnd:]) {
		t.Errorf("want the end of %s only:\n%s", id, screen)
	}
}
