package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
)

// A failure is the page for an error, with its status.
type failure struct {
	status int
	pages.Notice
}

// failures maps the errors that a person can act on to their pages. No page reveals anything about an ask:
// unknown asks and asks of other people get the same page (T20).
var failures = []struct {
	err error
	failure
}{
	{askback.ErrUnauthorized, failure{http.StatusUnauthorized, pages.Notice{
		Heading: "Log in first",
		Command: "askback login",
		After: "On another machine, set ASKBACK_URL to the address of this server and ASKBACK_TOKEN to your " +
			"token first.",
	}}},
	{errInsecure, failure{http.StatusForbidden, pages.Notice{
		Heading: "This connection is not secure",
		Body: []string{
			"This page was opened over plain http from another machine. Anyone on the network could read a log-in, " +
				"so this server does not accept a log-in here.",
			"Use https, or open the page on the server's own machine at http://127.0.0.1.",
		},
	}}},
	{errProxy, failure{http.StatusForbidden, pages.Notice{
		Heading: "This connection is not secure",
		Body: []string{
			"This server uses https, and this request came without it. Open its address that begins with https.",
			"If you did so already, the reverse proxy must forward Host and set X-Forwarded-Proto. Please tell the " +
				"person who " +
				"runs this server.",
		},
	}}},
	{errAdminOnly, failure{http.StatusForbidden, pages.Notice{
		Heading: "Only for admins",
		Body: []string{
			"You are logged in, but this page is for admins. Please ask the person who runs this server.",
		},
		Home: true,
	}}},
	{askback.ErrSelfApproval, failure{http.StatusForbidden, pages.Notice{
		Heading: "Another person must decide",
		Body:    []string{"You started this session, so you must not settle what it asks. Nothing has changed."},
		Home:    true,
	}}},
	{askback.ErrNotApprover, failure{http.StatusForbidden, pages.Notice{
		Heading: "Other people decide this call",
		Body: []string{
			"The routes of this server let only other people decide this call. The page of the call names them. " +
				"Nothing has changed.",
		},
		Home: true,
	}}},
	{askback.ErrForbidden, failure{http.StatusForbidden, pages.Notice{
		Heading: "This token cannot answer questions",
		Body: []string{"This browser is logged in with the token of an agent or an operator, which may not " +
			"answer questions. To log in as a person, run this in a terminal:"},
		Command: "askback login",
	}}},
	{errCrossSite, failure{http.StatusForbidden, pages.Notice{
		Heading: "This form came from another site",
		Body:    []string{"This form was not sent from a page of this server. Nothing has changed."},
		Home:    true,
	}}},
	{askback.ErrNotFound, failure{http.StatusNotFound, pages.Notice{
		Heading: "Not found",
		Body:    []string{"This page does not exist, or you may not see it."},
		Home:    true,
	}}},
	{errForm, failure{http.StatusBadRequest, pages.Notice{
		Heading: "This form could not be read",
		Body:    []string{"Nothing has changed. Open the page again and send the form from there."},
		Home:    true,
	}}},
	{errSnoozeTime, failure{http.StatusUnprocessableEntity, pages.Notice{
		Heading: "Not snoozed",
		Body: []string{
			"Choose a time in the future, at most a year from now. Go back in your browser to choose another one.",
		},
		Home: true,
	}}},
	{errSnoozes, failure{http.StatusUnprocessableEntity, pages.Notice{
		Heading: "Not snoozed",
		Body:    []string{"You have snoozed too many questions. Answer some of them, or show them now."},
		Home:    true,
	}}},
	{errTooLarge, failure{http.StatusRequestEntityTooLarge, pages.Notice{
		Heading: "Too much text",
		Body: []string{
			"Nothing has changed. Go back in your browser and shorten your text: what you typed is still there.",
		},
	}}},
	{askback.ErrFull, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrBusy, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrStopping, failure{http.StatusServiceUnavailable, busy}},
	{askback.ErrUnknown, failure{http.StatusServiceUnavailable, pages.Notice{
		Heading: "Check whether this was saved",
		Body: []string{"The server could not find out whether it saved what you sent. Open the page again. If " +
			"your answer is not there, send it again."},
		Home: true,
	}}},
	{askback.ErrDiskFull, failure{http.StatusInsufficientStorage, pages.Notice{
		Heading: "The server's disk is full",
		Body: []string{
			"Nothing has changed. The server cannot save anything until there is space on its disk. You can still " +
				"read everything.",
			"Please tell the person who runs this server. Go back in your browser: what you typed is still there.",
		},
		Home: true,
	}}},
	{askback.ErrDamaged, failure{http.StatusInternalServerError, pages.Notice{
		Heading: "This record is damaged",
		Body: []string{"The database does not contain what was written, so this page is not shown. Other pages " +
			"work. Please tell the person who runs this server to run this command, which lists what is damaged:"},
		Command: "askback doctor",
		Home:    true,
	}}},
	{context.Canceled, failure{http.StatusServiceUnavailable, busy}},
	{context.DeadlineExceeded, failure{http.StatusServiceUnavailable, busy}},
}

var busy = pages.Notice{
	Heading: "Try again in a moment",
	Body:    []string{"The server is busy or is stopping. Go back in your browser: what you typed is still there."},
}

func failureOf(err error) failure {
	var invalid askback.Invalid
	if errors.As(err, &invalid) { // the address is in no link of a page, for example because its cursor is invalid
		err = askback.ErrNotFound
	}
	for _, f := range failures {
		if errors.Is(err, f.err) {
			return f.failure
		}
	}
	return failure{http.StatusInternalServerError, pages.Notice{
		Heading: "Something went wrong",
		Body: []string{"This is an error of the server, and its log has the details. Go back in your browser: " +
			"what you typed is still there."},
		Home: true,
	}}
}
