package lifecycle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// The transcripts of grants have this syntax:
//
//	09:00 ana grants drop_table to deploy-bot, until 10:00
//	09:05 deploy-bot asks for drop_table
//	09:00 pending asks are examined                   or: are examined up to ask_7
//	09:05 an approval is spent                        , and the token of ana is revoked
//	09:05 ben revokes it by slack
//	09:05 the clock is looked at
func TestGrantsMatchTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/grants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			var s lifecycle.GrantState
			runStory(t, path, func(paragraph []string) string {
				r, err := s.Step(grantInput(t, paragraph[0]))
				s = r.State
				return describeGrant(r, err)
			})
		})
	}
}

func grantInput(t *testing.T, line string) lifecycle.Input {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	at := clock(t, first)
	who, did, _ := strings.Cut(rest, " ")
	switch what, how, _ := strings.Cut(did, " "); {
	case rest == "the clock is looked at":
		return lifecycle.GrantExpired{At: at}
	case strings.HasPrefix(rest, "pending asks are examined"):
		_, after, _ := strings.Cut(rest, " up to ")
		return lifecycle.GrantExamined{After: after, At: at}
	case strings.HasPrefix(rest, "an approval is spent"):
		return lifecycle.GrantRequired{MakerValid: !strings.HasSuffix(rest, "is revoked"), At: at}
	case what == "grants":
		how, until, _ := strings.Cut(how, ", until ")
		tool, owner, _ := strings.Cut(how, " to ")
		g := askback.Grant{
			ID: "grt_1", Owner: owner, Agent: owner, ToolName: tool, Scope: askback.ScopeTool, By: who,
			ExpiresAt: clock(t, until),
		}
		return lifecycle.GrantMade{Grant: g, At: at}
	case what == "asks":
		return lifecycle.GrantUsed{Ask: askback.Ask{
			ID: "ask_2", Owner: who, Agent: who, Kind: askback.Confirm, Quorum: 1,
			Confirmation: &askback.Confirmation{ToolName: strings.TrimPrefix(how, "for ")},
		}, At: at}
	case what == "revokes":
		_, via, _ := strings.Cut(how, " by ")
		return lifecycle.GrantRevoked{By: who, Via: askback.Channel(via), At: at}
	}
	t.Fatalf("cannot read %q", line)
	return nil
}

func describeGrant(r lifecycle.Result[lifecycle.GrantState], err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("rejected: %v\n", err)
	case r.Unchanged:
		return "nothing changes\n"
	}
	c := r.State.Columns()
	text := fmt.Sprintf("%s, used %d×", c.Status, r.State.Grant.Uses)
	if !c.Due.IsZero() {
		text += ", due " + readTime(c.Due)
	}
	return text + "\n" + describeHistory(r.History, r.Effects)
}

// anyGrantInput generates inputs to a grant for drop_table, which ends at ten.
func anyGrantInput(at time.Time) *rapid.Generator[lifecycle.Input] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Input {
		switch rapid.IntRange(0, 7).Draw(t, "input") {
		case 0, 1, 2:
			return lifecycle.GrantUsed{Ask: askback.Ask{
				ID: "ask_2", Owner: "bot", Agent: "bot", Kind: askback.Confirm, Quorum: 1,
				Confirmation: &askback.Confirmation{
					ToolName: rapid.SampledFrom([]string{"drop_table", "drop_view"}).Draw(t, "tool"),
				},
			}, At: at}
		case 3:
			return lifecycle.GrantRequired{MakerValid: rapid.Bool().Draw(t, "valid"), At: at}
		case 4:
			return lifecycle.GrantRevoked{By: "ben", Via: askback.ChannelWeb, At: at}
		case 5:
			return lifecycle.GrantExamined{After: rapid.SampledFrom([]string{"", "ask_3"}).Draw(t, "up to"), At: at}
		}
		return lifecycle.GrantExpired{At: at}
	})
}

// A grant ends once, at its expiry or by a revocation, and approves nothing after its end. Errors change
// nothing, and the stored form has the whole state.
func TestGrantInvariantsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := askback.Grant{
			ID: "grt_1", Owner: "bot", Agent: "bot", ToolName: "drop_table", Scope: askback.ScopeTool, By: "ana",
			ExpiresAt: nine.Add(time.Hour), AskID: "ask_1", Input: []byte(`{"n":1}`), Token: "tok_1",
		}
		first, err := lifecycle.GrantState{}.Step(lifecycle.GrantMade{Grant: g, At: nine})
		if err != nil {
			t.Fatal(err)
		}
		s, ends, at := first.State, 0, nine
		for range rapid.IntRange(1, 20).Draw(t, "inputs") {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Minute, 30 * time.Minute}).Draw(t, "after"))
			in := anyGrantInput(at).Draw(t, "input")
			r, err := s.Step(in)
			open := s.Columns().Open
			if diff := cmp.Diff(s, r.State); (err != nil || r.Unchanged) &&
				(diff != "" || !r.Unchanged || len(r.History) > 0) {
				t.Fatalf("%+v: got error %v, unchanged %v, history %v; before -, after +:\n%s", in, err, r.Unchanged,
					r.History, diff)
			}
			switch in.(type) {
			case lifecycle.GrantUsed, lifecycle.GrantRequired:
				if err == nil && (!open || !at.Before(g.ExpiresAt)) {
					t.Fatalf("%+v succeeded at %v, open %v", in, at, open)
				}
			}
			if r.State.Columns().Open != open {
				ends += len(r.History)
			}
			s = r.State
			if ended := !s.Columns().Open; ended != (ends == 1) || ended != s.Columns().Due.IsZero() {
				t.Fatalf("%+v: got ended %v with %d events of an end, due %v", in, ended, ends, s.Columns().Due)
			}
			if diff := cmp.Diff(s, roundTripGrant(t, s)); diff != "" {
				t.Fatalf("stored -, read +:\n%s", diff)
			}
		}
	})
}

func roundTripGrant(t rapid.TB, s lifecycle.GrantState) lifecycle.GrantState {
	t.Helper()
	fixed, err := s.AppendFixed(nil)
	if err != nil {
		t.Fatal(err)
	}
	moving, err := s.AppendMoving(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lifecycle.DecodeGrant(s.Grant.ID, s.Columns().Open, fixed, moving)
	if err != nil {
		t.Fatalf("%v, reading %s and %s", err, fixed, moving)
	}
	return out
}

// Grants of every release are decoded, and grants of a newer release are rejected. The files
// testdata/states/v1/grant*.json never change.
func TestStoredGrantsAreDecoded(t *testing.T) {
	fixed, err := os.ReadFile("testdata/states/v1/grant_fixed.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		moving string
		open   bool
		want   string
	}{
		{`{"v":1,"uses":2}`, true, "granted"},
		{`{"v":1,"uses":2,"revoked":1767344400000}`, false, "ended"},
		{`{"v":1,"uses":2}`, false, "ended"}, // an older release recorded the expiry only in the column open
		{`{"v":1,"uses":2,"expired":true}`, false, "ended"},
	} {
		s, err := lifecycle.DecodeGrant("grt_1", c.open, fixed, []byte(c.moving))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Columns().Status; got != c.want || s.Grant.Uses != 2 || s.Grant.ToolName != "drop_table" {
			t.Errorf("%s, open %v: got %s %+v, want %s", c.moving, c.open, got, s.Grant, c.want)
		}
		if got, err := s.AppendFixed(nil); err != nil || string(got)+"\n" != string(fixed) {
			t.Errorf("got %s, %v, want %s", got, err, fixed)
		}
	}
	for _, c := range [][2]string{{`{"v":9}`, `{"v":1}`}, {`{"v":1}`, `{"v":2,"uses":"many"}`}} {
		_, err := lifecycle.DecodeGrant("grt_1", true, []byte(c[0]), []byte(c[1]))
		if err == nil || !strings.Contains(err.Error(), "use a newer release") {
			t.Errorf("%s %s: got error %v, want an error that names a newer release", c[0], c[1], err)
		}
	}
}

// Grants of releases before the field last_used have no last use. Fields that a later release of the same
// format adds are ignored, because only a grant with a newer format is an error.
func TestGrantFieldsOfOtherReleasesAreRead(t *testing.T) {
	fixed, err := os.ReadFile("testdata/states/v1/grant_fixed.json")
	if err != nil {
		t.Fatal(err)
	}
	before := `{"v":1,"uses":3}`
	s, err := lifecycle.DecodeGrant("grt_1", true, fixed, []byte(before))
	if err != nil || s.Grant.Uses != 3 || !s.Grant.LastUsedAt.IsZero() {
		t.Errorf("without a last use: got %+v, %v", s.Grant, err)
	}
	later := strings.Replace(string(fixed), `"v":1`, `"v":1,"new":{"a":[1]}`, 1)
	if later == string(fixed) {
		t.Fatalf("no format in %s", fixed)
	}
	for _, moving := range []string{
		`{"v":1,"uses":3,"new":{"a":[1]},"last_used":1762190400000}`,
		`{"v":1,"last_used":1762190400000,"new":null,"uses":3}`,
	} {
		s, err := lifecycle.DecodeGrant("grt_1", true, []byte(later), []byte(moving))
		if err != nil || s.Grant.Uses != 3 || s.Grant.LastUsedAt.UnixMilli() != 1762190400000 || s.Grant.Agent == "" {
			t.Errorf("%s: got %+v, %v", moving, s.Grant, err)
		}
		stored, err := s.AppendMoving(nil)
		if err != nil || !strings.Contains(string(stored), `"last_used":1762190400000`) {
			t.Errorf("stored again: got %s, %v", stored, err)
		}
	}
}
