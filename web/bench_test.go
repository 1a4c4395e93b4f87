package web_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// newBenchServer returns a server with the pages on the real clock, and a cookie of ana.
func newBenchServer(b *testing.B) (e *engine.Engine, pages http.Handler, cookie string) {
	b.Helper()
	e = engine.New(memstore.New(), nil)
	secret, err := e.NewSecret()
	if err == nil {
		err = e.Adopt(b.Context(), askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}, secret)
	}
	if err != nil {
		b.Fatal(err)
	}
	return e, web.New(e, nil), "askback=" + secret
}

func benchAsk(b *testing.B, e *engine.Engine, n int) askback.Ask {
	b.Helper()
	r := []askback.Request{single, harmless, form, call}[n%4]
	r.Agent = fmt.Sprint("agent-", n%7)
	a, err := e.As(askback.Principal{Kind: askback.Agent, Name: fmt.Sprint("bot-", n%7), Channel: askback.ChannelAPI}).Ask(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// A list with a thousand pending asks is served in less than 50 ms.
func BenchmarkListOfThousandPending(b *testing.B) {
	e, pages, cookie := newBenchServer(b)
	for n := range 1000 {
		benchAsk(b, e, n)
	}
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7575/?order=urgent&group=agent", nil)
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		if pages.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatalf("got status %d", w.Code)
		}
	}
}

// A new ask is sent to 200 open pages in less than 100 ms (p95 over the pages).
func BenchmarkNewAskOnOpenPages(b *testing.B) {
	const open = 200
	e, pages, cookie := newBenchServer(b)
	server := httptest.NewServer(pages)
	defer server.Close()
	cursor, err := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}).List(b.Context(), askback.Query{})
	if err != nil {
		b.Fatal(err)
	}
	arrived := make(chan time.Time, open)
	for range open {
		r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/live?after="+string(cursor.EventsCursor), nil)
		r.Header.Set("Cookie", cookie)
		reply, err := http.DefaultClient.Do(r)
		if err != nil || reply.StatusCode != http.StatusOK {
			b.Fatalf("got %v, %v", reply, err)
		}
		defer reply.Body.Close()
		go func() {
			for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
				if strings.Contains(lines.Text(), `id="row-ask_`) {
					arrived <- time.Now()
				}
			}
		}()
	}
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		benchAsk(b, e, n)
		for range open {
			took = append(took, (<-arrived).Sub(began))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
