// Package disk reads a system-call trace of a running server. It finds replies that were
// sent after a request for a change without a sync to disk in between.
package disk

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// A Finding summarizes the requests of a trace that ask, answer, decline, cancel or
// consume.
type Finding struct {
	Requests int      // requests with a reply
	Syncs    int      // successful syncs of the write-ahead log
	Early    []string // replies without a complete sync after their request
}

// The lines of strace -f -yy. A call is in one line, or in two lines with lines of
// other threads in between.
var (
	wholeCall = regexp.MustCompile(`^(\d+)\s+(\w+)\((\d+)<((?:->|[^>])*)>[,)]?(.*)$`)
	cutCall   = regexp.MustCompile(`^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$`)
	// durable matches the requests of a [Finding]. Their first byte may be missing, because net/http reads it
	// to detect a closed connection. The first 14 bytes may be missing, because net/http reads them to detect
	// HTTP/2.
	durable = regexp.MustCompile(`"(?:P?OST /api/v1/a)?sks( |/[a-z0-9_]+/(answer|decline|cancel|consume) )`)
)

// A call is a system call of one thread that has begun.
type call struct {
	name  string
	fd    string // number and name
	begun int    // line
}

// A reader reads a trace line by line.
type reader struct {
	line    int
	open    map[string]call // by thread
	synced  int             // line at which the latest successful sync began
	waiting map[string]int  // the lines of the requests on connections without a reply
	found   Finding
}

// Read reads the output of strace -f -yy -e trace=read,write,fsync,fdatasync.
func Read(in io.Reader) (Finding, error) {
	r := &reader{open: map[string]call{}, waiting: map[string]int{}, synced: -1}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r.line++
		r.parse(lines.Text())
	}
	return r.found, lines.Err()
}

func (r *reader) parse(text string) {
	if m := cutCall.FindStringSubmatch(text); m != nil {
		c, ok := r.open[m[1]]
		delete(r.open, m[1])
		if ok && c.name == m[2] {
			r.end(c, m[3])
		}
		return
	}
	m := wholeCall.FindStringSubmatch(text)
	if m == nil {
		return
	}
	c := call{name: m[2], fd: m[3] + "<" + m[4], begun: r.line}
	r.begin(c)
	if strings.HasSuffix(text, "<unfinished ...>") {
		r.open[m[1]] = c
		return
	}
	r.end(c, m[5])
}

// begin handles the start of a call. A write to a connection with a waiting request begins
// its reply.
func (r *reader) begin(c call) {
	since, pending := r.waiting[c.fd]
	if c.name != "write" || !pending {
		return
	}
	delete(r.waiting, c.fd)
	r.found.Requests++
	if r.synced < since {
		r.found.Early = append(r.found.Early,
			fmt.Sprintf("line %d: a reply to the request of line %d without a sync in between", r.line, since))
	}
}

// end handles the end of a call. It records a request that was read, and a successful sync
// of the write-ahead log.
func (r *reader) end(c call, rest string) {
	switch c.name {
	case "read":
		if durable.MatchString(rest) {
			r.waiting[c.fd] = r.line
		}
	case "fsync", "fdatasync":
		if strings.HasSuffix(c.fd, "-wal") && strings.HasSuffix(strings.TrimSpace(rest), "= 0") {
			r.found.Syncs++
			r.synced = max(r.synced, c.begun)
		}
	}
}
