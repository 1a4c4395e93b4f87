package engine_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/filltest"
)

// Digests of requests are stored, so the digest of a request is the same in every release.
const wantFingerprint = "1:50c727751912cd61f225422c2480ce4f7c7a696e8c2af291d9aff92713bc2321"

// changes maps the name of each field of a request to a function that changes the field.
var changes = map[string]func(*askback.Request){
	"Questions": func(r *askback.Request) { r.Questions[0].Header = "H" },
	"Confirmation": func(r *askback.Request) {
		r.Questions, r.Confirmation = nil, &askback.Confirmation{ToolName: "rm", Input: json.RawMessage(`{}`)}
	},
	"SessionID":  func(r *askback.Request) { r.SessionID = "ses_1" },
	"SessionKey": func(r *askback.Request) { r.SessionKey = "run" },
	"Agent":      func(r *askback.Request) { r.Agent = "other" },
	"Title":      func(r *askback.Request) { r.Title = "T" },
	"Context":    func(r *askback.Request) { r.Context = json.RawMessage(`"c"`) },
	"To":         func(r *askback.Request) { r.To = []string{"ana"} },
	"Tags":       func(r *askback.Request) { r.Tags = []string{"prod"} },
	"Timeout":    func(r *askback.Request) { r.Timeout = time.Hour },
	"Deadline":   func(r *askback.Request) { r.Deadline = time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC) },
	"OnTimeout":  func(r *askback.Request) { r.Timeout, r.OnTimeout = 2*time.Hour, askback.OnTimeoutDecline },

	"CallbackURL": func(r *askback.Request) { r.CallbackURL = callback },

	"Key":         nil,
	"Warnings":    nil,
	"Restarted":   nil, // a client that was restarted repeats its question
	"TraceParent": nil, // a repeated request may have another position in a trace
	"Quorum": func(r *askback.Request) {
		r.Questions, r.Confirmation, r.Quorum = nil, &askback.Confirmation{
			ToolName: "rm", Input: json.RawMessage(`{}`),
		}, 2
	},
	"StartedBy": func(r *askback.Request) { r.StartedBy = "ana" },
}

// The digest of a request covers each field of the request. If the ask has a field of the same name, the
// field is copied to the ask.
func TestEveryFieldOfRequestIsInTheAskAndTheDigest(t *testing.T) {
	e := engine.New(memstore.New(), &engine.Options{Channels: map[string]engine.Channel{"webhook": &receiver{}}})
	agent := askback.Principal{Kind: askback.Agent, Name: "bot"}
	request := func() askback.Request {
		return askback.Request{
			Key: "k", Questions: []askback.Question{{Text: "Which?", Options: askback.Options("a", "b")}},
		}
	}
	original, _, err := engine.Fingerprint(e, agent, request())
	if original != wantFingerprint || err != nil {
		t.Errorf("got %s, %v, want %s", original, err, wantFingerprint)
	}
	seen := map[string]string{original: "nothing"}
	for f := range reflect.TypeFor[askback.Request]().Fields() {
		change, ok := changes[f.Name]
		if !ok {
			t.Errorf("add a change of %s to this test", f.Name)
		}
		if change == nil {
			continue
		}
		r := request()
		change(&r)
		got, ask, err := engine.Fingerprint(e, agent, r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("a change of %s gives the digest of a change of %s", f.Name, other)
		}
		seen[got] = f.Name
		kept := reflect.ValueOf(ask).FieldByName(f.Name)
		if kept.IsValid() && kept.IsZero() {
			t.Errorf("the ask does not have the %s of its request", f.Name)
		}
	}
}

func TestWarningsAreNotInTheFingerprint(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	r := askback.Request{Key: "k", Questions: []askback.Question{{Text: "Which?", Options: askback.Options("a", "b")}}}
	r.Warnings = []askback.Problem{{Pointer: "/header"}}
	got, ask, err := engine.Fingerprint(e, askback.Principal{Kind: askback.Agent, Name: "bot"}, r)
	if got != wantFingerprint || len(ask.Warnings) != 1 || err != nil {
		t.Errorf("got %s with warnings %v, error %v, want %s with one", got, ask.Warnings, err, wantFingerprint)
	}
}

// Each field of a session request is copied to the session, except the key and the callback.
func TestEveryFieldOfSessionRequestIsInTheSession(t *testing.T) {
	e := engine.New(memstore.New(), &engine.Options{Channels: map[string]engine.Channel{"webhook": &receiver{}}})
	r := filltest.New[askback.SessionRequest]()
	r.CallbackURL = callback
	r.Prompt, r.Payload, r.Unattended = "", nil, false // only hosted sessions have this field
	s, err := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Start(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range reflect.ValueOf(r).Fields() {
		if f.Name == "Key" || f.Name == "CallbackURL" || want.IsZero() {
			continue
		}
		got := reflect.ValueOf(s).FieldByName(f.Name)
		if !got.IsValid() || !reflect.DeepEqual(got.Interface(), want.Interface()) {
			t.Errorf("%s of the session is %v, want %v", f.Name, got, want)
		}
	}
}
