package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
	"github.com/askback/askback/internal/server/config"
)

// A mailHouse is an Askback server with a mail server. Its settings have the address of ana.
type mailHouse struct {
	*testServer
	mails    *emailtest.Server
	settings string
}

// publicAddress is the public URL of the server, which mails contain.
const publicAddress = "https://ask.example.com"

func newMailHouse(t *testing.T) *mailHouse {
	t.Helper()
	env, database := sandbox(t)
	mails := emailtest.Start(t, emailtest.Options{})
	user := url.UserPassword(emailtest.User, emailtest.Password).String()
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf(`public_url: %s
people: [{name: ana, email: ana@example.com}, {name: ben}]
channels:
  email:
    smtp: "smtp://%s@%s"
    from: "Askback <ask@example.com>"
    reply: "ask+{token}@example.com"
    inbound: "imap://%s@%s"
`, publicAddress, user, mails.SMTPAddress, user, mails.IMAPAddress)
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &mailHouse{
		&testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)}, mails, settings,
	}
	h.place.Database = database
	return h
}

// begin starts the server and creates the tokens.
func (h *mailHouse) begin() {
	h.t.Helper()
	h.start()
	h.agent = strings.TrimSpace(mustRun(h.t, h.env, "token", "add", "--kind", "agent", "--name", "robot"))
	h.user = strings.TrimSpace(mustRun(h.t, h.env, "token", "add", "--kind", "responder", "--name", "ben"))
}

// letters waits until the mail server has accepted n messages. It returns all accepted messages.
func (h *mailHouse) letters(n int) (all []emailtest.Letter) {
	h.t.Helper()
	limit := time.After(time.Minute)
	for {
		changed := h.mails.Changed()
		if len(h.mails.Messages()) >= n {
			break
		}
		select {
		case <-changed:
		case <-limit:
			h.t.Fatalf("%d messages, want %d", len(h.mails.Messages()), n)
		}
	}
	for _, m := range h.mails.Messages() {
		all = append(all, m.Decode(h.t))
	}
	return all
}

// A person is asked by mail and answers by replying, and the agent gets the answer (E5).
func TestMailIsAnsweredByReply(t *testing.T) {
	t.Parallel()
	h := newMailHouse(t)
	if got := mustRun(t, h.env, "channel", "test", "email"); !strings.Contains(got, "accepted a message for ana") {
		t.Errorf("got %q", got)
	}
	h.begin()
	id := h.call(h.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`,
		201)["id"].(string)
	asked := h.letters(2)[1]
	if !strings.Contains(asked.Text, "Which database?") || !strings.Contains(asked.Text, publicAddress+"/a/") {
		t.Errorf("the mail is\n%s", asked.Text)
	}
	to := asked.ReplyTo()
	h.mails.Deliver(t,
		"From: ana@example.com\nTo: "+to+"\nSubject: Re: x\nMessage-ID: <1@example.com>\n\n2\n\n> Which database?\n")
	end := h.letters(3)[2]
	if end.Header.Get("In-Reply-To") != asked.Header.Get("Message-Id") || !strings.Contains(end.Text, "SQLite") {
		t.Errorf("the outcome is %v\n%s", end.Header, end.Text)
	}
	outcome := h.call(h.user, "GET", "/asks/"+id, "", 200)["outcome"].(map[string]any)
	if by := outcome["by"].(map[string]any); by["name"] != "ana" || outcome["via"] != "email" {
		t.Errorf("the outcome is %v", outcome)
	}
	for _, path := range []string{"/deliveries?question_id=" + id, "/asks/" + id} {
		if got := fmt.Sprint(h.call(h.agent, "GET", path, "", 200)); strings.Contains(got, "ana@example.com") ||
			strings.Contains(got, to) {
			t.Errorf("the agent reads an address in %s: %s", path, got)
		}
	}
}

// Each ask is one message, each reply is one answer, and each outcome is one message, whenever the server is
// killed.
func TestKillsNeitherLoseNorRepeatMails(t *testing.T) {
	t.Parallel()
	h := newMailHouse(t)
	h.begin()
	asked := map[string]string{} // ids by reply address
	for i := range 8 {
		before := h.lettersByID()
		id := h.call(h.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`,
			201)["id"].(string)
		h.killAfter(i, func() bool { return len(h.lettersByID()) > len(before) })
		var to emailtest.Letter
		for msg, l := range h.lettersByID() {
			if _, old := before[msg]; !old {
				to = l
			}
		}
		asked[to.ReplyTo()] = id
		before = h.lettersByID()
		h.mails.Deliver(t, fmt.Sprintf(
			"From: ana@example.com\nTo: %s\nSubject: Re: x\nMessage-ID: <%d@example.com>\n\n2\n", to.ReplyTo(), i,
		))
		h.killAfter(i, func() bool { return h.mails.Unseen(t) == 0 && len(h.lettersByID()) > len(before) })
	}
	if len(asked) != 8 || len(h.lettersByID()) != 16 {
		t.Errorf("%d reply addresses and %d messages for 8 asks", len(asked), len(h.lettersByID()))
	}
	for _, id := range asked {
		outcome, _ := h.call(h.user, "GET", "/asks/"+id, "", 200)["outcome"].(map[string]any)
		if outcome == nil || outcome["via"] != "email" {
			t.Errorf("the outcome is %v", outcome)
		}
	}
}

// lettersByID returns the accepted letters, keyed by Message-Id.
func (h *mailHouse) lettersByID() map[string]emailtest.Letter {
	all := map[string]emailtest.Letter{}
	for _, m := range h.mails.Messages() {
		l := m.Decode(h.t)
		all[l.Header.Get("Message-Id")] = l
	}
	return all
}

// killAfter kills the server after up to two changes at the mail server, starts it again, and waits for a
// condition.
func (h *mailHouse) killAfter(changes int, done func() bool) {
	h.t.Helper()
	for range changes % 3 {
		changed, marked := h.mails.Changed(), h.mails.Marked()
		if done() {
			break
		}
		select {
		case <-changed:
		case <-marked:
		}
	}
	h.kill()
	h.start()
	limit := time.After(time.Minute)
	for {
		changed, marked := h.mails.Changed(), h.mails.Marked()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-marked:
		case <-limit:
			h.t.Fatal("after the restart, nothing happened")
		}
	}
}

// T13: mail scanners open, check and fetch each link of a mail, and press its buttons without a choice. None
// of this answers the ask.
func TestMailScannersDoNotAnswer(t *testing.T) {
	t.Parallel()
	h := newMailHouse(t)
	h.begin()
	for i, ask := range []string{
		`{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`, `{"question": "Which name?"}`,
		`{"question": "Which?", "options": ["a", "b"], "multiSelect": true}`,
		`{"tool_name": "deploy", "input": {"to": "prod"}}`,
		`{"tool_name": "drop", "input": {"table": "users"}, "dangerous": true}`,
	} {
		body := ask
		if strings.Contains(ask, "tool_name") {
			body = `{"confirmation": ` + ask + `}`
		}
		id := h.call(h.agent, "POST", "/asks", body, 201)["id"].(string)
		for _, link := range regexp.MustCompile(regexp.QuoteMeta(publicAddress)+`\S+`).FindAllString(
			h.letters(i + 1)[i].Text, -1,
		) {
			h.scan(strings.TrimPrefix(link, publicAddress))
		}
		if got := h.call(h.user, "GET", "/asks/"+id, "", 200); got["status"] != "pending" {
			t.Errorf("%s: a scanner has settled it: %v", ask, got["outcome"])
		}
	}
}

// scan requests a path in each way that mail scanners do.
func (h *mailHouse) scan(path string) {
	h.t.Helper()
	client := &http.Client{Timeout: time.Minute}
	do := func(method, path, body string, header ...string) string {
		r, err := http.NewRequestWithContext(h.t.Context(), method, h.url()+path, strings.NewReader(body))
		if err != nil {
			h.t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		reply, err := client.Do(r)
		if err != nil {
			h.t.Fatal(err)
		}
		defer reply.Body.Close()
		page, _ := io.ReadAll(reply.Body)
		return string(page)
	}
	page := do("GET", path, "")
	do("GET", path, "", "Purpose", "prefetch", "Sec-Purpose", "prefetch;prerender")
	do("HEAD", path, "")
	do("OPTIONS", path, "")
	do("GET", path+"?utm_source=scanner", "")
	if strings.Contains(page, " checked") || strings.Contains(page, " selected") {
		h.t.Errorf("the page has a choice already:\n%s", page)
	}
	for _, found := range regexp.MustCompile(`(?:href|action|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if at, err := url.Parse(found[1]); err == nil && at.Host == "" {
			do("GET", at.Path, "")
		}
	}
	hidden := url.Values{}
	for _, found := range regexp.MustCompile(
		`<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"`,
	).FindAllStringSubmatch(page, -1) {
		hidden.Set(found[1], found[2])
	}
	for _, body := range []string{"", hidden.Encode()} { // a mail scanner presses the button of each form
		do("POST", path, body, "Content-Type", "application/x-www-form-urlencoded", "Origin", h.url())
	}
}

// The settings of docs/email.md are valid, and each setting is in its table.
func TestSettingsOfTheEmailPageAreValid(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/email.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, _ := strings.Cut(string(page), "```yaml\n")
	sample, _, _ = strings.Cut(sample, "```")
	got, err := config.Load("docs/email.md", strings.NewReader(sample),
		func(string) (string, bool) { return "s3cret", true })
	if err != nil {
		t.Fatal(err)
	}
	e, ok := got.Channels["email"].(email.Settings)
	if !ok || e.SMTP.Password != "s3cret" || e.Inbound.Port != 993 || e.Reply == "" || e.From == "" ||
		e.AuthservID == "" || len(got.People) != 1 {
		t.Errorf("got %+v", e)
	}
	for _, key := range []string{"smtp", "from", "reply", "inbound", "authserv_id"} {
		if !strings.Contains(string(page), "| `"+key+"` |") {
			t.Errorf("the table has no %s", key)
		}
	}
}
