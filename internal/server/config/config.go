// Package config reads askback.yaml, the settings file.
//
// It is strict: unknown keys, wrong types and settings that this release does not support
// are errors with line and column, reported together. A valid file becomes one immutable
// value, so that a reload applies all of it or nothing.
package config

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/settings"
)

// A Config is the content of askback.yaml. A setting that is not in the file has its zero value. Config is
// shared and must not be changed.
type Config struct {
	Listen    string // host:port
	PublicURL string // scheme, host and port, without a slash at the end
	Database  string // sqlite:PATH
	People    []Person
	Groups    map[string][]string // the names of people, keyed by the name of the group without @
	Routes    []askback.Route
	Login     Login
	Channels  map[string]channels.Settings // the channels of the server, keyed by name
	Limits    Limits
	Retention Retention
	// Undo is the time for which a person can undo an answer that was given with one key or tap. It is 0 for
	// the default, and -1 if answers cannot be undone.
	Undo time.Duration
	Log  Log

	// Agents is the directory with the definitions of hosted agents. A relative path begins at the folder of
	// the file.
	Agents     string
	Models     map[string]Model
	MCPServers map[string]MCPServer

	// DebugListen is the loopback address and port of the debug server, or "" if there is no debug server.
	DebugListen string
}

// Log configures the log of a server.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}

// Limits apply to each agent, so that an agent cannot fill the inbox. Zero means the default
// limit.
type Limits struct {
	PendingPerAgent int
	AsksPerMinute   int
	DigestAfter     int // questions of one agent to one person in a minute; -1 disables digests
}

// Retention is how long records are kept. Zero means that they are never deleted.
type Retention struct {
	Settled time.Duration // how long a settled ask is kept; pending asks are always kept
}

// Equal reports whether c and d have the same settings. The format of their files does not matter.
func (c Config) Equal(d Config) bool { return reflect.DeepEqual(c, d) }

// maxSize is the maximum size of a file in bytes, far more than settings need.
const maxSize = 1 << 20

// Load reads settings from r. In its errors, name is the name of the file. Load replaces ${NAME} in a text by
// the value that env returns for NAME. The error is a [settings.Invalid], unless reading from r fails.
func Load(name string, r io.Reader, env func(string) (string, bool)) (Config, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", name, err)
	}
	l := &loader{Reader: settings.Reader{Name: name, Env: env, Renamed: renamedSettings}}
	root := l.parse(src)
	var c Config
	if root != nil && l.Problems() == 0 {
		l.Fields(*root, "", l.topLevel(&c))
		l.groupsExist(&c, l.routesAt)
	}
	if err := l.Err(); err != nil {
		return Config{}, err
	}
	return c, nil
}
