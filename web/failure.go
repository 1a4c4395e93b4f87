package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/web/pages"
)

// A failure is an error as a person sees it.
type failure struct {
	status int
	pages.Notice
}

// failures has a row for each error that a person can do something about. None says
// anything about an ask: unknown and not yours are the same page (T20).
var failures = []struct {
	err error
	failure
}{
	{askback.ErrUnauthorized, failure{http.StatusUnauthorized, pages.Notice{
		Heading: "Log in first",
		Command: "askback login",
		After:   "On another machine, set ASKBACK_URL to the address of this server and ASKBACK_TOKEN to your token first.",
	}}},
	{errClear, failure{http.StatusForbidden, pages.Notice{
		Heading: "Not over this connection",
		Body: []string{
			"You came over plain http from another machine. A log-in would travel in the clear, for everybody on the way to read, so this server makes none here.",
			"Use https, or open the page on the machine itself under http://127.0.0.1.",
		},
	}}},
	{errProxy, failure{http.StatusForbidden, pages.Notice{
		Heading: "Not over this connection",
		Body: []string{
			"This server is reached by https, and this request came without it. Open the address that begins with https.",
			"If you did: the proxy before this server must pass on Host and set X-Forwarded-Proto. Tell that to whoever runs it.",
		},
	}}},
	{askback.ErrForbidden, failure{http.StatusForbidden, pages.Notice{
		Heading: "Not with this token",
		Body:    []string{"This browser is logged in with a token that may not read or answer asks: an agent's or an operator's. Log in as a person:"},
		Command: "askback login",
	}}},
	{errCrossSite, failure{http.StatusForbidden, pages.Notice{
		Heading: "Not from another site",
		Body:    []string{"This form was sent from somewhere else than this server's own pages. Nothing has changed."},
		Home:    true,
	}}},
	{askback.ErrNotFound, failure{http.StatusNotFound, pages.Notice{
		Heading: "Not found",
		Body:    []string{"There is no such page, or it is not for you."},
		Home:    true,
	}}},
	{errForm, failure{http.StatusBadRequest, pages.Notice{
		Heading: "This form was not understood",
		Body:    []string{"Nothing has changed. Open the page again and answer there."},
		Home:    true,
	}}},
	{errTooLarge, failure{http.StatusRequestEntityTooLarge, pages.Notice{
		Heading: "Too much text",
		Body:    []string{"Nothing was sent. Go back in your browser: what you typed is still there, and shorten it."},
	}}},
	{askback.ErrFull, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrBusy, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrStopping, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrUnknown, failure{http.StatusServiceUnavailable, pages.Notice{
		Heading: "Look whether this was done",
		Body:    []string{"The server could not find out whether it kept what you sent. Open the page again: if it is not there, send it again."},
		Home:    true,
	}}},
	{askback.ErrDiskFull, failure{http.StatusInsufficientStorage, pages.Notice{
		Heading: "The disk of the server is full",
		Body: []string{
			"Nothing was changed. Nothing can be kept until there is room on the disk, and then this works again by itself. You can read what is there.",
			"Go back in your browser: what you typed is still there. Tell the person who runs this server.",
		},
		Home: true,
	}}},
	{askback.ErrDamaged, failure{http.StatusInternalServerError, pages.Notice{
		Heading: "This is damaged in the database",
		Body:    []string{"It reads otherwise than it was written, so it is not shown. The rest is as it was. Tell the person who runs this server: this command names what is damaged."},
		Command: "askback doctor",
		Home:    true,
	}}},
	{context.Canceled, failure{http.StatusServiceUnavailable, busy}},
	{context.DeadlineExceeded, failure{http.StatusServiceUnavailable, busy}},
}

var busy = pages.Notice{
	Heading: "Try again in a moment",
	Body:    []string{"The server is busy or just stopping. Go back in your browser: what you typed is still there."},
}

func failureOf(err error) failure {
	var invalid askback.Invalid
	if errors.As(err, &invalid) { // of an address that no page links to, such as a cursor
		err = askback.ErrNotFound
	}
	for _, f := range failures {
		if errors.Is(err, f.err) {
			return f.failure
		}
	}
	return failure{http.StatusInternalServerError, pages.Notice{
		Heading: "Something broke here",
		Body:    []string{"It is not your fault, and it is in the log of the server. Go back in your browser: what you typed is still there."},
		Home:    true,
	}}
}
