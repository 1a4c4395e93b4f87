package webhooks_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/test/interop/clienttest"
)

// The secrets before and after a rotation, and a secret of another program.
const (
	oldSecret   = "whsec_dGhlIHNlY3JldCBiZWZvcmUgYSByb3RhdGlvbiwgMzIgYi4="
	newSecret   = "whsec_dGhlIHNlY3JldCBhZnRlciB0aGUgcm90YXRpb24sIDMyIGI="
	otherSecret = "whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyIHByb2dyYW0sIDMyIGI="
)

// A check is a message with the expected result of a library.
type check struct {
	name    string
	valid   bool
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

var webhookHeaders = []string{"webhook-id", "webhook-timestamp", "webhook-signature"}

// sent returns the headers and the body of a message as a receiver gets them.
func sent(
	t *testing.T, d askback.Delivery, about askback.Ask, age time.Duration, secrets []string,
) (map[string]string, string) {
	t.Helper()
	to := askbacktest.NewReceiver(t,
		&askbacktest.ReceiverOptions{Secrets: secrets, Now: func() time.Time { return time.Now().Add(-age) }})
	allowed, err := webhook.ParseAllowed(to.Address())
	if err != nil {
		t.Fatal(err)
	}
	c, err := webhook.New(webhook.Options{
		Secret: otherSecret, Allow: []webhook.Allowed{allowed}, Now: func() time.Time { return time.Now().Add(-age) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Send(t.Context(),
		askback.Notification{Delivery: d, Ask: about, Address: to.URL(), Secrets: secrets}); err != nil {
		t.Fatal(err)
	}
	m := to.Wait(1)[0]
	headers := map[string]string{}
	for _, name := range webhookHeaders {
		headers[name] = m.Header.Get(name)
	}
	if got := len(strings.Fields(headers["webhook-signature"])); got != len(secrets) {
		t.Fatalf("got %d signatures, want %d", got, len(secrets))
	}
	return headers, string(m.Body)
}

// deliveries returns messages about an ask and about a session, with texts in several scripts. It also
// returns the ask.
func deliveries() (list []askback.Delivery, about askback.Ask) {
	about = askback.Ask{
		ID: "ask_1", SessionID: "ses_1", Agent: "write-poem", Kind: askback.Questions, Status: askback.Answered,
		Questions: []askback.Question{{
			ID: "q1", Text: "איזה סגנון? ما هو الأسلوب؟ 🌸 \u2028 \"<&>\" \\ \x00",
			Options: askback.Options("haiku", "俳句"),
		}},
		Outcome: &askback.Outcome{
			Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: time.Now(),
			Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"俳句"}}},
		},
	}
	session := askback.Session{
		ID: "ses_1", Agent: "write-poem", Status: askback.SessionCompleted, Result: json.RawMessage(`{"poem":"古池や"}`),
	}
	return []askback.Delivery{
		{ID: "dlv_1", AskID: "ask_1", SessionID: "ses_1", Event: askback.EventQuestionPending},
		{ID: "dlv_2", AskID: "ask_1", SessionID: "ses_1", Event: askback.EventQuestionAnswered},
		{ID: "dlv_3", SessionID: "ses_1", Event: askback.EventSessionCompleted, Session: &session},
	}, about
}

// checks returns messages of every kind, with one signature and with two, both unchanged and changed.
func checks(t *testing.T) (out []check) {
	t.Helper()
	list, about := deliveries()
	for _, d := range list {
		for _, secrets := range [][]string{{newSecret}, {newSecret, oldSecret}} {
			name := string(d.Event) + " with " + strconv.Itoa(len(secrets)) + " signatures, "
			headers, body := sent(t, d, about, 0, secrets)
			add := func(what string, valid bool, change func(*check)) {
				c := check{name + what, valid, newSecret, maps.Clone(headers), body}
				if change != nil {
					change(&c)
				}
				out = append(out, c)
			}
			add("as it was sent", true, nil)
			add("the secret before a rotation", len(secrets) == 2, func(c *check) { c.Secret = oldSecret })
			add("another secret", false, func(c *check) { c.Secret = otherSecret })
			add("a longer body", false, func(c *check) { c.Body += " " })
			add("another answer", false,
				func(c *check) { c.Body = strings.Replace(c.Body, "write-poem", "Write-poem", 1) })
			add("an empty body", false, func(c *check) { c.Body = "" })
			add("another id", false, func(c *check) { c.Headers["webhook-id"] = "dlv_4" })
			add("another time", false, func(c *check) {
				seconds, _ := strconv.ParseInt(c.Headers["webhook-timestamp"], 10, 64)
				c.Headers["webhook-timestamp"] = strconv.FormatInt(seconds-1, 10)
			})
			for _, h := range webhookHeaders {
				add("without "+h, false, func(c *check) { delete(c.Headers, h) })
			}
			add("signatures of another version", false, func(c *check) {
				c.Headers["webhook-signature"] = strings.ReplaceAll(c.Headers["webhook-signature"], "v1,", "v2,")
			})
			for _, age := range []time.Duration{6 * time.Minute, -6 * time.Minute} {
				headers, body = sent(t, d, about, age, secrets)
				add("sent "+age.String()+" ago", false, nil)
			}
			headers, body = sent(t, d, about, 4*time.Minute, secrets)
			add("sent four minutes ago", true, nil)
		}
	}
	return out
}

// compare fails the test for each check with an unexpected result. errors has the error of the library for
// each check, or "" if the library accepted the message.
func compare(t *testing.T, library string, all []check, errors []string) {
	t.Helper()
	valid := 0
	for i, c := range all {
		if got := errors[i] == ""; got != c.valid {
			t.Errorf("%s, %s: got %q, want valid: %v", library, c.name, errors[i], c.valid)
		}
		if c.valid {
			valid++
		}
	}
	if valid == 0 || valid == len(all) {
		t.Errorf("%d of %d messages are valid, want some of each", valid, len(all))
	}
}

// The library of Standard Webhooks for Go accepts the messages of Askback, with one signature and with two.
// It rejects messages that are changed or old (E3).
func TestGoLibraryVerifiesMessages(t *testing.T) {
	all := checks(t)
	var errors []string
	for _, c := range all {
		w, err := standardwebhooks.NewWebhook(c.Secret)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		for name, value := range c.Headers {
			h.Set(name, value)
		}
		found := ""
		if err := w.Verify([]byte(c.Body), h); err != nil {
			found = err.Error()
		}
		errors = append(errors, found)
	}
	compare(t, "Go", all, errors)
}

// The library of Standard Webhooks for JavaScript accepts the messages of Askback, with one signature and
// with two. It rejects messages that are changed or old (E3).
func TestJavaScriptLibraryVerifiesMessages(t *testing.T) {
	packages := clienttest.Packages(t)
	script, err := os.ReadFile("verify.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "verify.mjs")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	all := checks(t)
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", path)
	node.Stdin = bytes.NewReader(in)
	var problem bytes.Buffer
	node.Stderr = &problem
	raw, err := node.Output()
	var errors []string
	if err == nil {
		err = json.Unmarshal(raw, &errors)
	}
	if err != nil || len(errors) != len(all) {
		t.Fatalf("got %d results for %d messages, %v: %s", len(errors), len(all), err, problem.String())
	}
	compare(t, "JavaScript", all, errors)
}
