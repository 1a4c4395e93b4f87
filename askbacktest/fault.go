package askbacktest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Fault describes how a [Receiver] fails when it gets a valid message. The zero value is [Accept].
type Fault struct {
	name  string
	loses bool // the receiver accepts the message, but the sender may not get the reply
	// serve sends the reply. For a slow fault, serve returns when the request ends or stopping is closed. If
	// serve is nil, the reply has status 204.
	serve func(w http.ResponseWriter, r *http.Request, stopping <-chan struct{})
}

// accepts reports whether the receiver records the message.
func (f Fault) accepts() bool { return f.serve == nil || f.loses }

// String returns the name of the fault, or "" for [Accept].
func (f Fault) String() string { return f.name }

// Accept is not a fault. The receiver accepts the message, and replies 204.
var Accept = Fault{}

// Status returns a fault that replies with a status. The receiver accepts the message if the status is 2xx.
// The status 410 ends the deliveries to a receiver. After any other status, the sender tries again.
func Status(status int) Fault { return statusWith(status, "", "") }

// StatusRetryAfter returns a fault that replies with a status, and with the header Retry-After in seconds. A
// fraction of a second counts as a whole second.
func StatusRetryAfter(status int, after time.Duration) Fault {
	seconds := int64((after + time.Second - 1) / time.Second)
	return statusWith(status, "Retry-After", strconv.FormatInt(seconds, 10))
}

// StatusRetryAt returns a fault that replies with a status, and with the header Retry-After as a date.
func StatusRetryAt(status int, at time.Time) Fault {
	return statusWith(status, "Retry-After", at.UTC().Format(http.TimeFormat))
}

// Redirect returns a fault that replies 307 with an address. A sender must not follow the redirect.
func Redirect(to string) Fault {
	return statusWith(http.StatusTemporaryRedirect, "Location", to)
}

func statusWith(status int, header, value string) Fault {
	f := Fault{name: fmt.Sprintf("status %d", status), loses: status/100 == 2}
	f.serve = func(w http.ResponseWriter, _ *http.Request, _ <-chan struct{}) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(status)
	}
	return f
}

// Hang returns a fault that does not reply until the sender gives up.
func Hang() Fault {
	return Fault{name: "hang", serve: func(_ http.ResponseWriter, r *http.Request, stopping <-chan struct{}) {
		select {
		case <-r.Context().Done():
		case <-stopping:
		}
		panic(http.ErrAbortHandler)
	}}
}

// CloseMidway returns a fault that closes the connection in the middle of the reply.
func CloseMidway() Fault {
	return Fault{name: "close midway", serve: hijack(func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le")
	})}
}

// NotHTTP returns a fault that replies with a text that is not HTTP, and closes the connection.
func NotHTTP(text string) Fault {
	return Fault{name: "not HTTP", serve: hijack(func(c net.Conn) { _, _ = io.WriteString(c, text) })}
}

// LoseReply returns a fault that accepts the message, and closes the connection without a reply. So the
// sender sends the message again.
func LoseReply() Fault {
	return Fault{name: "lose the reply", loses: true, serve: hijack(func(net.Conn) {})}
}

func hijack(write func(net.Conn)) func(http.ResponseWriter, *http.Request, <-chan struct{}) {
	return func(w http.ResponseWriter, _ *http.Request, _ <-chan struct{}) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // HTTP/2: the stream is reset
			panic(http.ErrAbortHandler)
		}
		write(c)
		_ = c.Close()
	}
}

// SlowBody returns a fault that accepts the message. Its reply has a body that does not end: it sends a byte
// every ten milliseconds, until the sender gives up.
func SlowBody() Fault {
	return Fault{
		name:  "slow body",
		loses: true, serve: func(w http.ResponseWriter, r *http.Request, stopping <-chan struct{}) {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for out := http.NewResponseController(w); ; {
				if _, err := io.WriteString(w, "."); err != nil || out.Flush() != nil {
					return
				}
				select {
				case <-r.Context().Done():
					return
				case <-stopping:
					return
				case <-tick.C:
				}
			}
		},
	}
}

// HugeBody returns a fault that accepts the message and replies with a body of n bytes.
func HugeBody(n int64) Fault {
	return Fault{
		name:  "huge body",
		loses: true, serve: func(w http.ResponseWriter, _ *http.Request, _ <-chan struct{}) {
			w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
			chunk := strings.Repeat("x", 1<<16)
			for n > 0 {
				part, err := io.WriteString(w, chunk[:min(n, int64(len(chunk)))])
				if n -= int64(part); err != nil {
					return
				}
			}
		},
	}
}
