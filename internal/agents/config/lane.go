package config

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// A Lane is the connection of a client to Askback over MCP, as its configuration describes it. The connection
// is a command, or a URL with headers.
type Lane struct {
	Command []string
	URL     string
	Headers map[string]string // may refer to environment variables; see [Lane.Expand]
	Passed  []string          // the only environment variables that the client passes on; if nil, see withoutSecrets
	// Changed is set if the entry also sets an environment or a folder, unlike the entries of askback init.
	Changed bool
	// withoutSecrets is set for a client that does not pass on variables that look like secrets.
	withoutSecrets bool
}

// serverPaths are the paths of the MCP server of Askback in the JSON files of clients.
var serverPaths = [][]string{{"mcpServers", "askback"}, {"servers", "askback"}, {"mcp", "askback"}}

// LaneIn returns the lane in a file of a client. ok is false if the file has no lane or cannot be read.
func (c *Client) LaneIn(content []byte) (l Lane, ok bool) {
	if c.Lane != nil {
		return c.Lane(content)
	}
	root, err := parse(string(content))
	if err != nil {
		return Lane{}, false
	}
	for _, at := range serverPaths {
		v, rest := find(root, at)
		if len(rest) > 0 {
			continue
		}
		var s struct {
			Command                 any
			Args                    []string
			URL, HTTPURL, ServerURL string
			Headers                 map[string]string
			Env, Environment        map[string]any
			EnvFile, CWD            any
		}
		if json.Unmarshal([]byte(compactText(string(content), v)), &s) != nil {
			return Lane{}, false
		}
		l = Lane{URL: s.URL + s.HTTPURL + s.ServerURL, Headers: s.Headers, withoutSecrets: c.HidesSecrets}
		l.Changed = len(s.Env)+len(s.Environment) > 0 || s.EnvFile != nil || s.CWD != nil
		switch c := s.Command.(type) {
		case string:
			l.Command = append([]string{c}, s.Args...)
		case []any:
			for _, word := range c {
				text, _ := word.(string)
				l.Command = append(l.Command, text)
			}
		}
		return l, l.URL != "" || len(l.Command) > 0
	}
	return Lane{}, false
}

// secret matches names of variables that Gemini CLI does not pass on.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL`)
})

// Environment returns the variables in environ (NAME=value) that the client passes to the command.
func (l Lane) Environment(environ []string) map[string]string {
	passed := map[string]string{}
	for _, one := range environ {
		name, value, _ := strings.Cut(one, "=")
		allowed := l.Passed == nil && (!l.withoutSecrets || !secret().MatchString(name))
		for _, other := range l.Passed {
			allowed = allowed || other == name
		}
		if allowed {
			passed[name] = value
		}
	}
	return passed
}

// reference matches a reference to an environment variable, in the forms of all clients.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(?:env:)?(\w+)\}|\{env:(\w+)\}|\$(\w+)`)
})

// Expand returns the headers with the values of environment variables. ok is false if a variable is not set,
// or if the client asks its user for a value.
func (l Lane) Expand(lookup func(name string) string) (headers map[string]string, ok bool) {
	headers, ok = map[string]string{}, true
	for name, value := range l.Headers {
		ok = ok && !strings.Contains(value, "${input:")
		headers[name] = reference().ReplaceAllStringFunc(value, func(ref string) string {
			m := reference().FindStringSubmatch(ref)
			v := lookup(m[1] + m[2] + m[3])
			ok = ok && v != ""
			return v
		})
	}
	return headers, ok
}
