package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/text/spelling"
)

// A server is a toolset with the tools that an agent may use.
type server struct {
	set  Toolset
	all  bool
	only []string // the names of the tools, unless all is set
}

// servers returns the toolsets of a definition, sorted by name.
func servers(d *Definition) []*server {
	var list []*server
	for _, t := range d.Toolsets {
		s := &server{set: t}
		for _, name := range d.Tools {
			if set, tool, _ := d.find(name); set != nil && set.Name() == t.Name() {
				s.all = s.all || tool == ""
				s.only = append(s.only, tool)
			}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *server) int { return strings.Compare(a.set.Name(), b.set.Name()) })
	return list
}

// listTime is the time in which a server must list its tools. A server that is a command may have to be
// downloaded first.
const listTime = time.Minute

// tools returns the tools that the agent may use, sorted by name. The error is a [*ModelError]. It can be
// repeated if the tools cannot be listed, but not if a tool of the definition is missing.
func (s *server) tools(ctx context.Context) (tools []ToolInfo, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &ModelError{Err: fmt.Errorf("the server %s panicked: %v", s.set.Name(), p)}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	all, err := s.set.Tools(ctx)
	if err != nil {
		return nil, &ModelError{
			Err: fmt.Errorf("the tools of the server %s cannot be listed: %w", s.set.Name(), err), Retry: true,
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b ToolInfo) bool { return a.Name == b.Name })
	if s.all {
		return all, nil
	}
	for _, name := range slices.Sorted(slices.Values(s.only)) {
		i, found := slices.BinarySearchFunc(all, name,
			func(t ToolInfo, name string) int { return strings.Compare(t.Name, name) })
		if !found {
			return nil, &ModelError{Err: fmt.Errorf(
				"the server %s has no tool %q; correct tools of the agent: it has %s", s.set.Name(), name,
				listOf(toolNames(all), name),
			)}
		}
		tools = append(tools, all[i])
	}
	return tools, nil
}

func toolNames(tools []ToolInfo) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// An offer describes the tools that a run may call.
type offer struct {
	tools  []Tool // first the built-in tools, then the tools of servers by name, so that providers can cache them
	served map[string]served
	agents []string // the agents that the run may start
}

// served is a tool of a server.
type served struct {
	*server
	ToolInfo
	confirm bool // a person must approve each call
}

// has reports whether the tool with the given name is offered.
func (o offer) has(name string) bool {
	return slices.ContainsFunc(o.tools, func(t Tool) bool { return t.Name == name })
}

// offer returns the tools of a run. agents are all agents of the runner. The error is a [*ModelError].
func (s session) offer(ctx context.Context, agents []*hosted) (offer, error) {
	o := offer{served: map[string]served{}}
	for _, a := range s.startable(agents) {
		o.agents = append(o.agents, a.Name)
	}
	if s.asker != nil {
		for _, name := range s.asks() {
			o.tools = append(o.tools, s.askTool(name))
		}
	}
	if slices.Contains(s.Tools, TodoWrite) {
		o.tools = append(o.tools, todoTool)
	}
	if slices.Contains(s.Tools, SpawnAgents) && !s.isChild() {
		o.tools = append(o.tools, spawnTool)
	}
	for _, server := range s.servers {
		tools, err := s.serves(ctx, server)
		if err != nil {
			return offer{}, err
		}
		for _, t := range tools {
			name := modelName(server.set.Name(), t.Name)
			if _, taken := o.served[name]; !taken {
				o.served[name] = t
				o.tools = append(o.tools, Tool{Name: name, Description: s.describe(t), Schema: t.Schema})
			}
		}
	}
	return o, nil
}

// startable returns the agents that the run may start.
func (s session) startable(agents []*hosted) (list []*hosted) {
	for _, a := range agents {
		if a.StartBy == nil || a.Name == s.Name || slices.Contains(a.StartBy, directory.AgentPrefix+s.Name) {
			list = append(list, a)
		}
	}
	return list
}

// serves returns the tools of a server that the agent may use.
func (s session) serves(ctx context.Context, server *server) ([]served, error) {
	tools, err := server.tools(ctx)
	all := make([]served, len(tools))
	for i, t := range tools {
		all[i] = served{server, t, s.Confirms(server.set.Name(), t.Name, t.ReadOnly)}
	}
	return all, err
}

// describe returns the description of t for the model. If a person must approve each call, the description
// has a note.
func (s session) describe(t served) string {
	text := cmp.Or(t.Description, t.Title)
	switch {
	case t.confirm && s.asker != nil:
		text += "\n(A person is shown each call and must approve it. Do not ask for that in another way.)"
	case t.confirm:
		text += "\n(Each call needs the approval of a person. No person can be asked in this run, so it is rejected.)"
	}
	return strings.TrimSpace(text)
}

// askTool returns an ask tool. If defaults may become the answers after a timeout, each question needs a
// default.
func (s session) askTool(name string) Tool {
	t := Tool{Name: name, Description: asktool.Description(name), Schema: asktool.Schema(name)}
	if name == AskUserQuestion && s.asker.needsDefaults() {
		t.Schema = schemaWithDefault()
	}
	return t
}

// separator is the text between the names of a server and a tool. No name of a built-in tool contains it.
const separator = "__"

// maxModelName is the maximum length of a tool's name that every provider accepts.
const maxModelName = 64

var (
	notModelName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9_-]`) })
	endsInHash   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_[0-9a-f]{10}$`) })
)

// modelName returns the name of a tool for models: the name of its server, the separator, and the tool's own
// name. If that name is not valid or could be taken for the name of another tool, it is changed and ends in a
// hash of both names. The result depends only on both names, so a name that a model used means the same tool
// later. In a name without a hash, the first separator follows the name of the server, so no other tool has
// this name.
func modelName(server, tool string) string {
	name := server + separator + tool
	plain := !strings.Contains(server, separator) && !strings.HasSuffix(server, "_") && !endsInHash().MatchString(name)
	if plain && len(name) <= maxModelName && tool != "" && !notModelName().MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	hash := "_" + hex.EncodeToString(sum[:5])
	name = notModelName().ReplaceAllString(name, "_")
	return name[:min(len(name), maxModelName-len(hash))] + hash
}

// closestFirst returns names, beginning with the names most similar to wrong.
func closestFirst(wrong string, names []string) []string {
	distance := map[string]int{}
	for _, name := range names {
		distance[name] = spelling.Distance([]rune(strings.ToLower(wrong)), []rune(strings.ToLower(name)))
		if _, own, found := strings.Cut(name, separator); found { // models often omit the name of the server
			distance[name] = min(distance[name],
				spelling.Distance([]rune(strings.ToLower(wrong)), []rune(strings.ToLower(own))))
		}
	}
	return slices.SortedStableFunc(slices.Values(names),
		func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
}

// listOf joins names for an error message, beginning with the names most similar to wrong.
func listOf(names []string, wrong string) string {
	const most = 12
	list := closestFirst(wrong, names)
	switch n := len(list); {
	case n == 0:
		return "none"
	case n > most:
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(list, ", ")
}
