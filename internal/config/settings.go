package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// settings are the keys of askback.yaml (wire.md §10). To take one that is
// refused so far, give its line a reader in place of the reason.
func settings(f *file, c *Config) []setting {
	return []setting{
		{key: "listen", read: f.text("an address and a port, as in 127.0.0.1:7575", func(s string) string {
			c.Listen = s
			return badAddress(s)
		})},
		{key: "public_url", read: f.text("scheme, name and port, as in https://ask.example.com", func(s string) string {
			c.PublicURL = strings.TrimRight(s, "/")
			return badOrigin(c.PublicURL)
		})},
		{key: "database", read: func(v value) { f.database(v, c) }},
		{key: "people", read: func(v value) { c.People = f.people(v) }},
		{key: "limits", read: f.group([]setting{
			{key: "pending_per_agent", read: f.count(&c.Limits.PendingPerAgent)},
			{key: "asks_per_minute", read: f.count(&c.Limits.AsksPerMinute)},
		})},
		{key: "retention", read: f.group([]setting{
			{key: "settled", read: f.duration(&c.Retention.Settled)},
		})},
		{key: "log", read: f.group([]setting{
			{key: "format", read: f.oneOf(&c.Log.Format, "text", "json")},
			{key: "level", read: f.oneOf(&c.Log.Level, "info", "debug", "warn", "error")},
		})},
		{key: "agents", later: "hosts no agents"},
		{key: "groups", later: "knows no groups; name the people in each ask"},
		{key: "routes", later: "routes nothing; an ask that names nobody is for everybody"},
		{key: "channels", later: "sends nothing to other places; people answer on the pages and in the terminal"},
		{key: "login", read: f.login(c)},
		{key: "models", later: "hosts no agents and calls no models"},
		{key: "mcp_servers", later: "hosts no agents and calls no MCP servers"},
	}
}

// elsewhere names the places of settings that other programs have under other names.
var elsewhere = map[string]string{
	"agent_question_callback_url":    "its place is channels.webhook.url",
	"agent_question_timeout_seconds": "its place is the timeout of a route",
	"agent_question_notify_slack":    "its place is channels.slack",
	"agent_question_slack_channel":   "its place is channels.slack.channel",
}

// oneOf reads one of a few words.
func (f *file) oneOf(into *string, words ...string) func(value) {
	return f.text("one of "+strings.Join(words, ", "), func(s string) string {
		if *into = s; !slices.Contains(words, s) {
			return "is not one of the values"
		}
		return ""
	})
}

func badAddress(s string) (wrong string) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "is no address with a port"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || port != strconv.FormatUint(n, 10) {
		return "has no port from 0 to 65535"
	}
	return ""
}

// badOrigin holds an address to scheme, name and port: pages stand at the root.
func badOrigin(s string) (wrong string) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || s != u.Scheme+"://"+u.Host {
		return "is no such address"
	}
	return ""
}

// database reads where everything is kept. It does not repeat what it refuses:
// the address of a database may hold a password.
func (f *file) database(v value, c *Config) {
	const example = "sqlite:PATH, as in sqlite:/var/lib/askback/askback.db"
	f.text(example, func(s string) string {
		scheme, path, _ := strings.Cut(s, ":")
		switch {
		case scheme == "postgres" || scheme == "postgresql":
			f.wrong(v.at, "write "+example, "%s: this release keeps its data in SQLite", v.key)
		case scheme != "sqlite" || strings.TrimSpace(path) == "" || strings.HasPrefix(path, "//"):
			f.wrong(v.at, "write "+example, "%s: this is no database we know", v.key)
		default:
			c.Database = s
		}
		return ""
	})(v)
}
