package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// longCall returns a call with the given number of lines of arguments.
func longCall(lines int) askback.Ask {
	a := callAsk()
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s\"line %d\"", map[bool]string{true: "", false: ","}[i == 0], i)
	}
	a.Confirmation.Input = []byte(`{"script":[` + b.String() + `]}`)
	return a
}

// runWithPager is like runScript for a person with a pager. It also returns the paged texts.
func runWithPager(a askback.Ask, script string) (r terminal.Result, drawn string, pages []string, err error) {
	var out bytes.Buffer
	p := terminal.New(strings.NewReader(script),
		&out, &terminal.Options{Human: true, Page: func(_ context.Context, text string) error {
			pages = append(pages, text)
			return nil
		}})
	r, err = p.Ask(context.Background(), view.Of(a))
	return r, out.String(), pages, err
}

// For a very long call, the head, the tail, and the number of omitted rows are shown. :show shows all rows.
func TestLongCallIsFolded(t *testing.T) {
	_, drawn, pages, err := runWithPager(longCall(5000), ":show\nn\n")
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(drawn, "\n"); rows > 150 {
		t.Errorf("%d rows were drawn, want at most 150", rows)
	}
	for _, want := range []string{
		`"line 0"`, `"line 4999"`, "(5004 rows, the first 60 and the last 30 shown)",
		"(4914 rows are not shown; :show shows them)",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("want %s in\n%s", want, drawn)
		}
	}
	if len(pages) != 1 || strings.Count(pages[0], "\"line ") != 5000 || strings.Contains(pages[0], "\x1b") {
		t.Errorf("the pager got %d texts; want one with every line, without styles", len(pages))
	}
}

func TestShortCallIsNotFolded(t *testing.T) {
	got, drawn, _, err := runWithPager(longCall(190), "y\n")
	if diff := cmp.Diff(terminal.Result(terminal.Answered{Answer: askback.Decide(askback.Approve, "")}),
		got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if strings.Count(drawn, "“line ") != 190 {
		t.Errorf("want all lines in\n%s", drawn)
	}
}

// A person who approves a call with rows that were not shown is warned, and must type yes
// to confirm.
func TestPartlyShownCallRequiresConfirmation(t *testing.T) {
	approved := terminal.Result(terminal.Answered{Answer: askback.Decide(askback.Approve, "")})
	for script, want := range map[string]terminal.Result{
		"y\n":             nil,
		"y\ny\n":          nil,
		"y\nn\n":          nil,
		"y\n\nn\n":        terminal.Answered{Answer: askback.Decide(askback.Deny, "")},
		"y\nyes\n":        approved,
		":show\ny\n":      approved,
		"y\n:show\nyes\n": approved,
		"n\n":             terminal.Answered{Answer: askback.Decide(askback.Deny, "")},
		"all\nyes\n":      nil, // yes confirms the unread rows; later calls need another yes
		"y\n:other yes\n": nil,
	} {
		got, drawn, _, err := runWithPager(longCall(5000), script)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %v\n%s\n%s", script, err, diff, drawn)
		}
		if strings.HasPrefix(script, "y") && !strings.Contains(strings.Join(strings.Fields(drawn), " "),
			"4914 rows of this call were not shown, and you would approve them unread.") {
			t.Errorf("%q: no warning in\n%s", script, drawn)
		}
	}
}

// Without a pager, or if the pager fails, :show writes the call below the prompt.
func TestLongCallIsWrittenWithoutPager(t *testing.T) {
	for name, page := range map[string]func(context.Context, string) error{
		"none":   nil,
		"broken": func(context.Context, string) error { return errors.New("less: not found") },
	} {
		var out bytes.Buffer
		p := terminal.New(strings.NewReader(":show\nn\n"), &out, &terminal.Options{Human: true, Page: page})
		if _, err := p.Ask(context.Background(), view.Of(longCall(5000))); err != nil ||
			!strings.Contains(out.String(), `"line 2500"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShowDoesNotFold(t *testing.T) {
	var out bytes.Buffer
	if err := terminal.Show(&out, view.Of(longCall(5000)), nil); err != nil ||
		strings.Count(out.String(), "\"line ") != 5000 {
		t.Errorf("%v, %d lines, want 5000", err, strings.Count(out.String(), "\"line "))
	}
}
