// Package disk reads a system-call trace of a running server and says whether
// anything was acknowledged before it was on the disk.
package disk

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// A Finding is what a trace says about the requests that ask or answer.
type Finding struct {
	Requests int      // that were read and replied to
	Syncs    int      // of the write-ahead log, that succeeded
	Early    []string // replies without a whole sync since their request was read
}

// The lines of strace -f -yy: a call and its end in one, or in two with other
// threads between them.
var (
	wholeCall = regexp.MustCompile(`^(\d+)\s+(\w+)\((\d+)<((?:->|[^>])*)>[,)]?(.*)$`)
	cutCall   = regexp.MustCompile(`^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$`)
	// A server may have read the first byte before, to see whether its client
	// is still there, or the first fourteen, to see whether it speaks HTTP/2.
	durable = regexp.MustCompile(`"(?:P?OST /api/v1/a)?sks( |/[a-z0-9_]+/(answer|decline|cancel|consume) )`)
)

// call is a system call of one thread that has begun.
type call struct {
	name  string
	fd    string // number and what it is
	begun int    // line
}

// reader follows a trace line by line.
type reader struct {
	line    int
	open    map[string]call // by thread
	synced  int             // line at which the newest successful sync began
	waiting map[string]int  // connections that owe a reply, and since when
	found   Finding
}

// Read follows a trace of strace -f -yy -e trace=read,write,fsync,fdatasync.
func Read(in io.Reader) (Finding, error) {
	r := &reader{open: map[string]call{}, waiting: map[string]int{}, synced: -1}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r.line++
		r.follow(lines.Text())
	}
	return r.found, lines.Err()
}

func (r *reader) follow(text string) {
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

// begin looks at what is true as soon as a call begins: a reply is under way.
func (r *reader) begin(c call) {
	since, owed := r.waiting[c.fd]
	if c.name != "write" || !owed {
		return
	}
	delete(r.waiting, c.fd)
	r.found.Requests++
	if r.synced < since {
		r.found.Early = append(r.found.Early, fmt.Sprintf("line %d: a reply to what was read in line %d, with no sync since", r.line, since))
	}
}

// end looks at what is true once a call has ended: a request was read, or the
// log is on the disk.
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
