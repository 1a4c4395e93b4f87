package main

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/hosting"
	"github.com/askback/askback/internal/server/serverlog"
)

// settings reads the settings file that --config, ASKBACK_CONFIG or [commands.useService] names. It never
// searches for a settings file, so a command does the same in every folder.
func (all *commands) settings() (config.Config, error) {
	if all.Config == "" {
		return config.Config{}, nil
	}
	return readSettings(all.Config)
}

func readSettings(path string) (config.Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return config.Config{}, unusableFile(err)
	}
	defer f.Close()
	return config.Load(path, f, os.LookupEnv)
}

// The limits of an engine (wire.md §1).
const (
	maxOpen     = 1000 // pending asks of one agent
	maxSessions = 1000 // open sessions of one agent, hosted runs not counted
	maxWaiters  = 200  // waiting calls of one agent
)

// engineOptions returns the options for the engine of the local database. records may be
// nil.
func engineOptions(file config.Config, channels *channelSet, records *serverlog.Log) *engine.Options {
	o := &engine.Options{
		MaxOpen: maxOpen, MaxSessions: maxSessions, MaxWaiters: maxWaiters, Settings: engineSettings(file),
	}
	if records != nil {
		o.Log, o.Observer = records.Logger, records
	}
	if file.Agents == "" {
		o.Runner = hosting.NewDemoRunner()
	}
	o.Changed = channels.apply
	w, _ := file.Channels[webhook.Name].(webhook.Settings)
	o.Channels, o.EndpointSecrets, o.RouteChannels = channels.send, w.Secret == "", kinds.Routed()
	return o
}

// defaultDigestAfter is how many questions of one agent a person gets per minute at one receiver without the
// setting limits.digest_after. A person reads no more in a minute, and a run with a few agents asks fewer.
const defaultDigestAfter = 10

// engineSettings returns the settings that can change while the engine runs.
func engineSettings(file config.Config) engine.Settings {
	callbacks, _ := file.Channels[webhook.Name].(webhook.Settings)
	s := engine.Settings{
		MaxOpen: file.Limits.PendingPerAgent, AsksPerMinute: file.Limits.AsksPerMinute, DigestAfter: max(0,
			cmp.Or(file.Limits.DigestAfter, defaultDigestAfter)), Retention: file.Retention.Settled,
		Undo:   max(0, cmp.Or(file.Undo, limits.DefaultUndo)),
		Groups: file.Groups, Routes: file.Routes, Issuer: file.Login.OIDC.Issuer, CallbackURL: callbacks.URL,
	}
	for _, c := range file.EachChannel() {
		if c, ok := c.(channels.Receiving); ok {
			for _, r := range c.Receivers(connection.UserName()) {
				s.Receivers = append(s.Receivers, engine.Receiver(r))
			}
		}
	}
	s.Reach = func(p askback.Person) (all []engine.Receiver) {
		for _, c := range file.EachChannel() {
			if c, ok := c.(channels.Reaching); ok {
				if r, ok := c.Reach(p); ok {
					all = append(all, engine.Receiver(r))
				}
			}
		}
		return all
	}
	for _, p := range file.People {
		person := askback.Person{
			Name: p.Name, Email: p.Email, Slack: p.Slack, TimeZone: p.TimeZone, Quiet: p.Quiet.String(),
		}
		s.People, s.Receivers = append(s.People, person), append(s.Receivers, s.Reach(person)...)
	}
	return s
}

// A reloader reads the settings file and the definitions of agents again, on SIGHUP and after a file has
// changed. A file with errors changes nothing, and /readyz reports it.
type reloader struct {
	path       string // "" if only the definitions of agents are read again
	log        *slog.Logger
	initial    config.Config // the settings at the start of the server
	overridden []string      // keys that a flag overrides
	agents     *hosting.Host // nil if no agents are hosted
	hangup     <-chan os.Signal
	stop       func()

	mu      sync.Mutex
	current config.Config
	version config.FileVersion
	err     error // why the file is rejected; nil if it is in use
}

// newReloader returns a reloader that notices changes from now on. It must be called before the file is read.
// If path is "", it returns nil.
func newReloader(path string) *reloader {
	if path == "" {
		return nil
	}
	r := &reloader{path: path, version: config.VersionOf(path)}
	r.hangup, r.stop = notifyHangup()
	return r
}

// with returns a reloader that also reads the definitions of agents again, if there are any. It may be called
// on a nil reloader. Without a settings file, SIGHUP ends the server as it ends other programs whose terminal
// is closed.
func (r *reloader) with(agents *hosting.Host) *reloader {
	if r == nil && agents != nil {
		r = &reloader{stop: func() {}}
	}
	if r != nil {
		r.agents = agents
	}
	return r
}

// begin records the settings that the server starts with, and the keys that flags override.
// It does nothing if r is nil.
func (r *reloader) begin(log *slog.Logger, file config.Config, overridden []string) {
	if r != nil {
		r.log, r.initial, r.current, r.overridden = log, file, file, overridden
	}
}

// reloadPause is the time between two checks for a changed file.
const reloadPause = 2 * time.Second

// run reads changed settings and definitions of agents until ctx ends. It calls set with changed settings. If
// r is nil, run only waits.
func (r *reloader) run(ctx context.Context, set func(engine.Settings)) {
	if r == nil {
		<-ctx.Done()
		return
	}
	defer r.stop()
	tick := time.NewTicker(reloadPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
			r.reload(set)
		case <-tick.C:
			if r.changed() {
				r.reload(set)
			} else if r.agents.Changed() {
				r.reloadAgents()
			}
		}
	}
}

func (r *reloader) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.path != "" && config.VersionOf(r.path) != r.version
}

// reloadAgents reads the definitions of agents again. If a definition has errors, the previous definitions
// apply.
func (r *reloader) reloadAgents() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applyAgents(r.current)
}

func (r *reloader) applyAgents(file config.Config) {
	if r.agents == nil {
		return
	}
	if err := r.agents.Apply(file); err != nil {
		r.log.Error("the definitions of agents are rejected; the previous ones apply", "error", err)
		return
	}
	r.log.Info("agents read", "directory", r.agents.Dir(), "agents", r.agents.Agents())
}

// reload reads the settings file, and applies the settings that can change while the server runs. If the file
// has errors, it applies no settings.
func (r *reloader) reload(set func(engine.Settings)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = config.VersionOf(r.path) // before the read, so that a write during the read is noticed
	file, err := readSettings(r.path)
	if r.err = err; err != nil {
		r.log.Error("the settings file is rejected; the previous settings apply", "error", err)
		return
	}
	if !file.Equal(r.current) {
		now := file
		now.Channels, _ = r.channels(file)
		set(engineSettings(now))
		r.current = file
	}
	r.applyAgents(file)
	warnOfLogin(r.log, file)
	r.log.Info("settings read", "file", r.path)
	if r.initial.Login.OIDC != (config.OIDC{}) && file.Login != r.initial.Login {
		r.log.Warn("login.oidc has changed: people who logged in with it are logged out, and cannot log in with it " +
			"again until the server restarts")
	}
	for _, key := range r.needRestart(file) {
		r.log.Warn("this setting takes effect when the server restarts", "key", key)
	}
}

// warnOfLogin logs a warning if an issuer is configured but no person can log in with the issuer.
func warnOfLogin(log *slog.Logger, file config.Config) {
	if file.NoPersonCanLogIn() {
		log.Warn("no person can log in with login.oidc: give people an email in the settings")
	}
}

// needRestart returns the changed keys that take effect only after a restart. It omits
// overridden keys.
func (r *reloader) needRestart(file config.Config) (keys []string) {
	for _, k := range []struct {
		key     string
		differs bool
	}{
		{"listen", file.Listen != r.initial.Listen},
		{"public_url", file.PublicURL != r.initial.PublicURL},
		{"database", file.Database != r.initial.Database},
		{"login", file.Login != r.initial.Login},
		{"log", file.Log != r.initial.Log},
		{"debug_listen", file.DebugListen != r.initial.DebugListen},
		{"agents", file.Agents != r.initial.Agents},
	} {
		if k.differs && !slices.Contains(r.overridden, k.key) {
			keys = append(keys, k.key)
		}
	}
	_, restart := r.channels(file)
	return append(keys, restart...)
}

// channels returns the settings of the channels after a change of the file, and the keys that take effect
// only after a restart. Most channels keep the settings that they were started with.
func (r *reloader) channels(file config.Config) (now map[string]channels.Settings, restart []string) {
	now = maps.Clone(r.initial.Channels)
	for _, k := range kinds.All {
		next := file.Channels[k.Name]
		if s, ok := now[k.Name].(channels.Reloading); ok {
			now[k.Name] = s.Reload(next)
		}
		if !reflect.DeepEqual(now[k.Name], next) {
			restart = append(restart, "channels."+k.Name)
		}
	}
	return now, restart
}

// rejected reports whether the settings file has errors, so that older settings apply. It
// returns false if r is nil.
func (r *reloader) rejected() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil
}

// hosted returns the hosted agents, or nil.
func (r *reloader) hosted() *hosting.Host {
	if r == nil {
		return nil
	}
	return r.agents
}
