package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/test/kit/golden"
)

// The sessions of every release are decoded, and are the same when they are written again. The files
// testdata/session_states/vN/NAME.fixed.json and NAME.moving.json never change. If you change the stored form
// and this test fails, increment [lifecycle.SessionFormat].
func TestSessionsOfEveryReleaseAreDecoded(t *testing.T) {
	paths, err := filepath.Glob("testdata/session_states/v*/*.fixed.json")
	if err != nil {
		t.Fatal(err)
	}
	current := 0
	for _, path := range paths {
		path = strings.TrimSuffix(path, ".fixed.json")
		fixed, moving := sample(t, path)
		s, err := lifecycle.DecodeSession(sampleRow(t, path), fixed, moving)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if again := roundTripSession(t, s); !cmp.Equal(again, s, cmpopts.EquateEmpty()) {
			t.Errorf("%s: stored again, it is another state:\n%s", path, cmp.Diff(s, again, cmpopts.EquateEmpty()))
		}
		isCurrent := filepath.Base(filepath.Dir(path)) == fmt.Sprintf("v%d", lifecycle.SessionFormat)
		if isCurrent {
			current++
		}
		if got, err := s.AppendFixed(nil); err != nil || isCurrent && string(got) != string(fixed) {
			t.Errorf("%s: got %v\n%s, want\n%s", path, err, got, fixed)
		}
		if got, err := s.AppendMoving(nil); err != nil || isCurrent && string(got) != string(moving) {
			t.Errorf("%s: got %v\n%s, want\n%s", path, err, got, moving)
		}
		ends := map[string]*askback.Session{}
		for _, d := range s.Deliveries {
			ends[d.ID] = d.Session
		}
		got, err := json.MarshalIndent(struct {
			Session    askback.Session             `json:"session"`
			Receiver   string                      `json:"receiver"`
			Deliveries []askback.Delivery          `json:"deliveries"`
			Delivered  int                         `json:"delivered"`
			Ends       map[string]*askback.Session `json:"ends"`
		}{s.Session, s.Receiver(), s.Deliveries, s.Delivered, ends}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, path+".want.json", string(got)+"\n")
	}
	if current == 0 {
		t.Errorf("no samples of format %d: add what this release writes to testdata/session_states/v%[1]d",
			lifecycle.SessionFormat)
	}
}

// The fixed part that an older release stored is valid together with a moving part in the present format.
func TestOldFixedPartIsReadWithANewMovingPart(t *testing.T) {
	fixed := []byte(`{"v":1,"id":"ses_1","owner":"bot","agent":"bot","created":1767344400000}`)
	s, err := lifecycle.DecodeSession(lifecycle.Row{}, fixed,
		[]byte(`{"v":1,"status":"running","updated":1767344400000}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Step(lifecycle.CallbackChanged{Callback: "https://agents.example.com", At: nine})
	if err != nil {
		t.Fatal(err)
	}
	moving, err := r.State.AppendMoving(nil)
	if err != nil || !strings.HasPrefix(string(moving), `{"v":6,`) {
		t.Fatalf("got %s, %v, want format 6", moving, err)
	}
	if again, err := lifecycle.DecodeSession(sessionRow(r.State), fixed, moving); err != nil ||
		again.Receiver() != "https://agents.example.com" {
		t.Errorf("got %+v, %v, want its receiver", again, err)
	}
}
