package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
)

// defaultListen is the address that the local server listens on by default (wire.md §9).
const defaultListen = "127.0.0.1:7575"

// options returns the connection options for a command of this kind: [instance.KindAsk],
// [instance.KindServe], or "" for a command that serves no other process.
func (all *commands) options(file config.Config, kind string) (connection.Options, error) {
	path, err := all.database(file)
	if err != nil {
		return connection.Options{}, err
	}
	place, err := instance.At(path)
	if err != nil {
		return connection.Options{}, err
	}
	dir, err := stateDir()
	if err != nil {
		return connection.Options{}, err
	}
	tokens, err := connection.ReadTokens(dir, os.Getenv("ASKBACK_TOKEN"))
	if err != nil {
		return connection.Options{}, err
	}
	set := newChannelSet(file, channels.Host{Key: tokens.SecretKey})
	o := connection.Options{
		Place: place, Tokens: tokens, Engine: engineOptions(file, set, nil), Kind: kind, Version: version(),
		Settings: all.Config,
	}
	o.Engine.NoEffects = kind == "" // such a command ends early, and would interrupt the effects that it has begun
	if kind == instance.KindServe { // a server never connects to another server
		return o, nil
	}
	o.Remote = strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")
	if kind == instance.KindAsk {
		o.Listen, o.PublicURL = cmp.Or(file.Listen, defaultListen), file.PublicURL
		o.Handler = func(i *connection.Instance) connection.Handler {
			return newFrontends(i, frontendOptions{kind: kind, key: tokens.Key(), channels: set})
		}
	}
	return o, nil
}

// noteOtherSettings prints a note if the server of the database was started with another settings file than
// this command.
func (all *commands) noteOtherSettings(io streams) {
	if all.Config == "" || os.Getenv("ASKBACK_URL") != "" {
		return
	}
	file, err := all.settings()
	if err != nil {
		return
	}
	path, err := all.database(file)
	if err != nil {
		return
	}
	if _, err := os.Stat(path); err != nil { // the database does not exist yet
		return
	}
	place, err := instance.At(path)
	if err != nil {
		return
	}
	if text := place.OtherSettings(all.Config); text != "" {
		note(io.err, text)
	}
}

// connector reads the settings file and returns a connector for a command of this kind. It prints a warning to
// out if the file has errors and a server runs.
func (all *commands) connector(ctx context.Context, out io.Writer, kind string) (*connection.Connector, error) {
	_, o, err := all.clientOptions(ctx, out, kind)
	if err != nil {
		return nil, err
	}
	return connector(o)
}

// strictConnector is like connector, but returns an error if the settings file has errors.
func (all *commands) strictConnector(kind string) (*connection.Connector, error) {
	file, err := all.settings()
	if err != nil {
		return nil, err
	}
	o, err := all.options(file, kind)
	if err != nil {
		return nil, err
	}
	return connector(o)
}

// clientOptions returns the settings and the connection options of a command that needs no settings if a server
// runs. If the file has errors and a server runs, the command uses only the server: the settings are then zero,
// and clientOptions prints a warning to out. Without a server, it returns the errors of the file.
func (all *commands) clientOptions(
	ctx context.Context, out io.Writer, kind string,
) (file config.Config, o connection.Options, err error) {
	file, rejected := all.settings()
	if rejected != nil {
		file = config.Config{}
		var serves bool
		if file.Database, serves = all.serverWithoutSettings(ctx); !serves {
			return file, o, rejected
		}
	}
	if o, err = all.options(file, kind); err != nil || rejected == nil {
		return file, o, err
	}
	o.ServerOnly = true
	first, _, more := strings.Cut(rejected.Error(), "\n")
	if more {
		first += ", and other errors"
	}
	note(out, "warning: the settings file has errors, and this command does without it: "+first)
	return config.Config{}, o, nil
}

// serverWithoutSettings reports whether a command can use a running server although the settings file has
// errors: the server of ASKBACK_URL, or the local server that was started with this file or has the database of
// --db. It also returns the database of the file, if it can be found.
func (all *commands) serverWithoutSettings(ctx context.Context) (database string, serves bool) {
	if all.DB == "" {
		if src, err := os.ReadFile(all.Config); err == nil {
			database = config.DatabaseOf(src, os.LookupEnv)
		}
	}
	if os.Getenv("ASKBACK_URL") != "" {
		return database, true
	}
	path, err := all.database(config.Config{Database: database})
	if err != nil {
		return database, false
	}
	if _, err := os.Stat(path); err != nil { // At would create the folder of the database
		return database, false
	}
	place, err := instance.At(path)
	if err != nil {
		return database, false
	}
	server, ok := place.Last()
	return database, ok && (all.DB != "" || server.Settings == instance.SettingsName(all.Config)) &&
		server.Proves(ctx) == nil
}

// connector returns a connector with these options. It returns an error if ASKBACK_URL is not valid, or if it
// names a remote server and ASKBACK_TOKEN is not set.
func connector(o connection.Options) (*connection.Connector, error) {
	u, err := url.Parse(o.Remote)
	if o.Remote != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, usage("ASKBACK_URL is not the address of a server; write it as in http://127.0.0.1:7575")
	}
	if u.Path != "" {
		return nil, usage(fmt.Sprintf("ASKBACK_URL has the path %s, and Askback cannot be served below a path: write "+
			"only scheme, name and port, as in http://127.0.0.1:7575", strconv.Quote(u.Path)))
	}
	conn := connection.New(o)
	if !conn.IsLocal() && o.Tokens.Given == "" {
		return nil, exitError{
			exitRefused, "ASKBACK_URL is the address of a server on another machine, which must not get a token of " +
				"this machine: set ASKBACK_TOKEN",
		}
	}
	return conn, nil
}

// thenClose closes a connector and returns err. An error of Close is only printed, because
// the result of the command is already stored.
func thenClose(io streams, conn *connection.Connector, err error) error {
	if closed := conn.Close(); closed != nil {
		note(io.err, closed.Error())
	}
	return err
}
