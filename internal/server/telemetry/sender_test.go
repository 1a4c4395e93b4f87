package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	collectors "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A fakeCollector gives its replies one after another, and the last one to all further requests. It records
// the times of the requests.
type fakeCollector struct {
	replies []fakeReply
	times   []time.Duration // since the first request
	begun   time.Time
}

type fakeReply struct {
	status     int // 0 is a connection that is refused
	body       proto.Message
	retryAfter string
}

func (c *fakeCollector) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.begun.IsZero() {
		c.begun = time.Now()
	}
	c.times = append(c.times, time.Since(c.begun))
	next := c.replies[min(len(c.times), len(c.replies))-1]
	if next.status == 0 {
		return nil, errors.New("connection refused")
	}
	var body []byte
	if next.body != nil {
		body, _ = proto.Marshal(next.body)
	}
	header := http.Header{"Content-Type": {"application/x-protobuf"}}
	if next.status/100 == 3 {
		header.Set("Location", "http://elsewhere.test/")
	}
	if next.retryAfter != "" {
		header.Set("Retry-After", next.retryAfter)
	}
	return &http.Response{
		StatusCode: next.status, Status: http.StatusText(next.status), Header: header, Request: r,
		Body: io.NopCloser(strings.NewReader(string(body))),
	}, nil
}

// newFakeSender returns a sender to c, and the text of its log.
func newFakeSender(c *fakeCollector) (*sender, *strings.Builder) {
	var log strings.Builder
	s := newSender(collector{url: "http://collector.test/v1/traces", header: http.Header{}}, "1.2.3",
		slog.New(slog.NewTextHandler(&log, nil)))
	s.client.Transport = c
	return s, &log
}

// A request that fails for a reason that may pass is sent again: after growing pauses, and not before the
// time that the collector wants. Other failures are final.
func TestAttemptsAreRepeatedIfTheReasonMayPass(t *testing.T) {
	// Its fields are as in google.rpc.Status: 1 is a number, 2 the text.
	rejected := &collectors.ExportTracePartialSuccess{ErrorMessage: "too many spans"}
	for name, c := range map[string]struct {
		replies  []fakeReply
		attempts int
		atLeast  time.Duration // from the first to the last attempt
		want     string        // part of the error
	}{
		"accepted": {[]fakeReply{{status: 200}}, 1, 0, ""},
		"busy":     {[]fakeReply{{status: 429}, {status: 503}, {status: 200}}, 3, 1500 * time.Millisecond, ""},
		"gateway":  {[]fakeReply{{status: 502}, {status: 504}, {status: 200}}, 3, 1500 * time.Millisecond, ""},
		"refused":  {[]fakeReply{{}, {status: 200}}, 2, 500 * time.Millisecond, ""},
		"seconds":  {[]fakeReply{{status: 503, retryAfter: "20"}, {status: 200}}, 2, 20 * time.Second, ""},
		"date": {
			[]fakeReply{{status: 429, retryAfter: "Sat, 01 Jan 2000 00:00:30 GMT"}, {status: 200}},
			2,
			30 * time.Second, "",
		},
		"later than ever": {[]fakeReply{{status: 503, retryAfter: "90", body: rejected}}, 1, 0, "no more attempts: "},
		"invalid":         {[]fakeReply{{status: 400, body: rejected}}, 1, 0, `replied Bad Request "too many spans"`},
		"redirect":        {[]fakeReply{{status: 308}}, 1, 0, "replied Permanent Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, fake := c, &fakeCollector{replies: c.replies}
				s, _ := newFakeSender(fake)
				err := s.UploadTraces(t.Context(), []*spans.ResourceSpans{{}})
				if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got error %v, want %q", err, c.want)
				}
				if took := fake.times[len(fake.times)-1]; len(fake.times) != c.attempts || took < c.atLeast {
					t.Errorf("got attempts at %v, want %d in at least %s", fake.times, c.attempts, c.atLeast)
				}
			})
		})
	}
}

// The address of a collector may have an API key, as a password or in its query. Errors have neither.
func TestErrorsHaveNoSecretOfTheAddress(t *testing.T) {
	for name, reply := range map[string]fakeReply{"refused": {}, "busy": {status: 503}, "invalid": {status: 400}} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := newFakeSender(&fakeCollector{replies: []fakeReply{reply}})
			s.url = "https://ana:secret@collector.test/v1/traces?api_key=secret#secret"
			err := s.UploadTraces(t.Context(), nil)
			if err == nil || strings.Contains(err.Error(), "secret") ||
				!strings.Contains(err.Error(), "https://collector.test/v1/traces") {
				t.Errorf("%s: got %v, want an error with the address and without its secrets", name, err)
			}
		})
	}
}

// Attempts end within a minute, or when the caller cancels. The error is the last reply.
func TestAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeCollector{replies: []fakeReply{{status: 503}}}
		s, _ := newFakeSender(fake)
		err := s.UploadTraces(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "Service Unavailable") {
			t.Errorf("got %v, want the last reply", err)
		}
		if last := fake.times[len(fake.times)-1]; len(fake.times) < 5 || len(fake.times) > 9 || last > time.Minute {
			t.Errorf("got attempts at %v, want 5 to 9 in a minute", fake.times)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begun := time.Now()
		if err := s.UploadTraces(ctx, nil); err == nil || time.Since(begun) > 30*time.Second {
			t.Errorf("got %v after %s, want an error within 30 s", err, time.Since(begun))
		}
	})
}

// A server that stops does not wait for a collector: the pause before the next attempt ends.
func TestClosedSenderRepeatsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeCollector{replies: []fakeReply{{status: 503, retryAfter: "40"}}}
		s, _ := newFakeSender(fake)
		time.AfterFunc(time.Second, s.close)
		begun := time.Now()
		if err := s.UploadTraces(t.Context(), nil); err == nil || time.Since(begun) != time.Second {
			t.Errorf("got %v after %s, want the reply after 1s", err, time.Since(begun))
		}
		err := s.UploadTraces(t.Context(), nil)
		if err == nil || len(fake.times) != 2 || time.Since(begun) != time.Second {
			t.Errorf("after close: got %v, attempts at %v, want one more", err, fake.times)
		}
	})
}

func TestPartialSuccessIsLogged(t *testing.T) {
	reply := &collectors.ExportTraceServiceResponse{
		PartialSuccess: &collectors.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"},
	}
	s, log := newFakeSender(&fakeCollector{replies: []fakeReply{{status: 200, body: reply}}})
	if err := s.UploadTraces(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want := `level=WARN msg="the collector did not store all spans" rejected=3 reason="too old"`
	if !strings.Contains(log.String(), want) {
		t.Errorf("got log %q, want %q", log, want)
	}
	s, log = newFakeSender(&fakeCollector{replies: []fakeReply{{status: 200}}})
	if err := s.UploadTraces(t.Context(), nil); err != nil || log.Len() > 0 {
		t.Errorf("without a partial success: got %v, log %q", err, log)
	}
}
