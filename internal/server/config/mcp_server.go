package config

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"

	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// An MCPServer configures an MCP server with tools for hosted agents. It has either a command or a URL.
type MCPServer struct {
	Command []string          // the program and its arguments, without a shell
	Env     map[string]string // additional environment of the command

	URL       string // the address of the endpoint
	Headers   map[string]string
	AllowHTTP bool // URL may be http to another machine
}

var (
	// serverName is the form of a server's name. The name has no dot, because a dot separates it from the
	// name of a tool. It is short enough for the names of tools that models get.
	serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })
	headerName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$")
	})
	ownedHeaders = []string{
		"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Mcp-Protocol-Version",
		"Mcp-Session-Id", "Transfer-Encoding",
	}
)

func serverNameProblem(name string) (problem, fix string) {
	switch {
	case slices.Contains(BuiltInTools, name):
		return "is the name of a built-in tool", "choose another name"
	case !serverName().MatchString(name):
		return "is not the name of a server", "use at most 32 lower-case letters, digits, - and _, as in files"
	}
	return "", ""
}

// mcpServers reads the MCP servers, keyed by name.
func (l *loader) mcpServers(v settings.Value) map[string]MCPServer {
	all := map[string]MCPServer{}
	l.Named(v, "write names and their values, as in files: {command: [mcp-files, --root, /srv/work]}",
		serverNameProblem, func(name string, here settings.Position, v settings.Value) {
			all[name] = l.mcpServer(v, here)
		})
	return all
}

// mcpServer reads a server. Its problems do not repeat arguments, addresses or values, because each of them
// can be a secret.
func (l *loader) mcpServer(v settings.Value, here settings.Position) (s MCPServer) {
	before := l.Problems()
	var urlAt, envAt, headersAt, httpAt settings.Position
	l.Group([]settings.Setting{
		{Key: "command", Read: func(v settings.Value) { s.Command = l.command(v) }},
		{Key: "env", Read: func(v settings.Value) {
			envAt = v.At
			s.Env = l.secretTexts(v, `LOG: debug`, variableProblem)
		}},
		{Key: "url", Read: func(v settings.Value) {
			urlAt = v.At
			l.Secret(&s.URL, urlExample, nil)(v)
		}},
		{Key: "headers", Read: func(v settings.Value) {
			headersAt = v.At
			s.Headers = l.secretTexts(v, `Authorization: "Bearer ${TICKETS_TOKEN}"`, newHeaderProblem())
		}},
		{Key: "allow_http", Read: func(v settings.Value) { httpAt = v.At; l.Boolean(&s.AllowHTTP)(v) }},
	})(v)
	if l.Problems() > before {
		return s
	}
	none := settings.Position{}
	switch {
	case s.URL == "" && len(s.Command) == 0:
		l.AddProblem(here, "write command: [mcp-files], or url: https://tickets.example.com/mcp",
			"%s has neither command nor url", v.Key)
	case s.URL != "" && len(s.Command) > 0:
		l.AddProblem(urlAt, "remove one of them", "%s has both command and url", v.Key)
	case s.URL != "" && envAt != none:
		l.AddProblem(envAt, "remove it", "%s.env: only a server with a command has an environment", v.Key)
	case s.URL == "" && headersAt != none:
		l.AddProblem(headersAt, "remove it; a command gets secrets in env",
			"%s.headers: only a server with a url has headers", v.Key)
	case s.URL == "" && httpAt != none:
		l.AddProblem(httpAt, "remove it", "%s.allow_http: only a server with a url has it", v.Key)
	case s.URL != "":
		if p := endpointProblem(s.URL, s.AllowHTTP); p != "" {
			l.AddProblem(urlAt, "write "+urlExample, "%s.url %s", v.Key, p)
		}
	}
	return s
}

const urlExample = "the address of the endpoint, as in https://tickets.example.com/mcp"

// endpointProblem returns the problem of the address of a server, or "". The problem does not contain the
// address.
func endpointProblem(s string, allowHTTP bool) (problem string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Fragment != "":
		return "is not the address of an endpoint"
	case u.User != nil:
		return "has a user or a password, which belong in headers"
	case u.Scheme == "https" || u.Scheme == "http" && (allowHTTP || egress.IsLoopback(u.Host)):
		return ""
	}
	return "is neither https nor http to this machine; allow_http: true permits http to other machines"
}

// command reads a command and its arguments.
func (l *loader) command(v settings.Value) (all []string) {
	l.List(v, func(v settings.Value) {
		var one string
		l.Secret(&one, "the command and its arguments, as in [mcp-files, --root, /srv/work]", nil)(v)
		all = append(all, one)
	})
	return all
}

// secretTexts reads texts, keyed by name. Its problems do not contain the texts.
func (l *loader) secretTexts(
	v settings.Value, example string, check func(string) (problem, fix string),
) map[string]string {
	all := map[string]string{}
	l.Named(v, "write names and their values, as in "+example,
		check, func(name string, _ settings.Position, v settings.Value) {
			var one string
			l.Secret(&one, "a text, as in "+example, nil)(v)
			all[name] = one
		})
	return all
}

func variableProblem(name string) (problem, fix string) {
	if !settings.IsVariable(name) {
		return "is not the name of a variable", "write letters, digits and _, as in LOG_LEVEL"
	}
	return "", ""
}

// newHeaderProblem returns a check of the names of headers, whose case does not matter.
func newHeaderProblem() func(name string) (problem, fix string) {
	used := map[string]bool{}
	return func(name string) (problem, fix string) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !headerName().MatchString(name):
			return "is not the name of a header", "write letters, digits and -, as in X-Api-Key"
		case slices.Contains(ownedHeaders, canonical):
			return "is a header that Askback sets", "remove it"
		case used[canonical]:
			return "is already set", "write it once"
		}
		used[canonical] = true
		return "", ""
	}
}

// toolProblem returns the problem of an entry of the tools of an agent, and the fix. Both are "" if the entry
// is valid.
func (c Config) toolProblem(entry string) (problem, fix string) {
	server, tool, single := cutServer(entry)
	_, known := c.MCPServers[server]
	switch {
	case slices.Contains(BuiltInTools, entry):
		return "", ""
	case single && tool == "":
		return settings.Quote(entry) + " lacks the name of a tool", "write the server alone for all of its tools"
	case known:
		return "", ""
	}
	servers := slices.Sorted(maps.Keys(c.MCPServers))
	near := settings.Nearest(server, servers)
	switch {
	case near != "" && single:
		return "there is no MCP server " + settings.Quote(server), "did you mean " + near + "." + tool + "?"
	case near != "":
		return "there is no MCP server " + settings.Quote(server), "did you mean " + near + "?"
	case single:
		return "there is no MCP server " + settings.Quote(server), "add it to mcp_servers in the settings"
	}
	if near := settings.Nearest(entry, BuiltInTools); near != "" {
		return "there is no MCP server " + settings.Quote(entry), "did you mean " + near + "?"
	}
	return "there is no MCP server " + settings.Quote(entry), "add it to mcp_servers in the settings; the tools " +
		"without a server are ask_user_question, confirm_action, todo_write and spawn_agents"
}
