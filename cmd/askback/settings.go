package main

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/config"
)

// settings reads the settings file, if one is named: none is looked for, so that what
// a command does cannot depend on where it was started.
func (all *commands) settings() (config.Config, error) {
	if all.Config == "" {
		return config.Config{}, nil
	}
	return readSettings(all.Config)
}

func readSettings(path string) (config.Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return config.Config{}, usage(err.Error())
	}
	defer f.Close()
	return config.Load(path, f, os.LookupEnv)
}

// engineOptions are what the holder of a database gives its engine.
func engineOptions(file config.Config, s serving) *engine.Options {
	o := &engine.Options{Log: s.log, MaxOpen: maxOpen, MaxWaiters: maxWaiters, Settings: engineSettings(file)}
	if s.records != nil {
		o.Observer = s.records
	}
	return o
}

// engineSettings are what can be changed while it runs.
func engineSettings(file config.Config) engine.Settings {
	s := engine.Settings{
		MaxOpen: file.Limits.PendingPerAgent, AsksPerMinute: file.Limits.AsksPerMinute, Retention: file.Retention.Settled,
		Issuer: file.Login.OIDC.Issuer,
	}
	for _, p := range file.People {
		s.People = append(s.People, askback.Person{Name: p.Name, Email: p.Email, TimeZone: p.TimeZone})
	}
	return s
}

// A reloader reads the settings file again when it changed, or on SIGHUP. A file that
// cannot be used changes nothing: the one before holds, and /readyz says so.
type reloader struct {
	path  string
	log   *slog.Logger
	begun config.Config // what cannot be changed any more
	given []string      // keys that a flag overrides
	again <-chan os.Signal
	stop  func()

	mu   sync.Mutex
	now  config.Config
	seen stamp
	bad  error // why the file is refused; nil: it holds
}

// newReloader watches a file from now on, so before it is first read. No file is nil.
func newReloader(path string, log *slog.Logger) *reloader {
	if path == "" {
		return nil
	}
	r := &reloader{path: path, log: log, seen: stampOf(path)}
	r.again, r.stop = hangups()
	return r
}

// holds says with which file the server began, and which keys of it mean nothing.
func (r *reloader) holds(file config.Config, given []string) {
	if r != nil {
		r.begun, r.now, r.given = file, file, given
	}
}

// A stamp tells one state of a file from the next.
type stamp struct {
	at   time.Time
	size int64
}

// stampOf is the zero value where there is no file.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// lookTime is how soon a changed file is seen.
const lookTime = 2 * time.Second

// run reads the file again whenever it is time, and sets what it says, until ctx
// ends. Without a file it only waits.
func (r *reloader) run(ctx context.Context, set func(engine.Settings)) {
	if r == nil {
		<-ctx.Done()
		return
	}
	defer r.stop()
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.again:
			r.reload(set)
		case <-tick.C:
			if r.changed() {
				r.reload(set)
			}
		}
	}
}

func (r *reloader) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return stampOf(r.path) != r.seen
}

// reload takes the whole file or nothing of it.
func (r *reloader) reload(set func(engine.Settings)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = stampOf(r.path) // before it is read: what is written meanwhile is read again
	file, err := readSettings(r.path)
	if r.bad = err; err != nil {
		r.log.Error("the settings file is refused; the one before holds", "error", err)
		return
	}
	if !file.Equal(r.now) {
		set(engineSettings(file))
		r.now = file
	}
	warnOfLogin(r.log, file)
	r.log.Info("settings read", "file", r.path)
	if r.begun.Login.OIDC != (config.OIDC{}) && file.Login != r.begun.Login {
		r.log.Warn("login.oidc is not what the server began with: whoever logged in by it is out, and nobody can log in by it before the next start")
	}
	for _, key := range r.late(file) {
		r.log.Warn("this setting changes with the next start of the server", "key", key)
	}
}

// warnOfLogin says when people can log in nowhere.
func warnOfLogin(log *slog.Logger, file config.Config) {
	if file.NoPersonCanLogIn() {
		log.Warn("login.oidc lets nobody in: no person has an e-mail address")
	}
}

// late are the keys that say something else than when this server began, and that
// only a new start can follow.
func (r *reloader) late(file config.Config) (keys []string) {
	for _, k := range []struct {
		key     string
		differs bool
	}{
		{"listen", file.Listen != r.begun.Listen},
		{"public_url", file.PublicURL != r.begun.PublicURL},
		{"database", file.Database != r.begun.Database},
		{"login", file.Login != r.begun.Login},
		{"log", file.Log != r.begun.Log},
	} {
		if k.differs && !slices.Contains(r.given, k.key) {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// refused says whether the file as it stands is not the one that holds.
func (r *reloader) refused() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bad != nil
}
