// Package doctor checks an installation and reports its problems.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/settings"
	"github.com/askback/askback/internal/text/safetext"
)

// A Program has the values and functions of the checked program that the checks need.
type Program struct {
	Config string // the path of the settings file, or ""
	Listen string // the default address of a server

	Settings       func() (config.Config, error)
	Database       func(config.Config) (path string, err error)
	StateDir       func() (string, error)
	Connector      func(kind string) (*connection.Connector, error)
	EngineSettings func(config.Config) engine.Settings
	CheckIssuer    func(o config.OIDC, publicURL string) error
	Origin         func(publicURL string) (string, error) // checks the public URL and returns the origin
}

// Options select checks that are not made by default.
type Options struct {
	PublicURL string // the URL at which a phone reaches the server, or ""
	Lanes     bool   // ask through each configured agent
}

// Check returns the findings of all checks. It does not create, change or delete any file except the shared
// memory of SQLite. It starts the MCP servers of hosted agents, which are commands of the user. With a public
// URL, it logs in there for a moment. With lanes, it asks and answers questions and permissions, which remain
// in the history.
func Check(ctx context.Context, p Program, o Options) Findings {
	d := &doctor{program: p}
	d.check(ctx)
	d.checkPublic(ctx, o.PublicURL)
	if o.Lanes {
		d.checkLanes(ctx)
	}
	return d.Findings
}

// A Finding is a result of a check. A check can have several findings.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or FAIL
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do
}

// The statuses of findings. Only a failure is in capitals, so that it is easy to find.
const (
	passed = "ok"
	warned = "warn"
	failed = "FAIL"
)

// A doctor runs the checks in order. Later checks use the results of earlier checks.
type doctor struct {
	Findings
	program Program

	file     config.Config
	database string // "" if its path is unknown
	server   instance.Server
	locked   bool // another process holds the database
	proved   bool // the server proved its identity
}

// Findings are the results of checks, in order.
type Findings []Finding

func (f *Findings) found(check, status, detail, fix string) {
	*f = append(*f, Finding{check, status, detail, fix})
}

// OK adds a finding about something that works.
func (f *Findings) OK(check, format string, args ...any) {
	f.found(check, passed, fmt.Sprintf(format, args...), "")
}

// Fail adds a failure with advice.
func (f *Findings) Fail(check, fix, format string, args ...any) {
	f.found(check, failed, fmt.Sprintf(format, args...), fix)
}

// Warn adds a warning with advice.
func (f *Findings) Warn(check, fix, format string, args ...any) {
	f.found(check, warned, fmt.Sprintf(format, args...), fix)
}

// FailAll adds a failure for each line of an error.
func (f *Findings) FailAll(check, fix string, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		f.Fail(check, fix, "%s", line)
	}
}

// Failed reports whether a finding is a failure.
func (f Findings) Failed() bool {
	return slices.ContainsFunc(f, func(one Finding) bool { return one.Status == failed })
}

// Write writes a line for each finding.
func (f Findings) Write(w io.Writer) error {
	for _, one := range f {
		line := one.Detail
		if one.Fix != "" {
			line += "; " + one.Fix
		}
		if _, err := fmt.Fprintf(w, "%-4s  %-13s  %s\n", one.Status, one.Check, safetext.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

func (d *doctor) check(ctx context.Context) {
	d.checkConfiguration()
	d.checkState()
	d.checkTokens()
	d.checkHolder(ctx)
	d.checkDatabase(ctx)
	d.checkPort()
	d.checkIssuer(ctx)
	d.checkChannels()
	d.checkAgents(ctx)
	d.checkCopy()
	d.checkHooks(ctx)
}

// checkIssuer checks that people can log in with the issuer, if there is an issuer. The server also works
// without the issuer, so problems are only warnings.
func (d *doctor) checkIssuer(ctx context.Context) {
	const check = "log-in"
	o := d.file.Login.OIDC
	if o == (config.OIDC{}) {
		return
	}
	if err := d.program.CheckIssuer(o, d.file.PublicURL); err != nil {
		d.Warn(check, "correct the setting, or give askback serve --public-url", "%v", err)
		return
	}
	i := login.NewIssuer(login.Settings{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: d.file.PublicURL,
	})
	if err := i.Reach(ctx); err != nil {
		d.Warn(check, "check login.oidc.issuer and the network", "%v", err)
		return
	}
	if d.file.NoPersonCanLogIn() {
		d.Warn(check, "give people an email, in the settings or with askback person add",
			"%s answers, but no person has an email to log in with", o.Issuer)
		return
	}
	d.OK(check, "%s answers; after log-in, people return to %s", o.Issuer, d.file.PublicURL+login.CallbackPath)
}

// checkConfiguration checks the settings file. Later checks use the settings.
func (d *doctor) checkConfiguration() {
	const check = "configuration"
	file, err := d.program.Settings()
	var bad settings.Invalid
	switch {
	case errors.As(err, &bad):
		more := ""
		if n := len(bad.Problems); n > 1 {
			more = fmt.Sprintf("; and %d more: askback serve --config %s prints all", n-1, d.program.Config)
		}
		first, _, _ := strings.Cut(bad.Error(), "\n")
		d.Fail(check, "", "%s%s", first, more)
	case err != nil:
		d.Fail(check, "give an existing file with --config, or none", "%v", err)
	case d.program.Config == "":
		d.OK(check, "no settings file is given; the defaults apply")
	default:
		d.OK(check, "%s is valid", d.program.Config)
	}
	d.file = file
}

// checkState checks that only this user has access to the state directory. With its tokens, another user
// could act as this user. A missing directory is not a problem.
func (d *doctor) checkState() {
	const check = "state"
	dir, err := d.program.StateDir()
	if err != nil {
		d.Fail(check, "set HOME", "%v", err)
		return
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		d.OK(check, "%s does not exist yet; the first command creates it", dir)
	case err != nil:
		d.Fail(check, "give this user access", "%v", err)
	case !info.IsDir():
		d.Fail(check, "move it away", "%s is not a directory", dir)
	case !isOwn(info):
		d.Fail(check, "chown it to this user", "%s belongs to another user", dir)
	case isShared(info):
		d.Fail(check, "chmod 700 "+dir, "other users have access to %s (%#o)", dir, info.Mode().Perm())
	default:
		d.OK(check, "only this user can read %s", dir)
	}
}

// checkTokens checks the two token files of the local user. They must be regular files with content, and only
// this user may have access to them. A missing file is not a problem.
func (d *doctor) checkTokens() {
	const check = "tokens"
	dir, err := d.program.StateDir()
	if err != nil {
		return // another check has reported the problem
	}
	before, existing := len(d.Findings), 0
	for _, name := range []string{connection.AgentTokenFile, connection.UserTokenFile} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			d.Fail(check, "give this user access", "%v", err)
		case !info.Mode().IsRegular():
			d.Fail(check, "delete it; the next command creates a new one", "%s is not a regular file", path)
		case !isOwn(info):
			d.Fail(check, "delete it; the next command creates a new one", "%s belongs to another user", path)
		case isShared(info):
			d.Fail(check, "revoke this token with askback token remove, then delete the file: others may have read it",
				"other users have access to %s (%#o)", path, info.Mode().Perm())
		case info.Size() == 0:
			d.Fail(check, "delete it; the next command creates a new one", "%s is empty", path)
		}
		existing++
	}
	if len(d.Findings) == before {
		d.OK(check,
			"%d of 2 token files exist, and only this user can read them; a missing file is created when needed",
			existing)
	}
}
