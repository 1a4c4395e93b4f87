package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/local/service"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/gctune"
	"github.com/askback/askback/internal/server/hosting"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/terminal"
)

type serveCommand struct {
	Listen      string `placeholder:"ADDRESS" help:"Listen on this address and port. The default is 127.0.0.1:7575."`
	PublicURL   string `name:"public-url" placeholder:"URL" help:"Use this address of the server in links, if people reach it at another address."`
	Agents      string `complete:"file" placeholder:"DIR" help:"Run the agents whose definitions, NAME.md, are in this directory."`
	LogFormat   string `name:"log-format" values:"text,json" placeholder:"FORMAT" help:"Write the log as text or json. The default is text."`
	LogLevel    string `name:"log-level" values:"debug,info,warn,error" placeholder:"LEVEL" help:"Log only this level and above: debug, info, warn or error. The default is info."`
	DebugListen string `name:"debug-listen" placeholder:"ADDRESS" help:"Serve profiles of the server (pprof) on this loopback address and port. They are off by default."`
}

// Run runs the server until ctx ends or the database or the listener fails.
func (c *serveCommand) Run(ctx context.Context, io streams, all *commands) error {
	settings := newReloader(all.Config)
	file, err := all.settings()
	if err != nil {
		return err
	}
	records, err := c.records(io, file)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	o, err := all.options(file, instance.KindServe)
	if err != nil {
		return err
	}
	if o.Listen, o.PublicURL, err = c.addresses(file); err != nil {
		return err
	}
	log, set := records.Logger, newChannelSet(file,
		channels.Host{Key: o.Tokens.SecretKey, Log: records.Logger, PublicURL: o.PublicURL})
	dir, err := hosting.Dir(c.Agents, all.Config, file)
	if err != nil {
		return err
	}
	hosted, err := hosting.New(dir, all.Config, file, log)
	if err != nil {
		return err
	}
	defer hosted.Close()
	settings = settings.with(hosted)
	settings.begin(log, file, c.overridden(all))
	var front *frontends
	o.Log, o.Engine, o.Middleware, o.OnFailure = log, engineOptions(file, set, records), records.Access, fail
	hooks, err := hosted.Join(o.Engine)
	if err != nil {
		return err
	}
	counted, stopTraces, err := observe(ctx, records, o.Engine)
	if err != nil {
		return err
	}
	defer stopTraces()
	o.Handler = func(i *connection.Instance) connection.Handler {
		front = newFrontends(i, frontendOptions{
			kind: instance.KindServe, key: o.Tokens.Key(), log: log, records: records, settings: settings, hooks: hooks,
			login: loginSettings(file.Login.OIDC, i.PublicURL(), o.Tokens.Key()), metrics: counted, channels: set,
		})
		return front
	}
	stopDebug, err := serveDebug(cmp.Or(c.DebugListen, file.DebugListen), log)
	if err != nil {
		return err
	}
	defer stopDebug()
	return c.serve(ctx, io, all, o, func(at *connection.Instance) {
		warnOfSettings(log, file, o.PublicURL)
		front.watch(ctx, settings, at)
	})
}

// serve becomes the server of the database, until watch returns.
func (c *serveCommand) serve(
	ctx context.Context, io streams, all *commands, o connection.Options, watch func(*connection.Instance),
) error {
	at, err := connection.New(o).TakeOver(ctx)
	switch {
	case errors.Is(err, context.Canceled): // by a signal
		o.Log.Info("stopped before the server was ready")
		return nil
	case err != nil:
		return err
	}
	defer gctune.Start()()
	c.announce(io, all, o, at)
	if err := service.Ready(); err != nil {
		o.Log.Warn("systemd got no report that the server is ready", "error", err)
	}
	warnOfAddress(o.Log, o)
	watch(at)
	return stop(ctx, at, o.Log)
}

// watch reads changed settings, and checks the issuer, until ctx ends.
func (f *frontends) watch(ctx context.Context, settings *reloader, at *connection.Instance) {
	var group sync.WaitGroup
	if f.issuer != nil {
		group.Go(func() { f.issuer.check(ctx) })
	}
	settings.run(ctx, func(s engine.Settings) {
		at.Engine().Set(s)
		_, _ = at.Engine().CheckDirectory(ctx) // logs the problems
	})
	group.Wait()
}

// warnOfAddress logs a warning if browsers on other machines may not reach the pages.
func warnOfAddress(log *slog.Logger, o connection.Options) {
	if !egress.IsLoopback(o.Listen) && o.PublicURL == "" {
		log.Warn(
			"without --public-url, links work on this machine only, and browsers elsewhere can log in only over HTTPS",
		)
	}
}

// warnOfSettings logs a warning if no person can log in, and if people get messages without a link that a phone opens.
func warnOfSettings(log *slog.Logger, file config.Config, publicURL string) {
	warnOfLogin(log, file)
	linked := file.LinkedChannels()
	if problem := config.LinkProblem(publicURL); problem != "" && len(linked) > 0 {
		log.Warn(problem+": "+config.FixOfLinks, "channels", strings.Join(linked, ", "))
	}
}

// stop closes the instance after ctx has ended. It returns nil if the server was stopped by a
// signal and closed in time.
func stop(ctx context.Context, at *connection.Instance, log *slog.Logger) error {
	log.Info("stopping")
	closed := at.Close()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, closed)
	}
	if closed == nil {
		log.Info("stopped")
	}
	return closed
}

// records returns the server log on standard error. Flags override the settings file.
func (c *serveCommand) records(io streams, file config.Config) (*serverlog.Log, error) {
	format := cmp.Or(c.LogFormat, file.Log.Format, serverlog.Text)
	if format != serverlog.Text && format != serverlog.JSON {
		return nil, usage("--log-format must be text or json")
	}
	level, err := serverlog.ParseLevel(cmp.Or(c.LogLevel, file.Log.Level, "info"))
	if err != nil {
		return nil, usage("--log-level: " + err.Error())
	}
	return serverlog.New(io.err, format, level), nil
}

// announce writes the address of the server to the log. At a terminal it writes the address and the next
// steps to the user instead.
func (c *serveCommand) announce(io streams, all *commands, o connection.Options, at *connection.Instance) {
	if !terminal.IsTerminal(io.err) {
		o.Log.Info("serving", "pages", at.PublicURL(), "address", at.URL(), "database", o.Place.Database)
		return
	}
	flags := ""
	if all.Config != "" {
		flags += " --config " + all.Config
	}
	if all.DB != "" {
		flags += " --db " + all.DB
	}
	text := "Askback listens on " + at.URL() + "\n"
	if at.PublicURL() != at.URL() {
		text += "People reach it at " + at.PublicURL() + "\n"
	}
	fmt.Fprintf(io.err, "%sThe database is %s\n\n"+
		"Log a browser in:  askback%s login\n"+
		"Ask a question:    askback%[3]s ask \"Which database?\" PostgreSQL SQLite\n"+
		"%s"+
		"Stop the server:   Ctrl+C\n\n", text, o.Place.Database, flags, hostedSteps(o.Engine.Runner, flags))
}

// hostedSteps returns the next steps for a server with hosted agents, or "".
func hostedSteps(runner engine.Runner, flags string) (text string) {
	if runner == nil {
		return ""
	}
	agents := runner.Agents()
	if len(agents) > 0 {
		text = fmt.Sprintf("Run an agent:      askback%s run %s\n", flags, agents[0].Name)
	}
	if len(agents) > 1 {
		text += fmt.Sprintf("List the agents:   askback%s agent list\n", flags)
	}
	return text
}

// addresses returns the address to listen on and the URL of the pages. Flags override the
// settings file.
func (c *serveCommand) addresses(file config.Config) (listen, public string, err error) {
	listen = cmp.Or(c.Listen, file.Listen, defaultListen)
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return "", "", usage("--listen must be an address and port, as in " + defaultListen)
	}
	if public, err = origin(cmp.Or(c.PublicURL, file.PublicURL)); err != nil {
		return "", "", err
	}
	return listen, public, checkIssuer(file.Login.OIDC, public)
}

// overridden returns the keys of the settings file that a flag or an environment variable
// overrides.
func (c *serveCommand) overridden(all *commands) (keys []string) {
	for key, value := range map[string]string{
		"listen": c.Listen, "public_url": c.PublicURL, "database": all.DB, "log": c.LogFormat + c.LogLevel,
		"debug_listen": c.DebugListen, "agents": c.Agents,
	} {
		if value != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// origin checks a public URL and removes slashes at its end.
func origin(public string) (string, error) {
	public = strings.TrimRight(public, "/")
	if problem := config.OriginProblem(public); public != "" && problem != "" {
		return "", usage(fmt.Sprintf("--public-url: %q %s; write %s", public, problem, config.OriginForm))
	}
	return public, nil
}
