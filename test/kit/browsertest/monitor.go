package browsertest

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Monitor records requests to other machines, dialogs, and errors of pages. The
// zero value is ready for use with any number of windows.
type Monitor struct {
	mu         sync.Mutex
	requests   []string
	violations []string
}

// Requests returns the URLs of blocked requests to other machines.
func (m *Monitor) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Violations returns the dialogs, exceptions, logged errors and violations of the
// content security policy. A reply with the status of an error is not a
// violation.
func (m *Monitor) Violations() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.violations)
}

// Check fails the test if there were requests to other machines or violations.
func (m *Monitor) Check(t testing.TB) {
	t.Helper()
	for _, address := range m.Requests() {
		t.Errorf("request to %s", address)
	}
	for _, v := range m.Violations() {
		t.Error(v)
	}
}

func (m *Monitor) add(list *[]string, s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*list = append(*list, s)
}

// handle handles an event of the browser. It continues requests to this machine, blocks all other requests,
// closes dialogs, and records violations.
func (m *Monitor) handle(ctx context.Context, ev any) {
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		u, _ := url.Parse(ev.Request.URL)
		if u != nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
			go func() { _ = chromedp.Run(ctx, fetch.ContinueRequest(ev.RequestID)) }()
			return
		}
		m.add(&m.requests, ev.Request.URL)
		go func() { _ = chromedp.Run(ctx, fetch.FailRequest(ev.RequestID, network.ErrorReasonBlockedByClient)) }()
	case *page.EventJavascriptDialogOpening:
		m.add(&m.violations, "dialog: "+ev.Message)
		go func() { _ = chromedp.Run(ctx, page.HandleJavaScriptDialog(false)) }()
	case *log.EventEntryAdded:
		if ev.Entry.Source == log.SourceSecurity || ev.Entry.Level == log.LevelError && !strings.Contains(ev.Entry.Text,
			"the server responded with a status of") {
			m.add(&m.violations, "log: "+ev.Entry.Text+" "+ev.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		m.add(&m.violations, "exception: "+ev.ExceptionDetails.Text)
	}
}
