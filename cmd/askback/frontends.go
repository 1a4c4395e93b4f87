package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/internal/server/telemetry"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/sqlite"
	"github.com/askback/askback/web"
)

// maxStreams is how many event streams one agent or person may have open (wire.md §1).
const maxStreams = 200

type frontendOptions struct {
	kind     string
	key      []byte         // see [connection.Tokens.Key]
	log      *slog.Logger   // nil logs nothing
	records  *serverlog.Log // audit log; if it is nil, nothing is recorded
	settings *reloader      // nil if there are neither a settings file nor hosted agents
	hooks    httpapi.HookVerifier
	login    *login.Settings
	metrics  *telemetry.Metrics // nil counts nothing
	channels *channelSet
}

// frontends is the HTTP handler of an instance: the API, the routes that other programs
// use, MCP and the pages.
type frontends struct {
	http.Handler
	api    *httpapi.Handler
	mcp    *mcpserver.Server
	issuer *issuer // nil if people do not log in with an issuer

	stopChannels func()
}

func newFrontends(i *connection.Instance, o frontendOptions) *frontends {
	public := i.PublicURL()
	api := &httpapi.Options{
		PublicURL: public, Version: version(), Log: o.log, MaxStreams: maxStreams, Proof: i.Proof, Hooks: o.hooks,
	}
	api.Ready = func(ctx context.Context) (httpapi.Readiness, error) {
		r, err := readiness(i.Health(), o.settings)
		if err == nil {
			r.People = peopleProblem(i.Engine().CheckDirectory(ctx))
		}
		return r, err
	}
	if o.metrics != nil {
		o.metrics.Watch(i.Engine().Load, func() telemetry.Database { return database(i) })
		api.Metrics = o.metrics
	}
	if o.kind == instance.KindAsk {
		api.Yield = i.Yield
	}
	mcp := &mcpserver.Options{
		PublicURL: public, Secret: o.key, Version: version(), Log: o.log, Waiting: i.Place().Waiting(),
	}
	pages := &web.Options{
		Zone: time.Local, ZoneOf: o.channels.zoneOf, Log: o.log, PublicURL: public,
		Push: o.channels.push, Chats: o.channels.chats(), Titles: kinds.Titles(),
	}
	pages.Links = o.channels.links(i.Engine())
	f := &frontends{}
	if o.login != nil {
		f.issuer = &issuer{login.NewIssuer(*o.login), i.Engine(), o.log, new(atomic.Int64)}
		pages.Issuer, mcp.Issuer = f.issuer.Issuer, f.issuer
	}
	auth, logins := web.Authenticator(i.Engine()), web.Logins(i.Engine())
	if o.records != nil {
		auth, logins = o.records.Audit(auth), o.records.AuditLogins(auth, logins)
	}
	f.mcp = mcpserver.New(mcp)
	f.api = httpapi.NewHandler(auth, api)
	mux := http.NewServeMux()
	for _, path := range []string{"/api/", "/conversations/", "/agent/", "/hooks/", "/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, f.api)
	}
	mux.Handle(login.ResourcePath, f.mcp.Handler(auth))
	if metadata := f.mcp.Metadata(); metadata != nil {
		mux.Handle(mcpserver.MetadataPath, metadata)
	}
	mux.Handle("/", web.New(auth, logins, i.Engine(), pages))
	o.channels.handle(mux, i.Engine())
	f.Handler = mux
	f.stopChannels = o.channels.start(i.Engine())
	return f
}

// Stop implements [connection.Handler].
func (f *frontends) Stop() {
	f.stopChannels()
	f.api.Stop()
	f.mcp.Stop()
}

// Finish implements [connection.Handler].
func (f *frontends) Finish() { f.mcp.Finish() }

// database describes the database of an instance for metrics.
func database(i *connection.Instance) telemetry.Database {
	h := i.Health()
	return telemetry.Database{
		Bytes: h.Bytes, Failed: h.Failed != nil, DiskFull: h.DiskFull != nil, Damaged: len(h.Damaged),
	}
}

// readiness returns what /readyz reports, and the error if the server cannot work.
//
// A rejected settings file or a damaged record is not an error, because everything else works. A failed
// database or a full disk is an error, because nothing can be asked or answered. A database page that cannot be read
// is an error, because lists then omit records. Errors in the settings file are only in the log, because
// /readyz is public.
func readiness(h sqlite.Health, settings *reloader) (r httpapi.Readiness, err error) {
	r.Damaged = withoutNames(h.Damaged)
	if settings.rejected() {
		r.Settings = "the file is rejected; the previous settings apply"
	}
	if settings.hosted().IsRejected() {
		r.Settings = strings.TrimPrefix(r.Settings+"; the definitions of agents are rejected; the previous ones apply",
			"; ")
	}
	switch {
	case h.Failed != nil:
		return r, h.Failed
	case h.DiskFull != nil:
		return r, askback.ErrDiskFull
	case h.Unreadable:
		return r, fmt.Errorf(
			"%w: a page of the database file cannot be read, so lists omit records (%s); restore a backup",
			askback.ErrDamaged, strings.Join(r.Damaged, ", "),
		)
	}
	return r, nil
}

// withoutNames removes the names of people from the names of damaged rows. The name of a
// draft ends with a slash and its author.
func withoutNames(rows []string) (out []string) {
	for _, row := range rows {
		id, _, _ := strings.Cut(row, "/")
		out = append(out, id)
	}
	return out
}

// peopleProblem returns the problem of people, groups and routes that /readyz reports, or "". Names are only
// in the log and in askback doctor, because /readyz is public.
func peopleProblem(problems []engine.DirectoryProblem, err error) string {
	refused := 0
	for _, p := range problems {
		if p.Refuses {
			refused++
		}
	}
	switch {
	case err != nil:
		return "groups and routes cannot be checked; the log has the reason"
	case len(problems) == 0:
		return ""
	case refused == 0:
		return "groups or routes name unknown people; the log and askback doctor list them"
	}
	return "no person may approve the confirmations of some routes; the log and askback doctor list the routes"
}
