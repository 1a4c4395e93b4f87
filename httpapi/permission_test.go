package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/racedetector"
)

// A routeFixture has one object of each kind that a route can name.
type routeFixture struct {
	*fixture
	sessionID, askID, grantID, tokenID, deliveryID, endpointID, contactID string
}

// newRouteFixture creates an ask to ana in a session of bot, a grant for bot, and a token.
func newRouteFixture(t *testing.T) *routeFixture {
	db, out := memstore.New(), &refusing{}
	w := newFixtureOn(t, engine.New(db, &engine.Options{Runner: hostedAgents(t), Channels: map[string]engine.Channel{
		"webhook": out, "telegram": chat{}, "webpush": browsers{},
	}}), db, &httpapi.Options{Metrics: http.HandlerFunc(someMetrics)})
	ctx := context.Background()
	s := &routeFixture{fixture: w, sessionID: w.startSession("run").ID}
	for _, p := range principals {
		w.token(p)
	}
	s.askID = w.ask(`{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "to": ["ana"], "session_key": "run"}`).ID
	approved := w.ask(`{"confirmation": {"tool_name": "deploy", "input": {}}, "to": ["ana"]}`)
	done, err := w.engine.As(ana).Answer(ctx, approved.ID, askback.Decide(askback.ApproveAll, ""))
	if err != nil {
		t.Fatal(err)
	}
	s.grantID = done.Outcome.GrantID
	spare, _, err := w.engine.As(root).CreateToken(ctx, askback.TokenRequest{Kind: askback.Agent, Name: "spare"})
	if err != nil {
		t.Fatal(err)
	}
	s.tokenID = spare.ID
	w.ask(`{"question": "Which database?", "to": ["ana"], "callback_url": "https://agents.example.com"}`)
	out.sendAll(t, w.engine)
	failed, err := w.engine.As(root).Deliveries(ctx, askback.DeliveryQuery{})
	if err != nil || len(failed.Items) != 1 {
		t.Fatalf("got %+v, %v, want one delivery that was given up", failed, err)
	}
	s.deliveryID = failed.Items[0].ID
	made, _, err := w.engine.As(bot).CreateEndpoint(ctx, askback.EndpointRequest{URL: "https://bot.example.com/x"})
	if err != nil {
		t.Fatal(err)
	}
	s.endpointID = made.ID
	contact, err := w.engine.As(ana).AddContact(ctx,
		askback.ContactRequest{Channel: "webpush", Label: "Firefox", Address: "https://push.example.com/1"})
	if err != nil {
		t.Fatal(err)
	}
	s.contactID = contact.ID
	_, person := w.engine.As(root).PutPerson(ctx, askback.PersonRequest{Name: "flat"})
	_, group := w.engine.As(root).PutGroup(ctx, "flat", []string{"ana"})
	if err := errors.Join(person, group); err != nil {
		t.Fatal(err)
	}
	return s
}

// someMetrics replies like the metrics of a server.
func someMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, "# TYPE askback_asks_pending gauge\naskback_asks_pending 2\n")
}

// path returns the path of a route, with the id of its object.
func (s *routeFixture) path(route string) string {
	id := s.sessionID
	switch {
	case strings.Contains(route, "/asks/"):
		id = s.askID
	case strings.Contains(route, "/grants/"):
		id = s.grantID
	case strings.Contains(route, "/tokens/"):
		id = s.tokenID
	case strings.Contains(route, "/deliveries/"):
		id = s.deliveryID
	case strings.Contains(route, "/endpoints/"):
		id = s.endpointID
	case strings.Contains(route, "/contacts/"):
		id = s.contactID
	}
	return strings.NewReplacer("{id}", id, "{name}", "flat", "{agent}", "poem").Replace(route)
}

// body returns a valid body for a route.
func (s *routeFixture) body(rt httpapi.Route) string {
	if !rt.Body {
		return ""
	}
	switch rt.Method + " " + strings.TrimPrefix(rt.Path, "/api/v1") {
	case "POST /asks":
		return databases
	case "POST /dialects/{name}/ask":
		return `{"question": "Name?"}`
	case "POST /hooks/claude-code":
		return `{"hook_event_name": "Stop", "session_id": "s1"}`
	case "POST /asks/{id}/answer":
		return `{"answer": "SQLite"}`
	case "POST /asks/{id}/consume":
		return `{"digest": "sha256:0"}`
	case "PUT /asks/{id}/draft":
		return `{"q1": "SQL"}`
	case "POST /asks/{id}/reassign":
		return `{"to": ["ana", "ben"]}`
	case "PUT /asks/{id}/snooze":
		return `{"until": "` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`
	case "POST /hooks/{agent}":
		return `{"topic": "rain"}`
	case "POST /sessions":
		return `{"agent": "poem", "prompt": "Go."}`
	case "POST /sessions/{id}/messages":
		return `{"text": "Hello"}`
	case "PUT /sessions/{id}/todos":
		return `{"todos": [{"content": "x", "status": "pending"}]}`
	case "POST /sessions/{id}/answer", "POST /agent/answer/{id}":
		return `{"question_id": "` + s.askID + `", "answer": "SQLite"}`
	case "POST /conversations/{id}/respond":
		return `{"answers": {"Which database?": "SQLite"}}`
	case "POST /endpoints":
		return `{"url": "https://agents.example.com/new", "owner": "bot"}`
	case "POST /contacts":
		return `{"channel": "webpush", "label": "Firefox", "address": "https://push.example.com/2"}`
	case "PUT /people/{name}":
		return `{"email": "dana@example.com"}`
	case "PUT /groups/{name}":
		return `{"people": ["ana"]}`
	case "PUT /routes":
		return `{"items": [{"match": {}, "to": ["ana"]}], "revision": 0}`
	case "POST /contact-codes":
		return `{"channel": "telegram"}`
	case "POST /tokens":
		return `{"kind": "agent", "name": "new"}`
	}
	return ""
}

// relation returns the relation of a principal to the object of a route. Sessions and
// grants are visible to all people, the ask only to ana.
func relation(who askback.Principal, rt httpapi.Route) access.Relation {
	aboutAsk := strings.Contains(rt.Path, "/asks/") || rt.Action == access.ActAnswer
	switch {
	case rt.Action == access.ActContacts && who.Name == ana.Name:
		return access.Owner
	case rt.Action == access.ActContacts:
		return access.Unrelated
	case who.Kind == askback.Agent && who.Name == bot.Name:
		return access.Owner
	case who.Kind == askback.Agent || aboutAsk && who.Name != ana.Name:
		return access.Unrelated
	}
	return access.Recipient
}

// hasID reports whether a route names an object.
func hasID(rt httpapi.Route) bool { return strings.Contains(rt.Path, "{id}") }

// wantStatus returns the status that the table of package access requires. It returns 0 if the status depends
// on the request.
func wantStatus(who string, p askback.Principal, rt httpapi.Route) int {
	may := func(action access.Action) bool { return action != "" && access.Ever(p.Kind, action) }
	action := rt.Action
	if !may(action) {
		action = rt.Or
	}
	switch {
	case rt.Open:
		return http.StatusOK
	case who == "anonymous":
		return http.StatusUnauthorized
	case !may(action):
		return http.StatusForbidden
	case !hasID(rt) || access.Allowed(p.Kind, action, relation(p, rt)):
		return 0
	case rt.Path == "/conversations/{id}/respond":
		return http.StatusConflict // the session is visible, but its ask is not
	}
	return http.StatusNotFound
}

// Each route is called with each kind of token, before and after the ask is settled. The
// status follows from the table of package access, and a rejected request changes
// nothing (E10, F4).
func TestStatusOfEachRouteMatchesThePermissions(t *testing.T) {
	racedetector.Omit(t)
	for _, rt := range httpapi.Table() {
		t.Run(rt.Method+strings.ReplaceAll(rt.Path, "/", " "), func(t *testing.T) {
			for who := range principals {
				tryRoute(t, rt, who, false)
				tryRoute(t, rt, who, true)
			}
			tryRoute(t, rt, "anonymous", false)
		})
	}
}

func tryRoute(t *testing.T, rt httpapi.Route, who string, settled bool) {
	t.Helper()
	s := newRouteFixture(t)
	if settled {
		if _, err := s.engine.As(ana).Decline(context.Background(), s.askID, "no"); err != nil {
			t.Fatal(err)
		}
	}
	secret := ""
	if who != "anonymous" {
		secret = s.token(principals[who])
	}
	before := s.contents()
	got := s.send(rt.Method, s.path(rt.Path), secret, s.body(rt))
	want := wantStatus(who, principals[who], rt)
	denied := got.status == 401 || got.status == 403 || got.status == 404
	if want != 0 && got.status != want || want == 0 && (denied || got.status >= 500) {
		t.Errorf("%s %s by %s (settled: %v): got %d %s, want %d (0: allowed)", rt.Method, rt.Path, who, settled,
			got.status, got.body, want)
	}
	if denied && s.contents() != before {
		t.Errorf("%s %s by %s was rejected and changed the store", rt.Method, rt.Path, who)
	}
}

// Each route with a body rejects a malformed or too large body and other media types, and
// changes nothing (F15).
func TestMalformedBodiesAreRejectedOnEveryRoute(t *testing.T) {
	for _, rt := range httpapi.Table() {
		if !rt.Body {
			continue
		}
		s := newRouteFixture(t)
		secret := s.token(principals[allowedSecret(rt)])
		before := s.contents()
		for name, c := range map[string]struct {
			body, kind string
			status     []int
		}{
			"cut off":        {`{"text": `, "application/json", []int{400}},
			"said twice":     {`{"text": "a", "text": "b"}`, "application/json", []int{400}},
			"bad UTF-8":      {"{\"text\": \"\xff\"}", "application/json", []int{400}},
			"lone surrogate": {`{"text": "\ud800"}`, "application/json", []int{400}},
			"too deep":       {strings.Repeat("[", 40) + strings.Repeat("]", 40), "application/json", []int{400}},
			"two values":     {`{} {}`, "application/json", []int{400}},
			"a list":         {`[]`, "application/json", []int{400, 422}},
			"a text":         {`"text"`, "application/json", []int{400, 422}},
			"null":           {`null`, "application/json", []int{400, 422}},
			"unknown field":  {`{"no_such_field": 1}`, "application/json", []int{400, 422}},
			"a form":         {"text=a", "application/x-www-form-urlencoded", []int{415}},
			"no type":        {`{}`, "", []int{415}},
			"too large": {
				`{"text": "` + strings.Repeat("A", int(rt.Limit)) + `"}`, "application/json", []int{413},
			},
		} {
			if name == "unknown field" && strings.HasSuffix(rt.Path, "/draft") {
				continue // a draft may be any object
			}
			if strings.HasPrefix(rt.Path, "/hooks/{agent}") && (c.status[0] != c.status[len(c.status)-1]) {
				continue // a payload may be any JSON
			}
			got := s.send(rt.Method, s.path(rt.Path), secret, c.body, "Content-Type", c.kind)
			if got.status != c.status[0] && got.status != c.status[len(c.status)-1] {
				t.Errorf("%s %s, %s: got %d %s, want one of %d", rt.Method, rt.Path, name, got.status, got.body,
					c.status)
			}
			if s.contents() != before {
				t.Fatalf("%s %s, %s: changed the store", rt.Method, rt.Path, name)
			}
		}
	}
}

// allowedSecret returns the name of a principal that may use a route, or "anonymous".
func allowedSecret(rt httpapi.Route) string {
	for _, who := range []string{"ana", "bot", "eve"} {
		if wantStatus(who, principals[who], rt) == 0 {
			return who
		}
	}
	return "anonymous"
}

// Routes that need a token and have no body reject a request with a body.
func TestRoutesWithoutBodyRejectBodies(t *testing.T) {
	s := newRouteFixture(t)
	for _, rt := range httpapi.Table() {
		if rt.Body || rt.Open {
			continue
		}
		if got := s.send(rt.Method, s.path(rt.Path), s.token(principals[allowedSecret(rt)]),
			`{}`); got.status != http.StatusBadRequest {
			t.Errorf("%s %s with a body: got %d %s, want 400", rt.Method, rt.Path, got.status, got.body)
		}
	}
}
