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

	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/safetext"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
}

// Run looks at everything, prints one line for each check, and fails if one failed. It
// makes, changes and deletes nothing.
func (c *doctorCommand) Run(ctx context.Context, io streams, all *commands) error {
	d := &doctor{all: all}
	d.examine(ctx)
	if err := d.print(io.out, c.JSON); err != nil {
		return err
	}
	for _, f := range d.findings {
		if f.Status == failed {
			return ended{code: exitNo}
		}
	}
	return nil
}

// A finding is what came of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or FAIL
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// How a check can end. Who only looks for what is broken finds one word.
const (
	fine   = "ok"
	warned = "warn"
	failed = "FAIL"
)

// doctor collects findings. What one check learned, later ones use.
type doctor struct {
	all      *commands
	findings []finding

	file     config.Config
	database string // "" if it cannot be told where it is
	server   instance.Server
	held     bool // by another process
	answers  bool // whoever holds it proved itself
}

func (d *doctor) found(check, status, detail, fix string) {
	d.findings = append(d.findings, finding{check, status, detail, fix})
}

func (d *doctor) ok(check, format string, args ...any) {
	d.found(check, fine, fmt.Sprintf(format, args...), "")
}

func (d *doctor) fail(check, fix, format string, args ...any) {
	d.found(check, failed, fmt.Sprintf(format, args...), fix)
}

func (d *doctor) warn(check, fix, format string, args ...any) {
	d.found(check, warned, fmt.Sprintf(format, args...), fix)
}

func (d *doctor) examine(ctx context.Context) {
	d.configuration()
	d.state()
	d.tokens()
	d.holder(ctx)
	d.stored(ctx)
	d.port()
	d.issuer(ctx)
}

// issuer looks whether whoever says who people are answers. Without them the server
// works, and nobody can sign in.
func (d *doctor) issuer(ctx context.Context) {
	const check = "log-in"
	o := d.file.Login.OIDC
	if o == (config.OIDC{}) {
		return
	}
	if err := checkIssuer(o, d.file.PublicURL); err != nil {
		d.warn(check, "askback serve says so too, unless --public-url is given", "%v", err)
		return
	}
	i := login.NewIssuer(login.Settings{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: d.file.PublicURL})
	if err := i.Reach(ctx); err != nil {
		d.warn(check, "look at login.oidc.issuer, and at what is between here and there", "%v", err)
		return
	}
	if d.file.NoPersonCanLogIn() {
		d.warn(check, "give people their email", "%s answers, and no person has an address to log in with", o.Issuer)
		return
	}
	d.ok(check, "%s answers; people come back to %s", o.Issuer, d.file.PublicURL+login.CallbackPath)
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

// configuration reads the settings file as a command would.
func (d *doctor) configuration() {
	const check = "configuration"
	file, err := d.all.settings()
	var bad config.Invalid
	switch {
	case errors.As(err, &bad):
		more := ""
		if n := len(bad.Problems); n > 1 {
			more = fmt.Sprintf("; and %d more: askback serve --config %s names them all", n-1, d.all.Config)
		}
		first, _, _ := strings.Cut(bad.Error(), "\n")
		d.fail(check, "", "%s%s", first, more)
	case err != nil:
		d.fail(check, "give a file that is there with --config, or none", "%v", err)
	case d.all.Config == "":
		d.ok(check, "no settings file is given; the defaults apply")
	default:
		d.ok(check, "%s is valid", d.all.Config)
	}
	d.file = file
}

// state looks at the directory that holds the tokens: who can write there can be us.
func (d *doctor) state() {
	const check = "state"
	dir, err := stateDir()
	if err != nil {
		d.fail(check, "set HOME", "%v", err)
		return
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		d.ok(check, "%s is not there yet; the first command makes it", dir)
	case err != nil:
		d.fail(check, "let this user in", "%v", err)
	case !info.IsDir():
		d.fail(check, "move it away", "%s is not a directory", dir)
	case !isOurs(info):
		d.fail(check, "chown it to this user", "%s belongs to another user", dir)
	case isShared(info):
		d.fail(check, "chmod 700 "+dir, "%s is open to others (%#o)", dir, info.Mode().Perm())
	default:
		d.ok(check, "only this user can read %s", dir)
	}
}

// tokens looks at the two secrets of the local user.
func (d *doctor) tokens() {
	const check = "tokens"
	dir, err := stateDir()
	if err != nil {
		return // said before
	}
	before, there := len(d.findings), 0
	for _, name := range []string{"agent.token", "user.token"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			d.fail(check, "let this user in", "%v", err)
		case !info.Mode().IsRegular():
			d.fail(check, "delete it, and a new one is made", "%s is not a plain file", path)
		case !isOurs(info):
			d.fail(check, "delete it, and a new one is made", "%s belongs to another user", path)
		case isShared(info):
			d.fail(check, "askback token revoke what it holds, then delete it: others could have read it", "%s is open to others (%#o)", path, info.Mode().Perm())
		case info.Size() == 0:
			d.fail(check, "delete it, and a new one is made", "%s is empty", path)
		}
		there++
	}
	if len(d.findings) == before {
		d.ok(check, "%d of 2 are there, and only this user can read them; a missing one is made when it is needed", there)
	}
}
