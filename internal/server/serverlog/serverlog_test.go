package serverlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/store/memstore"
)

const secret = "askback_AAG_Ltz6DieLGHY_hUTuV4Fh57fIleAPzv85GXtyYcI"

// lines decodes the lines that a log wrote.
func lines(t *testing.T, b *bytes.Buffer) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

// Each request is logged on one line without secrets. A health check is not logged at level info.
func TestEachRequestIsLoggedOnOneLine(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelInfo)
	h := l.Access(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			serverlog.SetPrincipal(r.Context(), askback.Principal{Kind: askback.Agent, Name: "bot"})
		}
		w.WriteHeader(http.StatusTeapot)
		http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "hello")
	}))
	for _, authorized := range []bool{true, false} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/asks/"+secret+"?secret="+secret, strings.NewReader(secret))
		r.Header.Set("Cookie", "askback="+secret)
		if authorized {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/healthz", nil))
	got := lines(t, &b)
	if len(got) != 2 {
		t.Fatalf("got %d lines, want 2: %s", len(got), b.String())
	}
	for i, want := range []map[string]any{
		{
			"msg": "request", "method": "POST", "path": "/api/v1/asks/askback_…", "status": 418.0, "bytes": 5.0,
			"kind": "agent", "name": "bot",
		},
		{
			"msg": "request", "method": "POST", "path": "/api/v1/asks/askback_…", "status": 418.0, "bytes": 5.0,
			"remote": "192.0.2.1",
		},
	} {
		for key, value := range want {
			if got[i][key] != value {
				t.Errorf("line %d: %s is %v, want %v", i, key, got[i][key], value)
			}
		}
	}
	if strings.Contains(b.String(), "AAG_") {
		t.Errorf("a secret is in the log: %s", b.String())
	}
}

// The path of a link in a message is logged without the token of the link, which could answer an ask (T22).
func TestTokensOfLinksAreNotLogged(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelDebug)
	h := l.Access(http.NotFoundHandler())
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/a/AWNhbmFyeQ", nil))
	if got := lines(t, &b); len(got) != 1 || got[0]["path"] != "/a/…" || strings.Contains(b.String(), "AWNhbmFyeQ") {
		t.Errorf("got %s", b.String())
	}
}

// A client can put control characters into a path. They must not affect a terminal that shows
// the log, and the JSON value must stay the same.
func TestControlCharactersAreEscaped(t *testing.T) {
	const path = "/a\u009b31m\u202eb\x7f\x1b[2J\n\U000e0041ä…"
	for _, format := range []string{serverlog.Text, serverlog.JSON} {
		var b bytes.Buffer
		l := serverlog.New(&b, format, slog.LevelInfo)
		h := l.Access(http.NotFoundHandler())
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		h.ServeHTTP(httptest.NewRecorder(), r)
		line := strings.TrimSuffix(b.String(), "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s: not printable at %d: %q", format, i, line)
		}
		if format == serverlog.JSON && lines(t, &b)[0]["path"] != path {
			t.Errorf("got %s, want path %q", line, path)
		}
	}
}

func TestLevelDoesNotApplyToAuditLog(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelError)
	l.Info("too low")
	l.With("key", "value").WithGroup("group").Warn("too low")
	l.Committed("question_declined", declined("ana"))
	got := lines(t, &b)
	if len(got) != 1 || got[0]["event"] != "declined" || got[0]["by"] != "ana" {
		t.Errorf("got %s", b.String())
	}
}

func declined(by string) askback.Ask {
	return askback.Ask{ID: "ask_1", Outcome: &askback.Outcome{
		Status: askback.Declined, Actor: askback.Actor{Kind: askback.ActorPerson, Name: by},
	}}
}

// Secrets are redacted in values and in errors, and long values are truncated.
func TestSecretsInValuesAreRedacted(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelError)
	l.Error("wrong", "error", errors.New("the token "+secret+" is wrong"), "long", strings.Repeat("x", 10_000))
	l.Committed("question_declined", declined(secret))
	got := lines(t, &b)
	if len(got) != 2 || got[0]["error"] != "the token askback_… is wrong" || got[1]["event"] != "declined" ||
		got[1]["by"] != "askback_…" {
		t.Errorf("got %s", b.String())
	}
	if n := b.Len(); n > 3_000 {
		t.Errorf("the lines have %d bytes", n)
	}
}

func TestUnknownLevelIsRejected(t *testing.T) {
	for _, bad := range []string{"", "INFO", "verbose", "info+1"} {
		if _, err := serverlog.ParseLevel(bad); err == nil {
			t.Errorf("ParseLevel(%q) returned no error", bad)
		}
	}
}

// Clients without a valid token cannot fill the disk: the number of their lines in a minute is
// limited. The next line has the number of lines left out.
func TestAnonymousRequestsCannotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := serverlog.New(&b, serverlog.JSON, slog.LevelInfo)
		e := l.Audit(engine.New(memstore.New(), nil))
		h := l.Access(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := e.Authenticate(r.Context(), "wrong")
			if !errors.Is(err, askback.ErrUnauthorized) {
				t.Error(err)
			}
			w.WriteHeader(http.StatusUnauthorized)
		}))
		flood := func() {
			for range 1000 {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/v1/asks", nil))
			}
		}
		flood()
		if n := len(lines(t, &b)); n != 120 { // 60 of the access log, 60 of the audit log
			t.Errorf("1000 requests wrote %d lines, want 120", n)
		}
		b.Reset()
		<-time.After(time.Minute) // a minute of the fake clock
		flood()
		got := lines(t, &b)
		if len(got) != 120 || got[0]["left_out"] != 940.0 || got[1]["left_out"] != 940.0 || got[2]["left_out"] != nil {
			t.Errorf("a minute later there are %d lines, the first %v", len(got), got[0])
		}
	})
}

// Every outcome, log-in, log-out, rejected log-in, and change of a token or grant has one
// line, without the content of the ask.
func TestAuditLogRecordsEveryChange(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelError)
	unaudited := engine.New(memstore.New(), &engine.Options{Observer: l})
	e, logins := l.Audit(unaudited), l.AuditLogins(unaudited, unaudited)
	ctx := context.Background()
	root := e.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ask := func(r askback.Request) string {
		t.Helper()
		r.Agent = "deploy-bot"
		a, err := bot.Ask(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	call := askback.Request{
		Confirmation: &askback.Confirmation{ToolName: "rm", Input: json.RawMessage(`{"path":"/tmp"}`)},
	}
	question := askback.Request{Questions: []askback.Question{{Text: "Which?", Options: askback.Options("a", "b")}}}
	var failed []error
	check := func(err error) { failed = append(failed, err) }
	token, _, err := root.CreateToken(ctx, askback.TokenRequest{Kind: askback.Responder, Name: "ana"})
	check(err)
	check(errOf(root.RevokeToken(ctx, token.ID)))
	link, err := ana.LoginSecret(ctx)
	check(err)
	from := askback.Browser{Name: "Firefox on Linux", Address: "203.0.113.7"}
	browser, err := logins.Login(ctx, link, from)
	check(err)
	check(logins.Logout(ctx, browser))
	check(errOf(ana.Answer(ctx, ask(question), askback.Choose("a"))))
	check(errOf(ana.Decline(ctx, ask(question), "")))
	check(errOf(bot.Cancel(ctx, ask(question), "")))
	check(errOf(ana.Answer(ctx, ask(call), askback.Decide(askback.Deny, "my reason"))))
	check(errOf(ana.Answer(ctx, ask(call), askback.Decide(askback.Approve, ""))))
	granted, err := ana.Answer(ctx, ask(call), askback.Decide(askback.ApproveAll, ""))
	check(err)
	ask(call) // the grant answers
	check(errOf(ana.Revoke(ctx, granted.Outcome.GrantID)))
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	if _, err := logins.Login(ctx, link, from); err == nil {
		t.Fatal("the link worked twice")
	}
	if _, err := ana.Answer(ctx, granted.ID, askback.Decide(askback.Deny, "")); err == nil {
		t.Fatal("a second answer was accepted")
	}
	want := []string{
		"token_created admin root terminal", "token_revoked admin root terminal",
		"login_link_created responder ana web", "login responder ana web", "logout responder ana web",
		"answered person ana web", "declined person ana web", "cancelled agent bot api", "denied person ana web",
		"approved person ana web", "approved person ana web", "grant_made person ana web", "approved policy ana",
		"grant_revoked responder ana web", "login_refused",
	}
	if diff := cmp.Diff(want, events(t, &b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !strings.Contains(b.String(), `"browser":"Firefox on Linux","address":"203.0.113.7","through":"link"`) {
		t.Errorf("the log-in has no browser: %s", b.String())
	}
	if s := b.String(); strings.Contains(s, "my reason") || strings.Contains(s, "/tmp") ||
		strings.Contains(s, "askback_") {
		t.Errorf("the log has content of the asks: %s", s)
	}
}

// events returns the event, the actor and the channel of each line of an audit log.
func events(t *testing.T, b *bytes.Buffer) (all []string) {
	t.Helper()
	for _, line := range lines(t, b) {
		if line["msg"] != "audit" {
			t.Errorf("got %v", line)
		}
		var words []string
		for _, key := range []string{"event", "by_kind", "by", "via"} {
			if s, _ := line[key].(string); s != "" {
				words = append(words, s)
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

func errOf[T any](_ T, err error) error { return err }

// What a person does to a session is logged without the text. What its agent does is not.
func TestAuditLogRecordsWhatPeopleDoToSessions(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelError)
	e := l.Audit(engine.New(memstore.New(), nil))
	ctx := t.Context()
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	s, err := bot.Start(ctx, askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []askback.Command{
		askback.SendMessage{Text: "my secret"}, askback.EndTurn{}, askback.ResumeSession{}, askback.EndSession{},
	} {
		if _, err := ana.Send(ctx, s.ID, cmd); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ana.Send(ctx, s.ID, askback.SendMessage{Text: "late"}); err == nil {
		t.Fatal("a session that has ended takes a message")
	}
	other, err := bot.Start(ctx, askback.SessionRequest{Key: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Send(ctx, other.ID, askback.Report{Text: "step"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"message_sent responder ana web", "turn_cancelled responder ana web", "session_resumed responder ana web",
		"session_cancelled responder ana web",
	}
	if strings.Contains(b.String(), "my secret") {
		t.Errorf("the log has the message: %s", b.String())
	}
	if diff := cmp.Diff(want, events(t, &b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Every change of people, groups and routes is logged on one line with its actor. A rejected change is not
// logged.
func TestAuditLogRecordsChangesOfDirectory(t *testing.T) {
	var b bytes.Buffer
	l := serverlog.New(&b, serverlog.JSON, slog.LevelError)
	e := l.Audit(engine.New(memstore.New(), nil))
	ctx := t.Context()
	root := e.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	err := errors.Join(
		errOf(root.PutPerson(ctx, askback.PersonRequest{Name: "eli", Email: "eli@example.com"})),
		errOf(root.PutGroup(ctx, "ops", []string{"eli"})),
		errOf(root.PutRoutes(ctx, []askback.Route{{To: []string{"@ops"}}}, 0)), errOf(root.PutRoutes(ctx, nil, 1)),
		errOf(root.DeleteGroup(ctx, "ops")), errOf(root.DeletePerson(ctx, "eli")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if errOf(ana.PutPerson(ctx, askback.PersonRequest{Name: "ana"})) == nil ||
		errOf(root.DeleteGroup(ctx, "ops")) == nil {
		t.Fatal("a change is not refused")
	}
	want := []string{
		"person_put admin root terminal", "group_put admin root terminal", "routes_put admin root terminal",
		"routes_put admin root terminal", "group_deleted admin root terminal", "person_deleted admin root terminal",
	}
	if diff := cmp.Diff(want, events(t, &b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
