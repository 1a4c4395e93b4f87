package doctor

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/sqlite"
)

// lastFinding returns the newest finding as one line.
func (d *doctor) lastFinding() string {
	f := d.Findings[len(d.Findings)-1]
	return strings.Join([]string{f.Status, f.Check, f.Detail, f.Fix}, "|")
}

// If the clock is more than five seconds behind the latest time in the database, askback doctor reports a
// failure, because deadlines then pass late (T27).
func TestDoctorReportsAClockThatWasSetBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		time.Hour:        "ok|clock|the clock is not behind the latest time in the database|",
		-4 * time.Second: "ok|clock|the clock is not behind the latest time in the database|",
		-2 * time.Minute: "FAIL|clock|the clock is 2m0s behind the latest time in the database|set the clock; " +
			"until then, deadlines pass late",
		-time.Millisecond: "ok|clock|the clock is not behind the latest time in the database|",
	} {
		d := &doctor{}
		d.checkClock(now.Add(-ago), now)
		if got := d.lastFinding(); got != want {
			t.Errorf("written %v ago: got %s, want %s", ago, got, want)
		}
	}
}

// askback doctor accepts a port if the server of this database listens there. If another program listens
// there, the finding is a failure. If the server listens on another address, the finding is a warning.
func TestDoctorReportsAPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	for _, c := range []struct {
		proved bool
		url    string
		want   string
	}{
		{false, "", "FAIL|port|"},
		{true, "http://127.0.0.1:1", "warn|port|"},
		{true, "http://" + taken, "ok|port|"},
		{false, "http://" + taken, "FAIL|port|"}, // the server at the port did not prove its identity
	} {
		d := &doctor{proved: c.proved}
		d.file.Listen, d.server.URL, d.server.Kind = taken, c.url, instance.KindServe
		d.checkPort()
		if got := d.lastFinding(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// If the settings name no address, the check uses the port of the running server.
func TestDoctorAcceptsAServerAtAnotherPort(t *testing.T) {
	for kind, other := range map[string]bool{instance.KindServe: true, instance.KindAsk: false} {
		d := &doctor{proved: true}
		d.server.URL, d.server.Kind = "http://127.0.0.1:1", kind
		d.checkPort()
		if got := d.lastFinding(); (got == "ok|port|the server of this database listens on 127.0.0.1:1|") != other {
			t.Errorf("%s: got %s", kind, got)
		}
	}
}

// Records of older versions have no checksum, so only their number is reported.
func TestDoctorCountsRecordsWithoutChecksum(t *testing.T) {
	d := &doctor{database: "askback.db"}
	d.checkContent(inspection{version: sqlite.SchemaVersion, rows: sqlite.Verification{Rows: 9, Without: 5}}, 1<<20)
	if want := fmt.Sprintf("ok|database|askback.db is intact: schema %d, 1024 kB; 5 of 9 records and events have no "+
		"checksum, since an older version wrote them|", sqlite.SchemaVersion); d.lastFinding() != want {
		t.Errorf("got %s, want %s", d.lastFinding(), want)
	}
}

// An interrupted check must not advise to restore a backup.
func TestInterruptedDoctorDoesNotReportDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &doctor{database: path}
	d.checkDatabase(ctx)
	want := Findings{{
		"database", warned, path + " was not checked to the end",
		"run doctor again, and let it finish: it reads the whole database",
	}}
	if diff := cmp.Diff(want, d.Findings, cmp.AllowUnexported(Finding{})); diff != "" {
		t.Error(diff)
	}
}
