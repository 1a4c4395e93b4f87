package openapi_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// section returns a numbered section of docs/wire.md.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/wire.md has no section %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// Section 4 of docs/wire.md names every type of event.
func TestWireDocListsEveryEvent(t *testing.T) {
	text := section(t, "4. Events")
	_, table, _ := strings.Cut(text, "\n| type | data |\n")
	rows, _, _ := strings.Cut(table, "\n\n")
	name := regexp.MustCompile("`([a-z_]+)`")
	var got []string
	for row := range strings.Lines(rows) {
		if cells := strings.Split(row, "|"); len(cells) > 1 {
			got = append(got, name.FindAllString(cells[1], -1)...)
		}
	}
	var property struct{ Enum []string }
	if err := json.Unmarshal(schemas(t)["Event"].Properties["type"], &property); err != nil {
		t.Fatal(err)
	}
	want := property.Enum
	for i := range got {
		got[i] = strings.Trim(got[i], "`")
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types of events in docs/wire.md differ (-want +got):\n%s", diff)
	}
}

// The limits in section 1 of docs/wire.md equal the limits of the code.
func TestLimitsInWireDocMatchTheCode(t *testing.T) {
	text := section(t, "1. Words and limits")
	for what, limits := range map[string][]string{
		"questions in an ask; options of a question": {
			count(limits.MaxQuestions), count(limits.MinOptions) + " to " + count(limits.MaxOptions),
		},
		"question; label; description; preview": {
			count(limits.MaxQuestion), count(limits.MaxLabel), count(limits.MaxDescription), count(limits.MaxPreview),
		},
		"header":            {count(limits.MaxHeader)},
		"context of an ask": {count(limits.MaxContext)},
		"tool input; draft": {
			count(limits.MaxInput>>20) + " MiB", count(limits.MaxDraft>>10) + " KiB",
		},
		"notes, other text, comment, reason": {count(limits.MaxText)},
		"names, titles, tags; keys":          {count(limits.MaxName), count(limits.MaxKey)},
		"names in `to`, and tags":            {count(limits.MaxNames), count(limits.MaxTo)},
		"todos of a session; one of them":    {count(limits.MaxTodos), count(limits.MaxTodo)},
		"message; result; metadata": {
			count(limits.MaxMessage), count(limits.MaxResult>>20) + " MiB", count(limits.MaxMetadata>>10) + " KiB",
		},
		"open asks of a session; waiting requests of a token; streams of a token": {count(lifecycle.MaxSessionAsks)},
		"snooze; snoozes of a person": {
			count(int(limits.MaxSnooze/(24*time.Hour))) + " days", count(limits.MaxSnoozes),
		},
		"deadline": {count(int(limits.MaxTimeout/(366*24*time.Hour))) + " years"},
	} {
		_, rest, ok := strings.Cut(text, "\n| "+what+" | ")
		if !ok {
			t.Errorf("section 1 has no limit of %q", what)
			continue
		}
		row, _, _ := strings.Cut(rest, "\n")
		for _, limit := range limits {
			if !regexp.MustCompile(`(^|[^0-9 ] ?|[a-z] )` + limit + `($|[^0-9])`).MatchString(row) {
				t.Errorf("the limit of %q is %q, want %s in it", what, row, limit)
			}
		}
	}
}

// count formats a number with spaces between groups of three digits.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
