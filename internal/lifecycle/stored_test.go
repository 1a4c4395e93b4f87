package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/test/kit/golden"
)

// samples returns the paths of states that earlier releases stored. The files
// testdata/states/vN/NAME.fixed.json and NAME.moving.json never change. NAME.want.json
// has the decoded state, and -update rewrites only that. Since format 6, NAME.row.json has the
// columns.
func samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/states/v*/*.fixed.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], ".fixed.json")
	}
	return paths
}

// sample reads both parts of a stored state.
func sample(t testing.TB, path string) (fixed, moving []byte) {
	t.Helper()
	read := func(suffix string) []byte {
		raw, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(raw)
	}
	return read(".fixed.json"), read(".moving.json")
}

// sampleRow returns the columns of a stored state.
func sampleRow(t testing.TB, path string) (row lifecycle.Row) {
	t.Helper()
	raw, err := os.ReadFile(path + ".row.json")
	if errors.Is(err, fs.ErrNotExist) {
		return row
	}
	if err := errors.Join(err, json.Unmarshal(raw, &row)); err != nil {
		t.Fatal(err)
	}
	return row
}

// rowOf returns the columns of a state.
func rowOf(s lifecycle.AskState) lifecycle.Row {
	a := s.Ask
	return lifecycle.Row{
		ID: a.ID, Stream: a.SessionID, Owner: s.Owner, Agent: a.Agent, Status: string(a.Status), Created: a.CreatedAt,
	}
}

func TestStatesOfEveryReleaseAreDecoded(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			fixed, moving := sample(t, path)
			s, err := lifecycle.DecodeAsk(sampleRow(t, path), fixed, moving)
			if err != nil {
				t.Fatal(err)
			}
			got := stateJSON(t, s)
			golden.Check(t, path+".want.json", string(got))
		})
	}
}

// stateJSON returns the whole state as JSON.
func stateJSON(t *testing.T, s lifecycle.AskState) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(struct {
		Ask      askback.Ask `json:"ask"`
		Owner    string      `json:"owner"`
		Request  string      `json:"request"`
		Refused  int         `json:"refused"`
		Granted  string      `json:"granted"`
		Due      time.Time   `json:"due"`
		Approved bool        `json:"approved"`

		Callback   string             `json:"callback,omitempty"`
		Deliveries []askback.Delivery `json:"deliveries,omitempty"`

		Channels []string `json:"channels,omitempty"`
		Moved    int      `json:"moved,omitempty"`
	}{
		s.Ask, s.Owner, s.Request, s.Refused, s.Granted, s.Due(), s.Ask.Outcome.Approved(), s.Callback, s.Deliveries,
		s.Channels, s.Moved,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

// Encoding the samples of the present format returns the same bytes. Encoding samples of an older format
// returns the same state. If you change the stored form and this test fails, increment [lifecycle.AskFormat].
func TestStoredFormMatchesSamples(t *testing.T) {
	current := 0
	for _, path := range samples(t) {
		fixed, moving := sample(t, path)
		s, err := lifecycle.DecodeAsk(sampleRow(t, path), fixed, moving)
		if err != nil {
			t.Fatal(err)
		}
		if again := roundTrip(t, s); !cmp.Equal(again, s, cmpopts.EquateEmpty()) {
			t.Errorf("%s: stored again, it is another state:\n%s", path, cmp.Diff(s, again, cmpopts.EquateEmpty()))
		}
		if filepath.Base(filepath.Dir(path)) != fmt.Sprintf("v%d", lifecycle.AskFormat) {
			continue
		}
		current++
		got, err := s.AppendFixed(nil)
		if err != nil || string(got) != string(fixed) {
			t.Errorf("%s: got %v\n%s, want\n%s", path, err, got, fixed)
		}
		if got, err = s.AppendMoving(nil); err != nil || string(got) != string(moving) {
			t.Errorf("%s: got %v\n%s, want\n%s", path, err, got, moving)
		}
	}
	if current == 0 {
		t.Errorf("no samples of format %d: add what this release writes to testdata/states/v%d", lifecycle.AskFormat,
			lifecycle.AskFormat)
	}
}

const (
	someFixed  = `{"v":1,"id":"ask_1","session":"ses_1","owner":"bot","agent":"bot","kind":"questions","questions":[{"id":"q1","text":"Why?"}],"quorum":1,"created":1767344400000,"on_timeout":"wait"}`
	someMoving = `{"v":1,"status":"pending"}`
)

// A newer release may have changed every field except the format number. The error has the id of the ask and
// the instruction to use a newer release.
func TestNewerFormatIsRejected(t *testing.T) {
	const want = "ask ask_1 is stored in format 7, and this release reads up to 6: use a newer release"
	for _, c := range []struct{ fixed, moving string }{
		{strings.Replace(someFixed, `"v":1`, `"v":7`, 1), someMoving},
		{someFixed, strings.Replace(someMoving, `"v":1`, `"v":7`, 1)},
		{someFixed, `{"v":7,"status":{"name":"pending"},"more":[1]}`},
		{`{"v":7,"id":"ask_1","questions":{"q1":"Why?"}}`, `{"v":7}`},
	} {
		s, err := lifecycle.DecodeAsk(lifecycle.Row{ID: "ask_1"}, []byte(c.fixed), []byte(c.moving))
		if err == nil || err.Error() != want || s.Ask.ID != "" {
			t.Errorf("%s, %s: got %+v, %v, want %s", c.fixed, c.moving, s, err, want)
		}
	}
}

// In format 1, two fields had other names. A step writes only the moving part again, so the two parts of an
// ask may have different formats.
func TestFormat1IsConverted(t *testing.T) {
	fixed1 := strings.TrimSuffix(someFixed, "}") + `,"repairs":[{"pointer":"/header","detail":"too long","fix":""}]}`
	fixed2 := strings.Replace(strings.Replace(fixed1, `"v":1`, `"v":2`, 1), "repairs", "warnings", 1)
	const short = `{"v":6,"questions":[{"id":"q1","text":"Why?"}],"warnings":[{"pointer":"/header","detail":"too long","fix":""}]}`
	const outcome = `"status":"declined","outcome":{"by":"person","name":"ana","at":1767344400000}`
	moving1 := `{"v":1,` + outcome + `,"received":1767344460000}`
	moving2 := `{"v":2,` + outcome + `,"acked":1767344460000}`
	shortMoving := strings.Replace(moving2, `"v":2,"status":"declined"`, `"v":6`, 1)
	for _, fixed := range []string{fixed1, fixed2} {
		for _, moving := range []string{moving1, moving2} {
			s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(fixed), []byte(moving))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Ask.Warnings) != 1 || s.Ask.Warnings[0].Pointer != "/header" ||
				s.Ask.AckedAt.UnixMilli() != 1767344460000 {
				t.Errorf("%s, %s: got warnings %v, acknowledged at %v", fixed, moving, s.Ask.Warnings, s.Ask.AckedAt)
			}
			if got, err := s.AppendFixed(nil); err != nil || string(got) != short {
				t.Errorf("got %s, %v, want %s", got, err, short)
			}
			if got, err := s.AppendMoving(nil); err != nil || string(got) != shortMoving {
				t.Errorf("got %s, %v, want %s", got, err, shortMoving)
			}
		}
	}
	// In format 2, a field name of format 1 is ignored.
	s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(someFixed),
		[]byte(`{"v":2,`+outcome+`,"received":1767344460000}`))
	if err != nil || !s.Ask.AckedAt.IsZero() {
		t.Errorf("got acknowledged at %v, %v, want never", s.Ask.AckedAt, err)
	}
}

// Digests of requests are stored, so the form of requests never changes.
func TestFormOfRequestsNeverChanges(t *testing.T) {
	s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(someFixed), []byte(someMoving))
	if err != nil {
		t.Fatal(err)
	}
	s.Ask.Warnings = []askback.Problem{{Pointer: "/header"}}
	if got, err := s.AppendRequest(nil); err != nil || string(got) != someFixed {
		t.Errorf("got %s, %v, want %s", got, err, someFixed)
	}
}

func TestInvalidStatesAreRejected(t *testing.T) {
	const confirm = `{"v":1,"id":"ask_1","kind":"confirmation"}`
	for name, c := range map[string]struct{ fixed, moving string }{
		"nothing":                    {"", ""},
		"no fixed part":              {"", someMoving},
		"no moving part":             {someFixed, ""},
		"cut":                        {someFixed[:len(someFixed)-1], someMoving},
		"more behind it":             {someFixed + "}", someMoving},
		"null":                       {"null", "null"},
		"a list":                     {"[]", someMoving},
		"another type":               {strings.Replace(someFixed, `"ask_1"`, `1`, 1), someMoving},
		"no format":                  {strings.Replace(someFixed, `"v":1,`, ``, 1), someMoving},
		"a format below the first":   {someFixed, strings.Replace(someMoving, `"v":1`, `"v":-1`, 1)},
		"no id":                      {strings.Replace(someFixed, `"ask_1"`, `""`, 1), someMoving},
		"no status":                  {someFixed, `{"v":1}`},
		"an outcome and no status":   {someFixed, `{"v":1,"outcome":{"by":"timer","at":1}}`},
		"settled without an outcome": {someFixed, `{"v":1,"status":"answered"}`},
		"pending with an outcome":    {someFixed, `{"v":1,"status":"pending","outcome":{"by":"timer","at":1}}`},
		"more answers than questions": {
			someFixed,
			`{"v":1,"status":"answered","outcome":{"answers":[{"id":"q1"},{"id":"q2"}],"by":"person","at":1}}`,
		},
		"nothing to confirm": {confirm, someMoving},
	} {
		if s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(c.fixed), []byte(c.moving)); err == nil ||
			s.Ask.ID != "" {
			t.Errorf("%s: got %+v, %v, want an error and nothing", name, s, err)
		}
	}
	if _, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(someFixed), []byte(someMoving)); err != nil {
		t.Errorf("the whole one: %v", err)
	}
}

// Fields that a later release of the same format adds are ignored.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	fixed := strings.Replace(someFixed, `"v":1`, `"v":1,"new":{"a":[1]}`, 1)
	if s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(fixed), []byte(someMoving)); err != nil ||
		s.Ask.ID != "ask_1" {
		t.Errorf("got %+v, %v, want ask_1", s, err)
	}
}

// A database may return any bytes. For any bytes, Decode returns an error, or a state that can be stepped and
// stored.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(someFixed), []byte(someMoving))
	f.Add([]byte(`{"v":1,"id":"a","kind":"confirmation"}`),
		[]byte(`{"v":1,"status":"answered","outcome":{"decision":"approved","by":"person","at":1}}`))
	f.Add([]byte(someFixed), []byte(`{"v":1,"status":"answered","outcome":{"answers":[{},{}],"by":"person","at":1}}`))
	for _, path := range samples(f) {
		fixed, moving := sample(f, path)
		f.Add(fixed, moving)
	}
	f.Fuzz(func(t *testing.T, fixed, moving []byte) {
		s, err := lifecycle.DecodeAsk(lifecycle.Row{ID: "ask_1", Status: "pending"}, fixed, moving)
		if err != nil {
			return
		}
		for _, ev := range []lifecycle.Input{
			lifecycle.Answered{By: "ana", Answer: askback.Choose("A"), At: nine},
			lifecycle.Answered{By: "ana", Answer: askback.Decide(askback.Approve, ""), At: nine},
			lifecycle.Declined{By: "ana", At: nine},
			lifecycle.Cancelled{At: nine},
			lifecycle.Claimed{By: "ana", At: nine},
			lifecycle.Due{At: nine},
			lifecycle.Consumed{At: nine},
		} {
			next, _, _ := step(s, ev)
			again := roundTrip(t, next)
			if got, want := again.Ask.Status, next.Ask.Status; got != want || again.Refused != next.Refused {
				t.Errorf("after %T: got %s, %d refused, want %s, %d", ev, got, again.Refused, want, next.Refused)
			}
		}
	})
}
