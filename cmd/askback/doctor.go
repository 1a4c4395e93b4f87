package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/settings"
	"github.com/askback/askback/internal/text/safetext"
)

type doctorCommand struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Also check the server at this address, as a phone reaches it: certificate, log-in and event streams."`
	Lanes     bool   `help:"Also ask through each agent that is configured here or for this user, by MCP and by its hooks, and answer it."`
	JSON      bool   `name:"json" help:"Print the findings as JSON."`
}

// Run prints the findings of all checks. It returns an error if one of them is a failure.
// It does not create, change or delete any file except the shared memory of SQLite, but it starts the
// MCP servers of hosted agents, which are commands of the user. With a
// public URL, it logs in there for a moment. With lanes, it asks and answers questions and permissions, which remain in the history.
func (c *doctorCommand) Run(ctx context.Context, io streams, all *commands) error {
	d := &doctor{all: all}
	d.check(ctx)
	d.checkPublic(ctx, c.PublicURL)
	if c.Lanes {
		d.checkLanes(ctx)
	}
	if err := d.print(io.out, c.JSON); err != nil {
		return err
	}
	for _, f := range d.findings {
		if f.Status == failed {
			return exitError{code: exitNo}
		}
	}
	return nil
}

// A finding is a result of a check. A check can have several.
type finding struct {
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

// A doctor runs the checks in order. Later checks use the results of earlier ones.
type doctor struct {
	all      *commands
	findings []finding

	file     config.Config
	database string // "" if its path is unknown
	server   instance.Server
	locked   bool // by another process
	proved   bool // the server proved its identity
}

func (d *doctor) found(check, status, detail, fix string) {
	d.findings = append(d.findings, finding{check, status, detail, fix})
}

func (d *doctor) ok(check, format string, args ...any) {
	d.found(check, passed, fmt.Sprintf(format, args...), "")
}

func (d *doctor) fail(check, fix, format string, args ...any) {
	d.found(check, failed, fmt.Sprintf(format, args...), fix)
}

func (d *doctor) warn(check, fix, format string, args ...any) {
	d.found(check, warned, fmt.Sprintf(format, args...), fix)
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
	d.checkHooks(ctx)
}

// checkIssuer checks that people can log in with the issuer, if there is one. The server
// also works without it, so problems are only warnings.
func (d *doctor) checkIssuer(ctx context.Context) {
	const check = "log-in"
	o := d.file.Login.OIDC
	if o == (config.OIDC{}) {
		return
	}
	if err := checkIssuer(o, d.file.PublicURL); err != nil {
		d.warn(check, "correct the setting, or give askback serve --public-url", "%v", err)
		return
	}
	i := login.NewIssuer(login.Settings{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: d.file.PublicURL})
	if err := i.Reach(ctx); err != nil {
		d.warn(check, "check login.oidc.issuer and the network", "%v", err)
		return
	}
	if d.file.NoPersonCanLogIn() {
		d.warn(check, "give people an email, in the settings or with askback person add", "%s answers, but no person has an email to log in with", o.Issuer)
		return
	}
	d.ok(check, "%s answers; after log-in, people return to %s", o.Issuer, d.file.PublicURL+login.CallbackPath)
}

func (d *doctor) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, map[string][]finding{"checks": d.findings})
	}
	for _, f := range d.findings {
		line := f.Detail
		if f.Fix != "" {
			line += "; " + f.Fix
		}
		if _, err := fmt.Fprintf(w, "%-4s  %-13s  %s\n", f.Status, f.Check, safetext.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

// checkConfiguration checks the settings file. Later checks use the settings.
func (d *doctor) checkConfiguration() {
	const check = "configuration"
	file, err := d.all.settings()
	var bad settings.Invalid
	switch {
	case errors.As(err, &bad):
		more := ""
		if n := len(bad.Problems); n > 1 {
			more = fmt.Sprintf("; and %d more: askback serve --config %s prints all", n-1, d.all.Config)
		}
		first, _, _ := strings.Cut(bad.Error(), "\n")
		d.fail(check, "", "%s%s", first, more)
	case err != nil:
		d.fail(check, "give an existing file with --config, or none", "%v", err)
	case d.all.Config == "":
		d.ok(check, "no settings file is given; the defaults apply")
	default:
		d.ok(check, "%s is valid", d.all.Config)
	}
	d.file = file
}

// checkState checks that only this user has access to the state directory. With the tokens
// in it, another user could act as this one. A missing directory is not a problem.
func (d *doctor) checkState() {
	const check = "state"
	dir, err := stateDir()
	if err != nil {
		d.fail(check, "set HOME", "%v", err)
		return
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		d.ok(check, "%s does not exist yet; the first command creates it", dir)
	case err != nil:
		d.fail(check, "give this user access", "%v", err)
	case !info.IsDir():
		d.fail(check, "move it away", "%s is not a directory", dir)
	case !isOwn(info):
		d.fail(check, "chown it to this user", "%s belongs to another user", dir)
	case isShared(info):
		d.fail(check, "chmod 700 "+dir, "other users have access to %s (%#o)", dir, info.Mode().Perm())
	default:
		d.ok(check, "only this user can read %s", dir)
	}
}

// checkTokens checks that the two token files of the local user are regular files with
// content, and that only this user has access to them. A missing file is not a problem.
func (d *doctor) checkTokens() {
	const check = "tokens"
	dir, err := stateDir()
	if err != nil {
		return // another check has reported it
	}
	before, existing := len(d.findings), 0
	for _, name := range []string{connection.AgentTokenFile, connection.UserTokenFile} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			d.fail(check, "give this user access", "%v", err)
		case !info.Mode().IsRegular():
			d.fail(check, "delete it; the next command creates a new one", "%s is not a regular file", path)
		case !isOwn(info):
			d.fail(check, "delete it; the next command creates a new one", "%s belongs to another user", path)
		case isShared(info):
			d.fail(check, "revoke this token with askback token revoke, then delete the file: others may have read it", "other users have access to %s (%#o)", path, info.Mode().Perm())
		case info.Size() == 0:
			d.fail(check, "delete it; the next command creates a new one", "%s is empty", path)
		}
		existing++
	}
	if len(d.findings) == before {
		d.ok(check, "%d of 2 exist, and only this user can read them; a missing one is created when it is needed", existing)
	}
}
