package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/settings"
)

// AgentFiles returns the files in a directory whose names end with .md, sorted by name. It leaves out hidden
// files.
func AgentFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// LoadAgents reads definitions of agents, and returns the valid definitions in the order of their files. The
// error has the problems of all files: a [settings.Invalid] for each file with problems, or the reason why
// the file cannot be read. Two agents with the same name are also a problem. A definition must not name a
// model or a server that c does not have.
func (c Config) LoadAgents(files []string, env func(string) (string, bool)) ([]Agent, error) {
	var all []Agent
	var problems []error
	first := map[string]string{} // the file of each name
	for _, file := range files {
		a, places, err := c.readAgent(file, env)
		if places.name != "" {
			if other, twice := first[places.name]; twice {
				clash := settings.Problem{
					Line: places.at.Line, Column: places.at.Column,
					Detail: settings.Quote(places.name) + " is also the name of " + other, Fix: "choose another name",
				}
				err = errors.Join(err, settings.Invalid{File: file, Problems: []settings.Problem{clash}})
			} else {
				first[places.name] = file
			}
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		all = append(all, a)
	}
	return all, errors.Join(problems...)
}

// readAgent reads a definition from a file. It returns an error if the file is not a regular file.
func (c Config) readAgent(file string, env func(string) (string, bool)) (Agent, agentPlaces, error) {
	// Opening a pipe would block until a program writes to the pipe.
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", file)
	}
	if err != nil {
		return Agent{}, agentPlaces{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return Agent{}, agentPlaces{}, err
	}
	defer f.Close()
	return loadAgent(file, f, env, &c)
}

// agentPlaces are the places in a definition that its checks need.
type agentPlaces struct {
	name  string            // the name of the agent, if it is valid
	at    settings.Position // the place of the name
	model settings.Position
	tools []settings.Position

	confirm, allow, dangerous []settings.Position // the places of the patterns
}

// checkUse adds a problem for each model and each server that a definition names and c does not
// have.
func (l *loader) checkUse(c *Config, a Agent, p agentPlaces) {
	name := a.Model
	if name == "" {
		name = DefaultModel
	}
	if problem, fix := c.modelProblem(name, l.Env); problem != "" {
		if a.Model == "" {
			fix += ", or write model: in the front matter"
		}
		l.AddProblem(p.model, fix, "%s", problem)
	}
	for i, entry := range a.Tools {
		if problem, fix := c.toolProblem(entry); problem != "" {
			l.AddProblem(p.tools[i], fix, "%s", problem)
		}
	}
}

// checkRules adds a problem for each pattern that matches no tool of any server of the agent. The author
// relies on the pattern, and may have misspelled it.
func (l *loader) checkRules(a Agent, p agentPlaces) {
	places := slices.Concat(p.confirm, p.allow, p.dangerous)
	for i, pattern := range slices.Concat(a.Confirm, a.Allow, a.Dangerous) {
		if !a.mayMatch(pattern) {
			l.AddProblem(places[i], "write a server or a tool of it, as in files.delete*",
				"the pattern %s matches no tool of this agent", settings.Quote(pattern))
		}
	}
}

// mayMatch reports whether a pattern can match a tool of the agent, or one of its servers. If the agent has
// all tools of a server, a tool with any name may exist.
func (a Agent) mayMatch(pattern string) bool {
	for _, entry := range a.Tools {
		server, _, single := cutServer(entry)
		whole, _ := path.Match(flat(pattern), flat(server))
		one, _ := path.Match(flat(pattern), flat(entry))
		if whole || single && one || !single && mayBegin(flat(pattern), flat(server+".")) {
			return true
		}
	}
	return false
}

// flat replaces slashes in s, so that a "*" of path.Match also matches slashes.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// mayBegin reports whether a valid pattern can match a text that begins with this text and is longer.
func mayBegin(pattern, text string) bool {
	for _, want := range text {
		size := 1
		switch {
		case pattern == "":
			return false
		case pattern[0] == '*':
			return true
		case pattern[0] == '[':
			size = classSize(pattern)
		case pattern[0] == '\\':
			size = 2
		default:
			_, size = utf8.DecodeRuneInString(pattern)
		}
		if ok, err := path.Match(pattern[:size], string(want)); err != nil || !ok {
			return false
		}
		pattern = pattern[size:]
	}
	return pattern != ""
}

// classSize returns the length of the class with which a valid pattern begins.
func classSize(pattern string) int {
	for i := 1; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(pattern)
}

// Servers returns the names of the MCP servers whose tools the agent has, sorted.
func (a Agent) Servers() []string {
	var names []string
	for _, entry := range a.Tools {
		if name, _, _ := cutServer(entry); !slices.Contains(BuiltInTools, entry) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// cutServer returns the server of an entry of the tools of an agent. If the entry is a single tool, single is
// set, and cutServer also returns the tool.
func cutServer(entry string) (server, tool string, single bool) { return strings.Cut(entry, ".") }
