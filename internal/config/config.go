// Package config reads askback.yaml, the one settings file of the binary.
//
// It is strict: what it does not know, what has the wrong type and what this
// release does not do yet are errors with line and column, all at once. A file
// that is read becomes one value that never changes, so that a reload takes it
// as a whole or not at all.
package config

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Config is what askback.yaml says. The zero value of a field means that the
// file says nothing about it. It is shared: nobody changes it.
type Config struct {
	Listen    string // host:port
	PublicURL string // scheme, host and port, without a slash at the end
	Database  string // sqlite:PATH
	People    []Person
	Login     Login
	Limits    Limits
	Retention Retention
	Log       Log
}

// Log is the form of the log lines of a server.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}

// Limits keep one agent from filling everybody's inbox.
type Limits struct {
	PendingPerAgent int
	AsksPerMinute   int
}

// Retention says how long things are kept.
type Retention struct {
	Settled time.Duration // asks, after their outcome; pending ones are always kept
}

// Equal says whether two files say the same, however they write it.
func (c Config) Equal(d Config) bool {
	return c.Listen == d.Listen && c.PublicURL == d.PublicURL && c.Database == d.Database &&
		c.Login == d.Login && c.Log == d.Log && c.Limits == d.Limits && c.Retention == d.Retention && slices.Equal(c.People, d.People)
}

// maxSize is far more than a file that a person wrote.
const maxSize = 1 << 20

// Load reads settings. The name is how errors call the file; env gives the
// variables that values may name as ${NAME}. The error is [Invalid], unless r
// itself fails.
func Load(name string, r io.Reader, env func(string) (string, bool)) (Config, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", name, err)
	}
	f := &file{name: name, env: env}
	root := f.parse(src)
	var c Config
	if root != nil && len(f.bad) == 0 {
		f.fields(root, "", settings(f, &c))
	}
	if err := f.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}
