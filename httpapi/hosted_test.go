package httpapi_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/httpapi"
)

// The model of the agent poem asks for a style if the prompt asks for a poem, and otherwise replies
// immediately.
const poemScript = `
- expect: rain
  reply: I need to know the style.
  tools:
    - name: ask_user_question
      input: {questions: [{question: What style would you prefer?, header: Style, options: [{label: free verse}, {label: rhyming}, {label: sonnet}, {label: haiku}]}]}
- expect: haiku
  reply: '{"poem_path": "poem/rain-haiku.md"}'
- expect: shorter
  reply: It is shorter now.
`

// The scripts of the other agents.
const (
	triageScript = "- reply: Nothing is new.\n"
	notesScript  = "- error: {status: 401}\n"
)

// The secret of the agent poem, and a secret of no agent.
const (
	poemSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	decoySecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// hostedAgents returns a runner of three agents: poem, triage and notes, whose model rejects its key.
func hostedAgents(t *testing.T) *agent.Runner {
	t.Helper()
	model := func(name, script string) agent.Model {
		m, err := scripted.Parse(name, []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	daily, err := agent.ParseSchedule("0 7 * * *", berlin)
	if err != nil {
		t.Fatal(err)
	}
	r, err := agent.NewRunner(
		agent.Definition{
			Name: "poem", Description: "Writes poems.", Prompt: "You write poems.", Model: model("poem", poemScript),
			AsyncQuestions: true,
		},
		agent.Definition{
			Name: "triage", Prompt: "You sort mails.", Model: model("triage", triageScript), Schedule: daily,
		},
		agent.Definition{Name: "notes", Prompt: "You fail.", Model: model("notes", notesScript)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hooks returns the verifier of webhooks that start these agents.
func hooks(now func() time.Time) httpapi.HookVerifier {
	return webhook.NewVerifier(func(agent string) string {
		if agent == "poem" {
			return poemSecret
		}
		return ""
	}, decoySecret, now)
}

// sign returns the header of a webhook that is signed as Standard Webhooks describes it.
func sign(t *testing.T, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), body)
	return http.Header{
		"Webhook-Id": {id}, "Webhook-Timestamp": {fmt.Sprint(at.Unix())},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
}

// runHosted runs the engine until no hosted session is running.
func (s *dialogue) runHosted() {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() { done <- s.engine.Run(ctx) }()
	person := s.engine.As(ana)
	for running := true; running && ctx.Err() == nil; runtime.Gosched() {
		page, err := person.Sessions(ctx, askback.SessionQuery{Status: askback.SessionRunning})
		if err != nil {
			s.t.Fatal(err)
		}
		running = false
		for _, one := range page.Items {
			running = running || one.Hosted
		}
	}
	late := ctx.Err()
	stop()
	if err := <-done; err != nil || late != nil {
		s.t.Fatalf("run: %v, %v", err, late)
	}
}

// signature returns the header that signs the next request, and resets s.signer. If s.signer is nil,
// signature returns nil.
func (s *dialogue) signature(body string) http.Header {
	if s.signer == nil {
		return nil
	}
	secret := map[string]string{"poem": poemSecret, "other": decoySecret[:6] + strings.Repeat("A", 32)}[s.signer[0]]
	id := s.signer[1]
	s.signer = nil
	return sign(s.t, secret, id, time.Unix(0, s.now.Load()), s.expand(strings.TrimSpace(body)))
}
