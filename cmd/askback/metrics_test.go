package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// F16: an operator reads the metrics of a server, which count asks, answers and requests. The metrics contain
// no token, and no text of an agent or a person.
func TestMetricsCountAsksAnswersAndRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	operator := strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "operator", "--name", "prometheus"))
	asked := s.call(s.agent, "POST", "/asks",
		`{"question": "Which canary database?", "options": ["PostgreSQL", "SQLite"]}`, http.StatusCreated)
	id, _ := asked["id"].(string)
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answers": [{"id": "q1", "selected": ["SQLite"]}]}`, http.StatusOK)
	s.call(s.agent, "POST", "/asks", `{"question": "Which canary port?"}`, http.StatusCreated)
	s.call(s.agent, "GET", "//metrics", "", http.StatusForbidden)
	s.call(s.user, "GET", "//metrics", "", http.StatusForbidden)

	announced, _ := s.place.Last()
	req, err := http.NewRequestWithContext(t.Context(), "GET", announced.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+operator)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK ||
		!strings.HasPrefix(reply.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("got %s, %q, %v", reply.Status, reply.Header.Get("Content-Type"), err)
	}
	got := string(b)
	for _, want := range []string{
		`askback_asks_total{kind="question"} 2`,
		`askback_asks_settled_total{by="person",kind="question",status="answered"} 1`,
		"askback_asks_pending 1",
		`askback_http_requests_total{code="201",route="POST /api/v1/asks"} 2`,
		`askback_http_requests_total{code="403",route="GET /metrics"} 2`,
		"askback_database_failed 0",
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	for _, canary := range []string{"canary", "SQLite", "robot", "ana", id, s.agent, s.user, operator} {
		if strings.Contains(got, canary) {
			t.Errorf("the metrics contain %q", canary)
		}
	}
	if strings.Contains(got, "askback_database_bytes 0\n") {
		t.Error("the database has no size")
	}
	if t.Failed() {
		t.Log(got)
	}
}
