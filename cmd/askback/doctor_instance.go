package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/askback/askback/internal/instance"
)

// answerTime is how long whoever holds the database may take to prove itself.
const answerTime = 3 * time.Second

// holder looks who holds the database. It takes the lock for a moment, if it is there
// and free: commands that want it just then try again.
func (d *doctor) holder(ctx context.Context) {
	const check = "holder"
	path, err := d.all.database(d.file)
	if err != nil {
		d.fail("database", "", "%v", err)
		return
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		d.database = path
		d.ok(check, "no process holds the database")
		return
	}
	place, err := instance.At(path)
	if err != nil {
		d.fail("database", "mend the link", "%v", err)
		return
	}
	d.database = place.Database
	d.held, err = isHeld(place.Database)
	announced := false
	d.server, announced = place.Last()
	switch {
	case err != nil:
		d.fail(check, "let this user write there", "%v", err)
	case d.held && !announced:
		d.fail(check, "look again in a moment; if it stays so, end the process that has the lock file open",
			"a process holds the database and says nowhere who it is")
	case d.held:
		d.holds(ctx)
	case announced:
		d.warn(check, "nothing needs to be done: the next command replaces what it left",
			"no process holds the database; process %d served it last, and was killed", d.server.PID)
	default:
		d.ok(check, "no process holds the database")
	}
}

// holds asks the server of server.json to prove that it is the one.
func (d *doctor) holds(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	s := d.server
	if err := s.Proves(ctx); err != nil {
		d.fail("holder", "look again in a moment; if it stays so, end that process: it is safe to kill",
			"process %d (%s) holds the database and does not answer at %s: %v", s.PID, s.Kind, s.URL, err)
		return
	}
	d.answers = true
	d.ok("holder", "process %d (%s, version %s) holds the database and answers at %s", s.PID, s.Kind, s.Version, s.URL)
}

// isHeld says whether another process has the lock. A lock file that is not there is
// not made.
func isHeld(database string) (bool, error) {
	if _, err := os.Stat(database + ".lock"); err != nil {
		return false, nil
	}
	lock, err := instance.Hold(database)
	if errors.Is(err, instance.ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Release()
}

// port looks whether askback serve could listen.
func (d *doctor) port() {
	const check = "port"
	listen := cmp.Or(d.file.Listen, defaultListen)
	if d.answers && strings.TrimPrefix(d.server.URL, "http://") == listen {
		d.ok(check, "the server of this database listens on %s", listen)
		return
	}
	ln, err := net.Listen("tcp", listen)
	switch {
	case err == nil && ln.Close() == nil:
		d.ok(check, "%s is free", listen)
	case d.answers:
		d.warn(check, "see what it is before askback serve is started there", "another program listens on %s: %v", listen, err)
	default:
		d.fail(check, "end what listens there, or give askback serve another --listen", "%s cannot be used: %v", listen, err)
	}
}
