package doctor

import (
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// proveTime is how long a server may take to prove its identity.
const proveTime = 3 * time.Second

// checkHolder finds the database, and checks the process that holds its lock. If the lock is free,
// checkHolder takes it for a moment, and other commands wait meanwhile.
func (d *doctor) checkHolder(ctx context.Context) {
	const check = "server"
	path, err := d.program.Database(d.file)
	if err != nil {
		d.Fail("database", "", "%v", err)
		return
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		d.database = path
		d.OK(check, "no process holds the database")
		return
	}
	place, err := instance.At(path)
	if err != nil {
		d.Fail("database", "correct the link", "%v", err)
		return
	}
	d.database = place.Database
	d.locked, err = instance.IsHeld(place.Database)
	announced := false
	d.server, announced = place.Last()
	switch {
	case err != nil:
		d.Fail(check, "give this user write access", "%v", err)
	case d.locked && !announced:
		d.Fail(check,
			"check again in a moment; if this remains, end the process that has the database or its lock file open",
			"an unknown process holds the database: there is no server.json")
	case d.locked:
		d.checkProof(ctx)
	case announced:
		d.Warn(check, "no action is needed: the next command replaces its server.json",
			"no process holds the database; process %d served it last, and was killed", d.server.PID)
	default:
		d.OK(check, "no process holds the database")
	}
}

// checkProof checks that the server in server.json proves its identity within proveTime.
func (d *doctor) checkProof(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, proveTime)
	defer cancel()
	s := d.server
	if err := s.Proves(ctx); err != nil {
		d.Fail("server", "check again in a moment; if this remains, kill that process; this is safe",
			"process %d (%s) holds the database and does not reply at %s: %v", s.PID, s.Kind, s.URL, err)
		return
	}
	d.proved = true
	d.OK("server", "process %d (%s, version %s) holds the database and answers at %s", s.PID, s.Kind, s.Version, s.URL)
	if text := s.OtherSettings(d.program.Config); text != "" {
		about, fix, _ := strings.Cut(text, ": ")
		d.Warn("server", fix, "%s", about)
	}
}

// checkPort checks that askback serve can listen on its address. It is not a problem if the server of this
// database already listens there, or listens on another address because of --listen.
func (d *doctor) checkPort() {
	const check = "port"
	listen := cmp.Or(d.file.Listen, d.program.Listen)
	serves := strings.TrimPrefix(d.server.URL, "http://")
	if d.proved && (serves == listen || d.server.Kind == instance.KindServe && d.file.Listen == "") {
		d.OK(check, "the server of this database listens on %s", serves)
		return
	}
	ln, err := net.Listen("tcp", listen)
	switch {
	case err == nil && ln.Close() == nil:
		d.OK(check, "%s is free", listen)
	case d.proved:
		d.Warn(check, "find out what it is before you start askback serve there", "another program listens on %s: %v",
			listen, err)
	default:
		d.Fail(check, "end the program that listens there, or give askback serve another --listen",
			"%s cannot be used: %v", listen, err)
	}
}
