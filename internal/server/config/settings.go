package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
)

// settings returns the top-level settings of askback.yaml (wire.md §10), which are read
// into c.
func settings(l *loader, c *Config) []setting {
	return []setting{
		{key: "listen", read: l.textTo(&c.Listen, "an address and a port, as in 127.0.0.1:7575", addressProblem)},
		{key: "public_url", read: l.text("scheme, name and port, as in https://ask.example.com", func(s string) string {
			c.PublicURL = strings.TrimRight(s, "/")
			return originProblem(c.PublicURL)
		})},
		{key: "database", read: func(v value) { l.database(v, c) }},
		{key: "people", read: func(v value) { c.People = l.people(v) }},
		{key: "limits", read: l.group([]setting{
			{key: "pending_per_agent", read: l.count(&c.Limits.PendingPerAgent)},
			{key: "asks_per_minute", read: l.count(&c.Limits.AsksPerMinute)},
			{key: "digest_after", read: l.countOrOff(&c.Limits.DigestAfter)},
		})},
		{key: "retention", read: l.group([]setting{
			{key: "settled", read: l.duration(&c.Retention.Settled)},
		})},
		{key: "undo", read: l.undo(&c.Undo)},
		{key: "log", read: l.group([]setting{
			{key: "format", read: l.oneOf(&c.Log.Format, "text", "json")},
			{key: "level", read: l.oneOf(&c.Log.Level, "info", "debug", "warn", "error")},
		})},
		{key: "debug_listen", read: l.textTo(&c.DebugListen, "a loopback address and a port, as in 127.0.0.1:6060", addressProblem, loopbackProblem)},
		{key: "agents", read: l.textTo(&c.Agents, "a directory, as in ./agents")},
		{key: "groups", read: func(v value) { c.Groups = l.groups(v) }},
		{key: "routes", read: func(v value) { c.Routes, l.routesAt = l.routes(v), v.at }},
		{key: "channels", read: l.channels(c)},
		{key: "login", read: l.login(c)},
		{key: "models", read: func(v value) { c.Models = l.models(v) }},
		{key: "mcp_servers", read: func(v value) { c.MCPServers = l.mcpServers(v) }},
	}
}

// undo returns a function that reads into dst how long an answer can be undone: -1 for not at
// all.
func (l *loader) undo(dst *time.Duration) func(value) {
	return l.number("1s to 1m, or 0 to send answers at once", func(s string) string {
		d, err := askback.ParseDuration(s)
		switch {
		case err != nil:
			return "is not a duration"
		case d == 0:
			d = -1
		case d < time.Second:
			return "is shorter than a second"
		case d > askback.MaxUndo:
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

// oneOf returns a function that reads one of the given words into dst.
func (l *loader) oneOf(dst *string, words ...string) func(value) {
	return l.textTo(dst, "one of "+strings.Join(words, ", "), func(s string) string {
		if !slices.Contains(words, s) {
			return "is not one of the values"
		}
		return ""
	})
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

// originProblem returns what is wrong with an origin, or "". It allows only scheme, host
// and port, because Askback serves its pages at the root.
func originProblem(s string) (problem string) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || s != u.Scheme+"://"+u.Host {
		return "has the wrong form"
	}
	return ""
}

// database reads the address of the database into c. Its problems do not repeat the
// address, which can contain a password.
func (l *loader) database(v value, c *Config) {
	const example = "sqlite:PATH, as in sqlite:/var/lib/askback/askback.db"
	l.text(example, func(s string) string {
		scheme, path, _ := strings.Cut(s, ":")
		switch {
		case scheme == "postgres" || scheme == "postgresql":
			l.addProblem(v.at, "write "+example, "%s: this release supports only SQLite", v.key)
		case scheme != "sqlite" || strings.TrimSpace(path) == "" || strings.HasPrefix(path, "//"):
			l.addProblem(v.at, "write "+example, "%s: this kind of database is not supported", v.key)
		default:
			c.Database = s
		}
		return ""
	})(v)
}
