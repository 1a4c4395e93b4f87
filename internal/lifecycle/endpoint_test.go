package lifecycle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// The transcripts of endpoints have this syntax:
//
//	09:00 on day 1 made for deploy-bot                   , with secret A
//	09:05 on day 1 ana pauses it
//	09:05 on day 1 ana resumes it
//	09:05 on day 1 gets secret B
//	09:05 on day 1 accepts a message
//	09:05 on day 1 fails
//	09:05 on day 1 is gone
func TestEndpointsMatchTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/endpoints/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			var s lifecycle.EndpointState
			runStory(t, path, func(paragraph []string) string {
				in, at := endpointInput(t, paragraph[0])
				r, err := s.Step(in)
				s = r.State
				return describeEndpoint(r, err, at)
			})
		})
	}
}

// endpointInput parses a line such as "09:00 on day 2 fails".
func endpointInput(t *testing.T, line string) (lifecycle.Input, time.Time) {
	t.Helper()
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 || words[1] != "on" || words[2] != "day" {
		t.Fatalf("cannot read %q", line)
	}
	day, err := strconv.Atoi(words[3])
	if err != nil {
		t.Fatalf("cannot read %q", line)
	}
	at, what := clock(t, words[0]).AddDate(0, 0, day-1), words[4]
	made, isMade := strings.CutPrefix(what, "made for ")
	owner, secret, _ := strings.Cut(made, ", with secret ")
	rotated, isRotated := strings.CutPrefix(what, "gets secret ")
	who, did, _ := strings.Cut(what, " ")
	switch {
	case isMade:
		e := askback.Endpoint{ID: "whe_1", Owner: owner, Origin: "https://agents.example.com"}
		return lifecycle.EndpointMade{Endpoint: e, Address: "https://agents.example.com/x", Secret: secret, At: at}, at
	case isRotated:
		return lifecycle.EndpointRotated{Secret: rotated, At: at}, at
	case what == "accepts a message":
		return lifecycle.EndpointAccepted{At: at}, at
	case what == "fails", what == "is gone":
		return lifecycle.EndpointFailed{Gone: what == "is gone", At: at}, at
	case did == "pauses it":
		return lifecycle.EndpointPaused{By: who, At: at}, at
	case did == "resumes it":
		return lifecycle.EndpointResumed{By: who, At: at}, at
	}
	t.Fatalf("cannot read %q", line)
	return nil, at
}

func describeEndpoint(r lifecycle.Result[lifecycle.EndpointState], err error, now time.Time) string {
	switch {
	case err != nil:
		return fmt.Sprintf("rejected: %v\n", err)
	case r.Unchanged:
		return "nothing changes\n"
	}
	e := r.State.Endpoint
	text := string(e.Status)
	for _, part := range []struct{ before, text string }{{" by ", e.By}, {": ", e.Reason}} {
		if part.text != "" {
			text += part.before + part.text
		}
	}
	text += fmt.Sprintf(" since %s %s", readDay(e.ChangedAt), readTime(e.ChangedAt))
	if !e.FailingSince.IsZero() {
		text += fmt.Sprintf(", failing since %s %s", readDay(e.FailingSince), readTime(e.FailingSince))
	}
	text += fmt.Sprintf(", signs with %q", r.State.SigningSecrets(now))
	if until := e.OldSecretUntil; now.Before(until) {
		text += fmt.Sprintf(" until %s %s, then %q", readDay(until), readTime(until), r.State.SigningSecrets(until))
	}
	return text + "\n" + describeHistory(r.History, r.Effects)
}

func readDay(at time.Time) string { return "day " + strconv.Itoa(at.YearDay()-1) }

// anyEndpointInput generates inputs of an endpoint that exists.
func anyEndpointInput(at time.Time) *rapid.Generator[lifecycle.Input] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Input {
		return rapid.SampledFrom([]lifecycle.Input{
			lifecycle.EndpointPaused{By: "ana", At: at},
			lifecycle.EndpointResumed{By: "ben", At: at},
			lifecycle.EndpointRotated{Secret: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "secret"), At: at},
			lifecycle.EndpointAccepted{At: at},
			lifecycle.EndpointFailed{At: at},
			lifecycle.EndpointFailed{At: at},
			lifecycle.EndpointFailed{Gone: true, At: at},
		}).Draw(t, "input")
	})
}

// Only a person makes an endpoint active again. An endpoint is disabled only after 410, or after five days in
// which it accepted nothing. The newest secret always signs, and the stored form has the whole state.
func TestEndpointInvariantsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		made := lifecycle.EndpointMade{
			Endpoint: askback.Endpoint{ID: "whe_1", Owner: "bot", Origin: "https://a.example"},
			Address:  "https://a.example/x", At: nine,
		}
		made.Secret = rapid.SampledFrom([]string{"", "A"}).Draw(t, "first secret")
		first, err := lifecycle.EndpointState{}.Step(made)
		if err != nil {
			t.Fatal(err)
		}
		s, at, newest := first.State, nine, made.Secret
		accepted := nine // the last time at which the endpoint accepted a message, was resumed or was made
		for range rapid.IntRange(1, 30).Draw(t, "inputs") {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Hour, 30 * time.Hour}).Draw(t, "after"))
			in := anyEndpointInput(at).Draw(t, "input")
			r, err := s.Step(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, r.State); r.Unchanged && diff != "" {
				t.Fatalf("%+v: unchanged; before -, after +:\n%s", in, diff)
			}
			before, after := s.Endpoint.Status, r.State.Endpoint.Status
			failed, isFailed := in.(lifecycle.EndpointFailed)
			switch in := in.(type) {
			case lifecycle.EndpointResumed:
				if before != askback.EndpointActive { // otherwise nothing changes
					accepted = at
				}
			case lifecycle.EndpointAccepted:
				accepted = at
			case lifecycle.EndpointRotated:
				newest = in.Secret
			}
			if _, resumed := in.(lifecycle.EndpointResumed); before != after &&
				(after == askback.EndpointActive) != resumed {
				t.Fatalf("%+v: %s became %s", in, before, after)
			}
			if disabled := before != after && after == askback.EndpointDisabled; disabled && !failed.Gone &&
				(!isFailed || at.Sub(accepted) < limits.EndpointFailing) {
				t.Fatalf("%+v: disabled %v after it accepted a message", in, at.Sub(accepted))
			}
			if isFailed && s.Matters(failed) == r.Unchanged {
				t.Fatalf("%+v: got Matters %v, unchanged %v", in, s.Matters(failed), r.Unchanged)
			}
			s = r.State
			if signs := s.SigningSecrets(at); signs[0] != newest {
				t.Fatalf("got secrets %q, want %q first", signs, newest)
			}
			if diff := cmp.Diff(s, roundTripEndpoint(t, s)); diff != "" {
				t.Fatalf("stored -, read +:\n%s", diff)
			}
		}
	})
}

func roundTripEndpoint(t rapid.TB, s lifecycle.EndpointState) lifecycle.EndpointState {
	t.Helper()
	fixed, err := s.AppendFixed(nil)
	if err != nil {
		t.Fatal(err)
	}
	moving, err := s.AppendMoving(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lifecycle.DecodeEndpoint(s.Endpoint.ID, fixed, moving)
	if err != nil {
		t.Fatalf("%v, reading %s and %s", err, fixed, moving)
	}
	return out
}

// Endpoints of every release are decoded, and endpoints of a newer release are rejected. The files
// testdata/states/v1/endpoint*.json never change.
func TestStoredEndpointsAreDecoded(t *testing.T) {
	read := func(part string) string {
		raw, err := os.ReadFile("testdata/states/v1/endpoint_" + part + ".json")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(raw))
	}
	fixed, moving := read("fixed"), read("moving")
	s, err := lifecycle.DecodeEndpoint("whe_1", []byte(fixed), []byte(moving))
	if err != nil || s.Endpoint.Owner != "bot" || s.Endpoint.Status != askback.EndpointDisabled ||
		s.OldSecret != "sealed-a" {
		t.Fatalf("got %+v, %v", s, err)
	}
	for _, c := range []struct {
		part   string
		append func([]byte) ([]byte, error)
	}{{fixed, s.AppendFixed}, {moving, s.AppendMoving}} {
		if got, err := c.append(nil); err != nil || string(got) != c.part {
			t.Errorf("got %s, %v, want %s", got, err, c.part)
		}
	}
	for _, c := range [][2]string{{`{"v":9}`, moving}, {fixed, `{"v":2,"status":[]}`}} {
		_, err := lifecycle.DecodeEndpoint("whe_1", []byte(c[0]), []byte(c[1]))
		if err == nil || !strings.Contains(err.Error(), "use a newer release") {
			t.Errorf("%s %s: got error %v, want an error that names a newer release", c[0], c[1], err)
		}
	}
	later := strings.Replace(moving, `"v":1`, `"v":1,"new":{"a":[1]}`, 1)
	if again, err := lifecycle.DecodeEndpoint("whe_1", []byte(fixed), []byte(later)); err != nil ||
		!cmp.Equal(again, s) {
		t.Errorf("with a field of a later release: got %+v, %v", again, err)
	}
}
