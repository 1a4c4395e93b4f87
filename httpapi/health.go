package httpapi

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// yield serves POST /yield. It makes this process release its local database. It returns a problem if the
// server cannot release a database.
func (c *call) yield() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	if c.h.options.Yield == nil {
		return problem{
			Status: http.StatusConflict, Type: "not-yielding", Detail: "this server does not release its database",
		}
	}
	if err := c.h.options.Yield(); err != nil {
		return err
	}
	return c.reply(http.StatusAccepted, map[string]string{"status": "yielding"})
}

// health is the reply of /healthz and /readyz. Absent values are null (docs/wire.md §2).
type health struct {
	Status   string   `json:"status"`
	Proof    *string  `json:"proof"`
	Settings *string  `json:"settings"`
	Damaged  []string `json:"damaged"`
	People   *string  `json:"people"`
}

// A Readiness holds the warnings of a server that accepts calls.
type Readiness struct {
	Settings string   // the error in the settings file
	Damaged  []string // the records that were found damaged
	People   string   // the problems of people, groups and routes
}

// healthz replies with status 200. If the request has a nonce and the server can prove its identity, the
// reply has the proof. The length of a nonce is limited, so that a proof is not a signature of arbitrary
// text.
func (c *call) healthz() error {
	out := health{Status: "ok", Damaged: []string{}}
	if nonce := c.r.URL.Query().Get("nonce"); nonce != "" && c.h.options.Proof != nil {
		if len(nonce) < 16 || len(nonce) > 128 {
			return askback.Invalid{{Pointer: "?nonce", Detail: "must have 16 to 128 characters", Fix: "nonce=…"}}
		}
		proof := c.h.options.Proof(nonce)
		out.Proof = &proof
	}
	return c.reply(http.StatusOK, out)
}

func (c *call) readyz() error {
	out := health{Status: "ready", Damaged: []string{}}
	if c.h.options.Ready != nil {
		ready, err := c.h.options.Ready(c.r.Context())
		switch {
		case errors.Is(err, askback.ErrDiskFull):
			return err
		case errors.Is(err, askback.ErrDamaged):
			return problem{Status: http.StatusServiceUnavailable, Type: "damaged", Detail: err.Error()}
		case err != nil:
			return problem{Status: http.StatusServiceUnavailable, Type: "failed", Detail: err.Error()}
		}
		out.Damaged = append(out.Damaged, ready.Damaged...)
		if ready.Settings != "" {
			out.Settings = &ready.Settings
		}
		if ready.People != "" {
			out.People = &ready.People
		}
	}
	if c.h.stopping.Err() != nil {
		return askback.ErrStopping
	}
	return c.reply(http.StatusOK, out)
}

func (c *call) metrics() error {
	if c.h.options.Metrics == nil {
		return problem{Status: http.StatusNotFound, Type: "not-found", Detail: "this server has no metrics"}
	}
	c.h.options.Metrics.ServeHTTP(c.w, c.r)
	return nil
}
