package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// The question ends the turn of the agent. It waits in the database and is answered after a restart of the
// server. The run then continues with the answer. Routes, events and payloads match the files (B1, B2, B3,
// B4, B5).
func TestRunWaitsThroughARestartAndContinues(t *testing.T) {
	t.Parallel()
	s := newStory(t, "restart.txtar")
	events := s.follow("/events")
	session := s.run("tutor", "Plan a lesson.")
	ask := s.askOf(session)["id"].(string)
	s.requireLike(events.wait("question_pending", session, nil), "event.json", "uuid", ask, `"session"`,
		`"`+session+`"`)
	s.until("/sessions/"+session, "waiting session",
		func(got map[string]any) bool { return got["status"] == "waiting_for_input" })
	s.requireText(session, "paused.txt")

	s.kill()
	s.start()
	s.requireLike(s.call(s.user, "GET", "/sessions/"+session+"/pending-question", "", 200), "pending.json", "uuid", ask)
	if got := s.call(s.user, "GET", "/sessions/"+session, "", 200); got["status"] != "waiting_for_input" {
		t.Errorf("after the restart the session is %v", got)
	}
	s.call(s.user, "POST", "/sessions/"+session+"/resume", `{"message": "Go on"}`, 409)
	events = s.follow("/events")
	s.requireLike(s.call(s.user, "POST", "/sessions/"+session+"/answer", s.payload("answer.json"), 200),
		"answered.json")
	events.wait("question_answered", session, nil)
	if got := s.ended(session); got["status"] != "completed" ||
		!strings.Contains(text(got["result"]), "for beginners") {
		t.Errorf("got %v", got)
	}
	s.requireText(session, "resume.txt")
	none := s.call(s.user, "GET", "/sessions/"+session+"/pending-question", "", 200)
	if none["has_pending_question"] != false || none["question_id"] != nil {
		t.Errorf("got %v, want no question", none)
	}
	if got := s.call(s.user, "POST", "/sessions/"+session+"/answer",
		s.payload("answer.json", "latest", ask, "Python", "Go"), 409); got["success"] != false {
		t.Errorf("the second answer got %v", got)
	}

	s.call(s.user, "POST", "/sessions/"+session+"/resume", `{"message": "Shorter"}`, 200)
	s.until("/sessions/"+session, "second turn",
		func(got map[string]any) bool { return strings.Contains(text(got["result"]), "Use print.") })
}

// requireText requires that the resume context of a session equals the payload with this name.
func (s *story) requireText(session, name string) {
	s.t.Helper()
	announced, _ := s.place.Last()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET",
		announced.URL+"/api/v1/sessions/"+session+"/resume-context", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.user)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if want := s.payload(name); err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		s.t.Errorf("the resume context is\n%s%v\nwant\n%s", got, err, want)
	}
}

// A session has a status for each state of its run: running, waiting, completed, failed or cancelled (B2).
func TestSessionStatusFollowsItsRun(t *testing.T) {
	t.Parallel()
	s := newStory(t, "restart.txtar")
	events := s.follow("/events")
	failed, cancelled := s.run("fails", "Begin."), s.run("tutor", "Plan.")
	events.wait("session_started", failed, nil)
	if got := s.ended(failed); got["status"] != "failed" || !strings.Contains(got["error"].(string), "API key") {
		t.Errorf("got %v, want a failed session", got)
	}
	ask := s.askOf(cancelled)["id"].(string)
	s.call(s.user, "POST", "/sessions/"+cancelled+"/cancel", `{"reason": "not needed"}`, 200)
	if got := s.ended(cancelled); got["status"] != "cancelled" || s.askStatus(ask) != "cancelled" {
		t.Errorf("got %v, want a cancelled session", got)
	}
	s.call(s.user, "POST", "/sessions/"+cancelled+"/answer", s.payload("answer.json", "latest", ask), 409)
	s.call(s.user, "POST", "/sessions/"+cancelled+"/messages", `{"text": "Go on"}`, 409)
}

// A run waits for days, with a restart in between. It continues immediately after the answer (B3).
func TestRunWaitsForDays(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "stories", "restart.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var script []byte
	for _, f := range archive.Files {
		if f.Name == "tutor.yaml" {
			script = f.Data
		}
	}
	synctest.Test(t, func(t *testing.T) {
		model, err := scripted.Parse("tutor.yaml", script)
		if err != nil {
			t.Fatal(err)
		}
		store := memstore.New()
		serve := func() (askback.Client, func()) {
			runner, err := agent.NewRunner(agent.Definition{
				Name: "tutor", Model: model, Tools: []string{agent.AskUserQuestion, agent.TodoWrite},
			})
			if err != nil {
				t.Fatal(err)
			}
			e := engine.New(store, &engine.Options{Runner: runner})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- e.Run(ctx) }()
			return e.As(askback.Principal{Kind: askback.Responder, Name: "ana"}), func() { cancel(); <-ended }
		}
		ana, stop := serve()
		s, err := ana.Start(t.Context(), askback.SessionRequest{Agent: "tutor", Prompt: "Plan a lesson."})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * 24 * time.Hour) // takes no real time
		stop()
		<-time.After(24 * time.Hour)
		ana, stop = serve()
		defer func() { stop() }()
		<-time.After(3 * 24 * time.Hour)
		page, err := ana.List(t.Context(), askback.Query{SessionID: s.ID})
		if err != nil || len(page.Items) != 1 || time.Since(page.Items[0].CreatedAt) < 7*24*time.Hour-time.Minute {
			t.Fatalf("got %+v, %v, want the ask of a week ago", page.Items, err)
		}
		answers := askback.Answer{Answers: []askback.QuestionAnswer{
			{ID: "q1", Selected: []string{"Python"}}, {ID: "q2", Selected: []string{"Beginner"}},
		}}
		if _, err := ana.Answer(t.Context(), page.Items[0].ID, answers); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s, err = ana.Session(t.Context(), s.ID); err != nil || s.Status != askback.SessionCompleted ||
			!strings.Contains(string(s.Result), "for beginners") {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}
