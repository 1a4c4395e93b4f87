package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/golden"
	"github.com/askback/askback/test/kit/racedetector"
)

// Each archive in testdata/dialogue has requests to a new server, each with its reply (A4, A5, B1, B4, B5,
// D2, E2, E11, F8, F11). The first line of a request names the principal that sends it. The clock advances
// one second before each request. Other lines before a request are commands. "later 2h" advances the clock.
// "send" makes one attempt at a delivery, which the receiver refuses. "run" runs hosted agents until they
// wait or end. "sign poem msg_1" signs the request as a webhook. "stop" stops the server. Ids are numbered in
// the order in which they appear.
func TestRepliesMatchDialogues(t *testing.T) {
	racedetector.Omit(t)
	paths, err := filepath.Glob("testdata/dialogue/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { play(t, path) })
	}
}

func play(t *testing.T, path string) {
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newDialogue(t)
	out := &txtar.Archive{Comment: file.Comment}
	for _, f := range file.Files {
		if f.Name == "reply" {
			continue
		}
		out.Files = append(out.Files, f, txtar.File{Name: "reply", Data: []byte(s.exchange(string(f.Data)))})
	}
	got := string(txtar.Format(out))
	golden.Check(t, path, got)
}

// principals are the principals of dialogues by name.
var principals = map[string]askback.Principal{
	"bot": bot, "other": {Kind: askback.Agent, Name: "other"},
	"ana": ana, "ben": {Kind: askback.Responder, Name: "ben"},
	"ops": {Kind: askback.Operator, Name: "ops"}, "eve": {Kind: askback.Admin, Name: "eve"},
}

// A dialogue is a server whose clock is set by commands. It numbers the ids in replies.
type dialogue struct {
	*fixture
	now atomic.Int64
	ids [][2]string // pairs of an id and its numbered form
	out refusing
	// signer has the secret and the id with which the next request is signed. The secret is "poem" or
	// "other". If signer is nil, the request is not signed.
	signer []string
}

func newDialogue(t *testing.T) *dialogue {
	s := &dialogue{}
	began := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	s.now.Store(began.UnixNano())
	db := memstore.New()
	e := engine.New(db, &engine.Options{
		Channels:      map[string]engine.Channel{"webhook": &s.out, "telegram": chat{}, "webpush": browsers{}},
		RouteChannels: kinds.Routed(),
		Runner:        hostedAgents(t),
		MaxOpen:       4, Now: func() time.Time { return time.Unix(0, s.now.Load()) },
		Settings: engine.Settings{
			Undo:   5 * time.Second,
			People: []askback.Person{{Name: "cem", TimeZone: "Europe/Berlin", Quiet: "22:00-07:00"}}, AsksPerMinute: 6,
			Groups: map[string][]string{"payments": {"ana", "ben"}, "oncall": {"cem", "dan"}},
			Routes: []askback.Route{{
				Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"prod"}},
				To:    []string{"@payments"}, Quorum: 2, NoSelfApproval: true,
				Remind:   []askback.Span{askback.Span(15 * time.Minute)},
				Escalate: []askback.Escalation{{After: askback.Span(2 * time.Hour), To: []string{"@oncall"}}},
				Timeout:  askback.Span(24 * time.Hour), OnTimeout: askback.OnTimeoutDecline,
			}},
		},
	})
	clock := func() time.Time { return time.Unix(0, s.now.Load()) }
	h := httpapi.NewHandler(e, &httpapi.Options{
		Hooks: hooks(clock), PublicURL: "https://ask.example.com", Metrics: http.HandlerFunc(someMetrics),
	})
	s.fixture = &fixture{t: t, store: db, engine: e, handler: h, tokens: map[askback.Principal]string{}}
	s.server, s.client = httptest.NewServer(checkTraffic(t, h)), &http.Client{}
	t.Cleanup(func() {
		h.Stop()
		s.client.CloseIdleConnections()
		s.server.Close()
	})
	for _, name := range slices.Sorted(maps.Keys(principals)) {
		s.token(principals[name])
		s.now.Add(int64(time.Millisecond)) // ids sort by time
	}
	s.now.Store(began.UnixNano())
	return s
}

// exchange sends a request and returns the reply in the format of the archive.
func (s *dialogue) exchange(request string) string {
	s.t.Helper()
	return s.format(s.reply(request))
}

// reply sends a request and returns the reply.
func (s *dialogue) reply(request string) reply {
	s.t.Helper()
	request = s.runCommands(request)
	s.now.Add(int64(time.Second))
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	words := strings.Fields(lines[0])
	if len(words) != 4 || words[2] != "as" {
		s.t.Fatalf("%q is not a request: want METHOD PATH as PRINCIPAL", lines[0])
	}
	secret := ""
	if words[3] != "anonymous" {
		secret = s.token(principals[words[3]])
	}
	var header []string
	for name, values := range s.signature(body) {
		header = append(header, name, values[0])
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		header = append(header, name, s.expand(value))
	}
	return s.send(words[0], s.expand(words[1]), secret, s.expand(strings.TrimSpace(body)), header...)
}

// runCommands runs the commands before a request, and returns the request.
func (s *dialogue) runCommands(request string) string {
	s.t.Helper()
	for {
		line, rest, _ := strings.Cut(request, "\n")
		by, later := strings.CutPrefix(line, "later ")
		switch {
		case later:
			d, err := askback.ParseDuration(by)
			if err != nil {
				s.t.Fatal(err)
			}
			s.now.Add(int64(d))
		case line == "run":
			s.runHosted()
		case strings.HasPrefix(line, "sign "):
			s.signer = strings.Fields(line)[1:]
		case line == "send":
			s.out.sendAll(s.t, s.engine)
		case line == "stop":
			s.handler.Stop()
		default:
			return request
		}
		request = rest
	}
}

// expand replaces numbered ids with the ids of this run, and the word HUGE with 3000000 letters.
func (s *dialogue) expand(text string) string {
	for _, id := range s.ids {
		text = strings.ReplaceAll(text, id[1], id[0])
	}
	return strings.ReplaceAll(text, "HUGE", strings.Repeat("A", 3_000_000))
}

var (
	anyID     = regexp.MustCompile(`\b(ask|ses|grt|tok|evt|dlv|whe|ctc)_[0-9a-hjkmnp-tv-z]{26}\b`)
	anySecret = regexp.MustCompile(`\baskback_[A-Za-z0-9_-]{43}\b`)
	anySigner = regexp.MustCompile(`\bwhsec_[A-Za-z0-9+/]{43}=`)
	anyCode   = regexp.MustCompile(`\b[A-Z2-7]{16}\b`)
	anyTime   = regexp.MustCompile(`"duration_ms":\d+`)
)

// withoutSecrets returns the text of a reply with zeros in place of secrets.
func withoutSecrets(r reply) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", r.status)
	for _, name := range []string{
		"Content-Type", "Location", "Allow", "Retry-After", "WWW-Authenticate", "X-Accel-Buffering",
	} {
		if v := r.header.Get(name); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	b.WriteString("\n" + r.body)
	text := anyCode.ReplaceAllString(b.String(), strings.Repeat("A", 16))
	text = anySigner.ReplaceAllString(text, "whsec_"+strings.Repeat("0", 43)+"=")
	text = anyTime.ReplaceAllString(text, `"duration_ms":0`)
	return anySecret.ReplaceAllString(text, "askback_"+strings.Repeat("0", 43))
}

// format returns a reply with numbered ids, and with zeros in place of secrets.
func (s *dialogue) format(r reply) string {
	return anyID.ReplaceAllStringFunc(withoutSecrets(r), func(id string) string {
		for _, known := range s.ids {
			if known[0] == id || known[1] == id {
				return known[1]
			}
		}
		prefix := id[:4]
		n := 1
		for _, known := range s.ids {
			if strings.HasPrefix(known[0], prefix) {
				n++
			}
		}
		number := strconv.Itoa(n)
		s.ids = append(s.ids, [2]string{id, prefix + strings.Repeat("0", 26-len(number)) + number})
		return s.ids[len(s.ids)-1][1]
	}) + "\n"
}

// Every route has a dialogue in which it succeeds. For /yield and /consume, a rejection
// because of the state or the digest is enough.
func TestEveryRouteIsInADialogue(t *testing.T) {
	paths, err := filepath.Glob("testdata/dialogue/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	mux, seen := http.NewServeMux(), map[string]bool{}
	for _, rt := range httpapi.Table() {
		mux.Handle(rt.Method+" "+rt.Path, http.NotFoundHandler())
	}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(file.Files); i += 2 {
			if reply := string(file.Files[i+1].Data); reply[0] == '2' || strings.Contains(reply, "not-yielding") ||
				strings.Contains(reply, "problem:digest") {
				for line := range strings.Lines(string(file.Files[i].Data)) {
					if words := strings.Fields(line); len(words) == 4 && words[2] == "as" {
						_, route := mux.Handler(httptest.NewRequest(words[0], words[1], nil))
						seen[route] = true
					}
				}
			}
		}
	}
	for _, rt := range httpapi.Table() {
		if !seen[rt.Method+" "+rt.Path] {
			t.Errorf("no dialogue has a successful %s %s", rt.Method, rt.Path)
		}
	}
}
