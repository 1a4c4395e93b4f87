package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/internal/server/telemetry"
)

// tracesTime is how long a stopping server may take to send the remaining spans.
const tracesTime = 5 * time.Second

// observe returns the metrics of a server, and a function that stops its traces. The metrics and the traces
// record the requests and the events of asks. Without a collector in the environment there are no traces.
func observe(
	ctx context.Context, records *serverlog.Log, o *engine.Options,
) (_ *telemetry.Metrics, stop func(), err error) {
	metrics := telemetry.New(version(), records.Logger)
	traces, err := telemetry.NewTraces(ctx, version(), records.Logger, os.Getenv)
	if err != nil {
		return nil, nil, usage(err.Error())
	}
	if traces == nil {
		records.Served, o.Observer = metrics.Served, observers{records, metrics}
		return metrics, func() {}, nil
	}
	records.Served = func(r *http.Request, status int, took time.Duration) {
		metrics.Served(r, status, took)
		traces.Served(r, status, took)
	}
	o.Observer = observers{records, metrics, traces}
	return metrics, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesTime)
		defer cancel()
		if err := traces.Close(limited); err != nil {
			records.Warn("traces are not sent", "error", err)
		}
	}, nil
}

// An observers is a list of observers for one engine.
type observers []engine.Observer

// Committed implements [engine.Observer].
func (all observers) Committed(event askback.EventType, a askback.Ask) {
	for _, o := range all {
		o.Committed(event, a)
	}
}
