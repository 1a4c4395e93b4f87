// Package telemetry counts the work of a server, and serves the numbers in the format of Prometheus. No label
// has text of an agent or a person, so the numbers reveal neither questions nor names. Each metric has a
// limited number of labels.
package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// The upper bounds of the histograms, in seconds. People take minutes or days to answer. An agent that waits
// acknowledges immediately, and an agent that was restarted takes longer.
var (
	answerBounds  = []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
	ackBounds     = []float64{.01, .1, 1, 10, 60, 600, 3600, 24 * 3600}
	requestBounds = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60}
)

// Metrics count the work of one server. They implement [engine.Observer].
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler

	asks, settled, late, attempts *prometheus.CounterVec
	answer, ack                   *prometheus.HistogramVec
	requests                      *prometheus.CounterVec
	took                          *prometheus.HistogramVec
}

// New returns the metrics of this version of the program, with all counts 0. Errors in reading the metrics
// are written to log.
func New(version string, log *slog.Logger) *Metrics {
	s := &Metrics{
		registry: prometheus.NewRegistry(),
		asks:     counter("asks_total", "Asks that were made, by kind: question or approval.", "kind"),
		settled: counter("asks_settled_total",
			"Asks that ended, by kind, by status (answered, declined, cancelled or expired), and by who ended them "+
				"(person, timer, policy, agent or operator).", "kind", "status", "by"),
		late: counter("late_answers_total", "Answers that came after the ask had ended, by kind of the ask.", "kind"),
		attempts: counter("delivery_attempts_total",
			"Attempts to send a message about an ask that have ended, by result: sent or failed.",
			"result"),
		answer: histogram("answer_seconds", "Time from an ask until a person answered it, by kind.", answerBounds,
			"kind"),
		ack: histogram("ack_seconds", "Time from the end of an ask until its agent acknowledged it, by kind.",
			ackBounds, "kind"),
		requests: counter("http_requests_total", "HTTP requests that have ended, by route and status. Long polls "+
			"and event streams end when there is an answer or the client leaves.",
			"route", "code"),
		took: histogram("http_request_seconds", "Duration of HTTP requests, by route.", requestBounds, "route"),
	}
	build := prometheus.NewGaugeVec(
		prometheus.GaugeOpts{Name: "askback_build_info", Help: "The version of Askback; the value is 1."},
		[]string{"version"},
	)
	build.WithLabelValues(version).Set(1)
	s.registry.MustRegister(build, s.asks, s.settled, s.late, s.attempts, s.answer, s.ack, s.requests, s.took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// the counts begin with 0, so that a rate is known from the first event
	for _, kind := range []string{kindQuestion, kindApproval} {
		s.asks.WithLabelValues(kind)
		s.late.WithLabelValues(kind)
		s.answer.WithLabelValues(kind)
		s.ack.WithLabelValues(kind)
	}
	s.attempts.WithLabelValues("sent")
	s.attempts.WithLabelValues("failed")
	s.handler = promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	})
	return s
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "askback_" + name, Help: help}, labels)
}

func histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "askback_" + name, Help: help, Buckets: bounds},
		labels)
}

// ServeHTTP replies with all metrics. The caller has checked the permission.
func (s *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// The kinds of asks.
const (
	kindQuestion = "question"
	kindApproval = "approval"
)

func kindOf(a *askback.Ask) string {
	if a.Confirmation != nil {
		return kindApproval
	}
	return kindQuestion
}

// Committed counts an event of an ask. It implements [engine.Observer].
func (s *Metrics) Committed(event askback.EventType, a askback.Ask) {
	kind := kindOf(&a)
	switch {
	case event == askback.EventQuestionPending:
		s.asks.WithLabelValues(kind).Inc()
	case event.Settles() && a.Outcome != nil:
		s.settled.WithLabelValues(kind, string(a.Outcome.Status), string(a.Outcome.Actor.Kind)).Inc()
		if event == askback.EventQuestionAnswered && a.Outcome.Actor.Kind == askback.ActorPerson {
			s.answer.WithLabelValues(kind).Observe(a.Outcome.At.Sub(a.CreatedAt).Seconds())
		}
	case event == askback.EventAnswerAcked && a.Outcome != nil:
		s.ack.WithLabelValues(kind).Observe(a.AckedAt.Sub(a.Outcome.At).Seconds())
	case event == askback.EventAnswerRefused:
		s.late.WithLabelValues(kind).Inc()
	case event == askback.EventDeliverySent:
		s.attempts.WithLabelValues("sent").Inc()
	case event == askback.EventDeliveryFailed:
		s.attempts.WithLabelValues("failed").Inc()
	}
}

// Served counts an HTTP request that has ended. The request must have been served by an [http.ServeMux],
// whose pattern is the route. A path could have any number of values.
func (s *Metrics) Served(r *http.Request, status int, took time.Duration) {
	route := cmp.Or(routeOf(r), "other")
	s.requests.WithLabelValues(route, statuses[status%len(statuses)]).Inc()
	s.took.WithLabelValues(route).Observe(took.Seconds())
}

// routeOf returns the pattern of the [http.ServeMux] that served a request, or "".
func routeOf(r *http.Request) string { return r.Pattern }

// statuses holds the texts of the numbers below 1000, so that a request allocates no text for its status.
var statuses = func() (all [1000]string) {
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}()

// A Database describes the database at the time when the metrics are read.
type Database struct {
	Bytes    int64 // the size of the files of the database
	Failed   bool  // the database can be neither read nor written
	DiskFull bool  // the database cannot be written, because the disk is full
	Damaged  int   // the number of rows that were found damaged
}

// Watch reads the load and the database each time that metrics are read. Call it once, before the first
// request.
func (s *Metrics) Watch(load func(context.Context) (engine.Load, error), database func() Database) {
	s.registry.MustRegister(&watcher{load, database})
}

// A watcher implements [prometheus.Collector].
type watcher struct {
	load     func(context.Context) (engine.Load, error)
	database func() Database
}

// The metrics of a watcher.
var (
	pending = gauge("asks_pending", "Open asks.")
	oldest  = gauge("oldest_pending_ask_seconds", "Age of the oldest open ask; 0 without one.")
	calls   = gauge("waiting_calls", "Calls of agents and programs that wait for the end of an ask.")
	streams = gauge("event_streams", "Open event streams, including the streams of pages.")
	effects = gauge("effects", "Messages and other effects that have not succeeded yet, by state: waiting for an "+
		"attempt, claimed, or dead (no longer retried).", "state")
	size     = gauge("database_bytes", "Size of the database, with its write-ahead log.")
	failed   = gauge("database_failed", "1 if the database can be neither read nor written until a restart.")
	full     = gauge("disk_full", "1 if the disk has no room for the database.")
	damaged  = gauge("damaged_rows", "Damaged rows that were read since the start; at most the first few are counted.")
	allRead  = []*prometheus.Desc{pending, oldest, calls, streams, effects, size, failed, full, damaged}
	loadTime = 5 * time.Second // the timeout of a reading
)

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("askback_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (w *watcher) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allRead {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. If the load cannot be read, it sends an error and the metrics of
// the database.
func (w *watcher) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	flag := func(d *prometheus.Desc, is bool) {
		value := 0.0
		if is {
			value = 1
		}
		send(d, value)
	}
	db := w.database()
	send(size, float64(db.Bytes))
	flag(failed, db.Failed)
	flag(full, db.DiskFull)
	send(damaged, float64(db.Damaged))

	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	l, err := w.load(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(pending, err)
		return
	}
	age := time.Duration(0)
	if !l.Oldest.IsZero() {
		age = max(0, l.Now.Sub(l.Oldest))
	}
	send(pending, float64(l.Pending))
	send(oldest, age.Seconds())
	send(calls, float64(l.Calls))
	send(streams, float64(l.Streams))
	send(effects, float64(l.Effects.Waiting), "waiting")
	send(effects, float64(l.Effects.Claimed), "claimed")
	send(effects, float64(l.Effects.Dead), "dead")
}
