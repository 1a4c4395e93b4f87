package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
)

// The requests in the documentation of other systems get the replies that are shown there (A4,
// B4, E2). Each example begins with one open question of the agent write-poem. For an example
// that reads the session, the run is completed first.
func TestDocumentedDialectRequestsGetDocumentedReplies(t *testing.T) {
	file, err := txtar.ParseFile("testdata/dialect_examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	replies := map[string]string{}
	for _, f := range file.Files {
		if name, ok := strings.CutSuffix(f.Name, " reply"); ok {
			replies[name] = string(f.Data)
		}
	}
	for _, f := range file.Files {
		if strings.HasSuffix(f.Name, " reply") {
			continue
		}
		t.Run(strings.ReplaceAll(f.Name, "/", " "), func(t *testing.T) { sendExample(t, f, replies[f.Name]) })
	}
}

func sendExample(t *testing.T, f txtar.File, want string) {
	w := newFixture(t, nil)
	s := w.startSession("poem")
	ask := w.ask(
		`{"question": "What style would you prefer? (free verse, rhyming, sonnet, haiku)", "agent": "write-poem",
		"session_id": "` + s.ID + `", "context": {"original_topic": "love"}}`)
	words := strings.Fields(f.Name)
	if strings.HasPrefix(words[2], "/agent/session/") {
		s = w.finish(ask)
	}
	ids := strings.NewReplacer("sess-456", s.ID, "q-123", ask.ID)
	got := w.send(words[1], ids.Replace(words[2]), w.token(ana), ids.Replace(string(f.Data)))
	if got.status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", got.status, got.body)
	}
	if want == "" {
		return
	}
	for _, missing := range missingMembers("", parsed(t, ids.Replace(want)), parsed(t, got.body)) {
		t.Errorf("%s\nin %s", missing, got.body)
	}
}

// finish creates a session with a copy of an ask, and completes it with the label and the
// result of the example.
func (w *fixture) finish(ask askback.Ask) askback.Session {
	w.t.Helper()
	ctx := context.Background()
	s, err := w.engine.As(bot).Start(ctx, askback.SessionRequest{Key: "whole", Agent: "write-poem"})
	if err == nil {
		again := askback.Request{SessionID: s.ID, Questions: ask.Questions}
		for i := range again.Questions {
			again.Questions[i].ID = ""
		}
		_, err = w.engine.As(bot).Ask(ctx, again)
	}
	if err == nil {
		s, err = w.engine.As(bot).Send(ctx, s.ID,
			askback.Complete{Result: json.RawMessage(`{"poem_path": "poem/love-haiku-2024.md"}`)})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// missingMembers returns the places where a value of want is missing in got, or differs. Members of got that
// want does not have are ignored. A time in want matches any time.
func missingMembers(at string, want, got any) (missing []string) {
	switch want := want.(type) {
	case map[string]any:
		have, _ := got.(map[string]any)
		for name, v := range want {
			missing = append(missing, missingMembers(at+"/"+name, v, have[name])...)
		}
		return missing
	case []any:
		have, _ := got.([]any)
		if len(have) != len(want) {
			return []string{at + " has another length"}
		}
		for i, v := range want {
			missing = append(missing, missingMembers(at, v, have[i])...)
		}
		return missing
	case string:
		have, _ := got.(string)
		if isTime(want) && isTime(have) {
			return nil
		}
	}
	if want != got {
		return []string{at + " differs"}
	}
	return nil
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
