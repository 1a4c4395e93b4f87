package telemetry_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/telemetry"
	"github.com/askback/askback/store/memstore"
)

// read returns the metrics as the handler serves them.
func read(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func wantLines(t *testing.T, got string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(got, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			name, _, _ = strings.Cut(name, " ")
			t.Errorf("no line %s; those with %s are\n%s", line, name,
				strings.Join(regexp.MustCompile(`(?m)^`+name+`.*$`).FindAllString(got, -1), "\n"))
		}
	}
}

// The metrics of an engine count the asks and their outcomes, and measure the time until the outcome (F16).
func TestMetricsCountAsks(t *testing.T) {
	now := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	m := telemetry.New("1.2.3", slog.New(slog.DiscardHandler))
	e := engine.New(memstore.New(), &engine.Options{Now: func() time.Time { return now }, Observer: m})
	m.Watch(e.Load, func() telemetry.Database { return telemetry.Database{Bytes: 4096, Damaged: 2, DiskFull: true} })
	agent, ana := e.As(askback.Principal{Kind: askback.Agent, Name: "robot"}),
		e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	ask := func() askback.Ask {
		t.Helper()
		a, err := agent.Ask(t.Context(),
			askback.Request{Questions: []askback.Question{{Text: "Which secret database?"}}, Agent: "robot"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first, second := ask(), ask()
	now = now.Add(10 * time.Minute)
	ask()
	if _, err := ana.Decline(t.Context(), ask().ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := ana.Answer(t.Context(), first.ID,
		askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "SQLite"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := ana.Answer(
		t.Context(), first.ID, askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "PostgreSQL"}}},
	); !errors.Is(err, askback.ErrSettled) {
		t.Fatalf("got %v, want %v", err, askback.ErrSettled)
	}
	now = now.Add(5 * time.Second)
	if _, err := agent.Ack(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Cancel(t.Context(), second.ID, ""); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	got := read(t, m)
	wantLines(t, got,
		`askback_build_info{version="1.2.3"} 1`,
		`askback_asks_total{kind="question"} 4`,
		`askback_asks_total{kind="approval"} 0`,
		`askback_asks_settled_total{by="person",kind="question",status="answered"} 1`,
		`askback_asks_settled_total{by="agent",kind="question",status="cancelled"} 1`,
		`askback_asks_settled_total{by="person",kind="question",status="declined"} 1`,
		`askback_answer_seconds_count{kind="question"} 1`,
		`askback_late_answers_total{kind="question"} 1`,
		`askback_answer_seconds_bucket{kind="question",le="300"} 0`,
		`askback_answer_seconds_bucket{kind="question",le="900"} 1`,
		`askback_answer_seconds_sum{kind="question"} 600`,
		`askback_ack_seconds_sum{kind="question"} 5`,
		`askback_asks_pending 1`,
		`askback_oldest_pending_ask_seconds 65`,
		`askback_waiting_calls 0`,
		`askback_event_streams 0`,
		`askback_effects{state="dead"} 0`,
		`askback_database_bytes 4096`,
		`askback_database_failed 0`,
		`askback_disk_full 1`,
		`askback_damaged_rows 2`,
	)
	for _, secret := range []string{"secret database", "SQLite", "robot", "ana"} {
		if strings.Contains(got, secret) {
			t.Errorf("the metrics contain %q", secret)
		}
	}
}

// Waiting calls and streams are counted until they end.
func TestMetricsCountWaitingCalls(t *testing.T) {
	m := telemetry.New("", slog.New(slog.DiscardHandler))
	e := engine.New(memstore.New(), &engine.Options{Observer: m})
	m.Watch(e.Load, func() telemetry.Database { return telemetry.Database{} })
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "robot"})
	a, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Why?"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 2)
	go func() {
		_, _ = agent.Wait(ctx, a.ID)
		done <- struct{}{}
	}()
	go func() {
		for _, err := range agent.Events(ctx, a.SessionID, "") {
			if err != nil {
				break
			}
		}
		done <- struct{}{}
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); ; {
		got := read(t, m)
		if strings.Contains(got, "\naskback_waiting_calls 1\n") &&
			strings.Contains(got, "\naskback_event_streams 1\n") {
			break
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("the call and the stream are not counted:\n%s", got)
		}
	}
	cancel()
	<-done
	<-done
	wantLines(t, read(t, m), "askback_waiting_calls 0", "askback_event_streams 0")
}

// Requests are counted by route, and not by path, which clients choose.
func TestRequestsAreCountedByRoute(t *testing.T) {
	m := telemetry.New("", slog.New(slog.DiscardHandler))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /asks/{id}", func(http.ResponseWriter, *http.Request) {})
	for _, path := range []string{"/asks/ask_1", "/asks/ask_2", "/nowhere/secret"} {
		r := httptest.NewRequest("GET", path, nil)
		mux.ServeHTTP(httptest.NewRecorder(), r)
		m.Served(r, http.StatusOK, 20*time.Millisecond)
	}
	got := read(t, m)
	wantLines(t, got,
		`askback_http_requests_total{code="200",route="GET /asks/{id}"} 2`,
		`askback_http_requests_total{code="200",route="other"} 1`,
		`askback_http_request_seconds_bucket{route="GET /asks/{id}",le="0.005"} 0`,
		`askback_http_request_seconds_bucket{route="GET /asks/{id}",le="0.025"} 2`,
	)
	if strings.Contains(got, "secret") || strings.Contains(got, "ask_1") {
		t.Errorf("the metrics contain a path:\n%s", got)
	}
}

// If the database cannot be read, the other metrics are served, and the error is logged.
func TestMetricsAreReadWithoutTheDatabase(t *testing.T) {
	var log strings.Builder
	m := telemetry.New("", slog.New(slog.NewTextHandler(&log, nil)))
	m.Watch(func(context.Context) (engine.Load, error) { return engine.Load{}, askback.ErrDiskFull },
		func() telemetry.Database { return telemetry.Database{Failed: true} })
	got := read(t, m)
	wantLines(t, got, "askback_database_failed 1", `askback_asks_total{kind="question"} 0`)
	if strings.Contains(got, "askback_asks_pending ") || !strings.Contains(log.String(), askback.ErrDiskFull.Error()) {
		t.Errorf("got\n%s\nlog:\n%s", got, log.String())
	}
}

// The dashboard and the alerts in docs/monitoring use only existing metrics. README.md there lists every
// metric of Askback (F16).
func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	m := telemetry.New("", slog.New(slog.DiscardHandler))
	m.Watch(func(context.Context) (engine.Load, error) { return engine.Load{}, nil },
		func() telemetry.Database { return telemetry.Database{} })
	m.Committed(askback.EventQuestionAnswered, askback.Ask{Outcome: &askback.Outcome{}})
	m.Served(httptest.NewRequest("GET", "/", nil), http.StatusOK, 0)
	var known []string
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`).FindAllStringSubmatch(read(t, m), -1) {
		known = append(known, line[1])
		if line[2] == "histogram" {
			known = append(known, line[1]+"_bucket", line[1]+"_sum", line[1]+"_count")
		}
	}
	for _, file := range []string{"dashboard.json", "alerts.yaml", "README.md"} {
		b, err := os.ReadFile("../../../docs/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\baskback_[a-z_]*[a-z]\b`).FindAllString(string(b), -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !slices.Contains(known, name) {
				t.Errorf("%s uses %s, which does not exist", file, name)
			}
		}
		for _, name := range known {
			metric := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if file == "README.md" && strings.HasPrefix(metric, "askback_") &&
				!strings.Contains(string(b), "`"+metric) {
				t.Errorf("%s lacks %s", file, metric)
			}
		}
	}
}
