package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/settings"
)

// topLevel returns the top-level settings of askback.yaml (wire.md §10), which are read
// into c.
func (l *loader) topLevel(c *Config) []settings.Setting {
	return []settings.Setting{
		{Key: "listen", Read: l.TextTo(&c.Listen, "an address and a port, as in 127.0.0.1:7575", addressProblem)},
		{Key: "public_url", Read: l.Text(OriginForm, func(s string) string {
			c.PublicURL = strings.TrimRight(s, "/")
			return OriginProblem(c.PublicURL)
		})},
		{Key: "database", Read: func(v settings.Value) { l.database(v, c) }},
		{Key: "people", Read: func(v settings.Value) { c.People = l.people(v) }},
		{Key: "limits", Read: l.Group([]settings.Setting{
			{Key: "pending_per_agent", Read: l.Count(&c.Limits.PendingPerAgent)},
			{Key: "asks_per_minute", Read: l.Count(&c.Limits.AsksPerMinute)},
			{Key: "digest_after", Read: l.CountOrOff(&c.Limits.DigestAfter)},
		})},
		{Key: "retention", Read: l.Group([]settings.Setting{
			{Key: "settled", Read: l.Duration(&c.Retention.Settled)},
		})},
		{Key: "undo", Read: l.undo(&c.Undo)},
		{Key: "log", Read: l.Group([]settings.Setting{
			{Key: "format", Read: l.OneOf(&c.Log.Format, "text", "json")},
			{Key: "level", Read: l.OneOf(&c.Log.Level, "info", "debug", "warn", "error")},
		})},
		{Key: "debug_listen", Read: l.TextTo(&c.DebugListen, "a loopback address and a port, as in 127.0.0.1:6060",
			addressProblem, loopbackProblem)},
		{Key: "agents", Read: l.TextTo(&c.Agents, "a directory, as in ./agents")},
		{Key: "groups", Read: func(v settings.Value) { c.Groups = l.groups(v) }},
		{Key: "routes", Read: func(v settings.Value) { c.Routes, l.routesAt = l.routes(v), v.At }},
		{Key: "channels", Read: l.channels(c)},
		{Key: "login", Read: l.login(c)},
		{Key: "models", Read: func(v settings.Value) { c.Models = l.models(v) }},
		{Key: "mcp_servers", Read: func(v settings.Value) { c.MCPServers = l.mcpServers(v) }},
	}
}

// undo returns a function that reads into dst how long an answer can be undone. It stores -1 if an answer
// cannot be undone.
func (l *loader) undo(dst *time.Duration) func(settings.Value) {
	return l.Number("1s to 1m, or 0 to send answers immediately", func(s string) string {
		d, err := askback.ParseDuration(s)
		switch {
		case err != nil:
			return "is not a duration"
		case d == 0:
			d = -1
		case d < time.Second:
			return "is shorter than a second"
		case d > limits.MaxUndo:
			return "is longer than a minute"
		}
		*dst = d
		return ""
	})
}

// renamedSettings maps the settings of other programs to hints with their names here.
var renamedSettings = map[string]string{
	"agent_question_callback_url":    "it is called channels.webhook.url here",
	"agent_question_timeout_seconds": "it is the timeout of a route here",
	"agent_question_notify_slack":    "it is called channels.slack here",
	"agent_question_slack_channel":   "it is called channels.slack.channel here",
}

func addressProblem(s string) (problem string) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "is not an address with a port"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || port != strconv.FormatUint(n, 10) {
		return "has no port from 0 to 65535"
	}
	return ""
}

func loopbackProblem(s string) (problem string) {
	if !egress.IsLoopback(s) {
		return "is not on loopback"
	}
	return ""
}

// OriginForm describes a public address.
const OriginForm = "scheme, name and port, as in https://ask.example.com"

// OriginProblem returns the problem of a public address without slashes at its end, or "". It allows only scheme,
// host and port, because Askback serves its pages at the root.
func OriginProblem(s string) (problem string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "has the wrong form"
	case s == u.Scheme+"://"+u.Host:
		return ""
	case u.Path != "" && u.User == nil && s == u.Scheme+"://"+u.Host+u.EscapedPath():
		return "has a path, and Askback cannot be served below a path: give it a name or a port of its own"
	}
	return "has the wrong form"
}

// database reads the address of the database into c. Its problems do not repeat the
// address, which can contain a password.
func (l *loader) database(v settings.Value, c *Config) {
	const example = "sqlite:PATH, as in sqlite:/var/lib/askback/askback.db"
	l.Text(example, func(s string) string {
		scheme, path, _ := strings.Cut(s, ":")
		switch {
		case scheme == "postgres" || scheme == "postgresql":
			l.AddProblem(v.At, "write "+example, "%s: this release supports only SQLite", v.Key)
		case scheme != "sqlite" || strings.TrimSpace(path) == "" || strings.HasPrefix(path, "//"):
			l.AddProblem(v.At, "write "+example, "%s: this kind of database is not supported", v.Key)
		default:
			c.Database = s
		}
		return ""
	})(v)
}
