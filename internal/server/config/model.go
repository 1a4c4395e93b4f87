package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/internal/modelhttp"
)

// A Model configures a model of hosted agents, which name it (E12).
type Model struct {
	Provider  string // anthropic, openai or scripted; or demo, which no settings can have
	Model     string // as the provider calls it
	APIKey    string
	BaseURL   string // "": that of the provider
	AllowHTTP bool   // BaseURL may be http to another machine
	Script    string // of a scripted model: a file. A relative path begins at the folder of the settings
	MaxTokens int    // the maximum length of a reply; 0: the default
	Prices    Prices
}

// Prices are what a million tokens cost, in US dollars. 0 means that a price is not known.
type Prices struct{ Input, Output, Cached, Stored float64 }

// The variables with the key of models that are not in the settings, and with the address to which
// their requests are sent, as the SDKs of Anthropic have them.
const (
	anthropicKey = "ANTHROPIC_API_KEY"
	anthropicURL = "ANTHROPIC_BASE_URL"
)

// families are the models of Anthropic that need no settings.
var families = []string{"sonnet", "opus", "haiku"}

// AllModels returns the models that agents can name. With a key of Anthropic in the environment,
// sonnet, opus and haiku are the newest models of it, unless the settings have others with these
// names; their requests go to the base URL in the environment, if it has one. The model default is sonnet, and demo is the model of a demonstration, unless the settings
// have one.
func (c Config) AllModels(env func(string) (string, bool)) map[string]Model {
	all := maps.Clone(c.Models)
	if all == nil {
		all = map[string]Model{}
	}
	add := func(name string, m Model) {
		if _, configured := all[name]; !configured {
			all[name] = m
		}
	}
	if key, _ := env(anthropicKey); strings.TrimSpace(key) != "" {
		base, _ := env(anthropicURL)
		for _, name := range families {
			add(name, Model{Provider: "anthropic", Model: anthropic.Newest(name), APIKey: key, BaseURL: strings.TrimSpace(base)})
		}
	}
	if sonnet, ok := all["sonnet"]; ok {
		add(DefaultModel, sonnet)
	}
	add(DemoModel, Model{Provider: DemoModel})
	return all
}

const (
	// DefaultModel is the name of the model of agents that name none.
	DefaultModel = "default"
	// DemoModel is the name and the provider of a model that needs no settings and no key. It is
	// for a first look.
	DemoModel = "demo"
)

// named calls each for every key of the mapping v and its value, and for the position of the key.
// Repeated keys are problems, and so are those in which check finds one.
func (l *loader) named(v value, example string, check func(name string) (problem, fix string), each func(name string, here position, v value)) {
	if !l.hasValue(v) {
		return
	}
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		l.addProblem(v.at, "write names and their values, as in "+example, "%s is %s", v.key, describe(v.node))
		return
	}
	seen := map[string]position{}
	for _, n := range m.Values {
		here, name := positionOf(n.Key), keyName(n.Key)
		if first, twice := seen[name]; twice {
			l.addProblem(here, "write it once", "%s.%s is already set in line %d", v.key, name, first.line)
			continue
		}
		seen[name] = here
		if problem, fix := check(name); problem != "" {
			l.addProblem(here, fix, "%s: %s %s", v.key, quote(name), problem)
			continue
		}
		each(name, here, value{n.Value, v.key + "." + name, valuePosition(n.Value, here)})
	}
}

func modelNameProblem(name string) (problem, fix string) {
	if !agentName().MatchString(name) {
		return "is not the name of a model", "use lower-case letters, digits, -, _ and ., as in local"
	}
	return "", ""
}

// models reads the models by name.
func (l *loader) models(v value) map[string]Model {
	all := map[string]Model{}
	l.named(v, "local: {provider: openai, …}", modelNameProblem, func(name string, here position, v value) {
		all[name] = l.model(v, here)
	})
	return all
}

// model reads one model. Its problems do not repeat the key.
func (l *loader) model(v value, here position) (m Model) {
	before := len(l.problems)
	at := map[string]position{}
	noted := func(s setting) setting {
		read := s.read
		s.read = func(v value) { at[s.key] = v.at; read(v) }
		return s
	}
	l.group([]setting{
		{key: "provider", read: l.oneOf(&m.Provider, "anthropic", "openai", "scripted")},
		noted(setting{key: "model", read: l.textTo(&m.Model, "the name of a model, as the provider calls it")}),
		noted(setting{key: "api_key", read: l.secret(&m.APIKey, `a variable with the key, as in "${ANTHROPIC_API_KEY}"`, keyProblem)}),
		noted(setting{key: "base_url", read: l.secret(&m.BaseURL, baseURLExample, nil)}),
		noted(setting{key: "allow_http", read: l.boolean(&m.AllowHTTP)}),
		noted(setting{key: "script", read: l.textTo(&m.Script, "the path of a script, as in poem.yaml")}),
		noted(setting{key: "max_tokens", read: l.count(&m.MaxTokens)}),
		noted(setting{key: "prices", read: func(v value) { l.prices(v, &m.Prices) }}),
	})(v)
	if len(l.problems) == before {
		l.checkModel(m, v.key, here, at)
	}
	return m
}

const baseURLExample = "an address, as in http://127.0.0.1:11434/v1"

func keyProblem(s string) (problem string) {
	if modelhttp.CheckKey(s) != nil {
		return "has a character that keys do not have, such as a space"
	}
	return ""
}

// checkModel adds the problems of a model whose keys are valid by themselves: which keys it must
// have and cannot have depends on the provider.
func (l *loader) checkModel(m Model, key string, here position, at map[string]position) {
	missing := func(name, fix string) { l.addProblem(here, "write "+fix, "%s has no %s", key, name) }
	switch m.Provider {
	case "":
		missing("provider", "provider: anthropic, openai or scripted")
		return
	case "scripted":
		for _, name := range []string{"model", "api_key", "base_url", "allow_http", "max_tokens", "prices"} {
			if where, found := at[name]; found {
				l.addProblem(where, "remove it", "%s.%s: a scripted model has none", key, name)
			}
		}
		if m.Script == "" {
			missing("script", "script: poem.yaml")
		}
		return
	}
	if where, found := at["script"]; found {
		l.addProblem(where, "remove it, or write provider: scripted", "%s.script: only a scripted model has one", key)
	}
	if m.Model == "" {
		missing("model", "the name of the model, as the provider calls it")
	}
	if m.APIKey == "" && (m.Provider == "anthropic" || m.BaseURL == "") {
		missing("api_key", `a variable with the key, as in api_key: "${`+strings.ToUpper(m.Provider)+`_API_KEY}"`)
	}
	if m.BaseURL == "" {
		return
	}
	if err := modelhttp.CheckBaseURL(m.BaseURL, m.AllowHTTP); err != nil {
		fix := "write " + baseURLExample
		if strings.HasPrefix(m.BaseURL, "http://") {
			fix = "write an address with https, or add allow_http: true"
		}
		l.addProblem(at["base_url"], fix, "%s.%v", key, err)
	}
}

// price is the form of a price.
var price = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`) })

// prices reads what a million tokens cost.
func (l *loader) prices(v value, p *Prices) {
	before := len(l.problems)
	read := func(key string, dst *float64) setting {
		return setting{key: key, read: func(v value) {
			const example = "US dollars for a million tokens, as in 3.75"
			text := ""
			switch n := v.node.(type) {
			case *ast.IntegerNode:
				text = n.Token.Value
			case *ast.FloatNode:
				text = n.Token.Value
			default:
				if _, s, ok := l.scalar(v, example); ok {
					text = s
				} else {
					return
				}
			}
			if !price().MatchString(text) {
				l.addProblem(v.at, "write "+example, "%s is not a price", v.key)
			}
			*dst, _ = strconv.ParseFloat(text, 64)
		}}
	}
	l.group([]setting{read("input", &p.Input), read("output", &p.Output), read("cached", &p.Cached), read("stored", &p.Stored)})(v)
	if len(l.problems) == before && (p.Input == 0) != (p.Output == 0) {
		l.addProblem(v.at, "write input and output, as in {input: 3, output: 15}", "%s has only one of the prices", v.key)
	}
}

// modelProblem returns what is wrong with the name of a model, and the fix, or "".
func (c Config) modelProblem(name string, env func(string) (string, bool)) (problem, fix string) {
	all := c.AllModels(env)
	if _, ok := all[name]; ok {
		return "", ""
	}
	switch {
	case name == DefaultModel:
		return "there is no default model", "set " + anthropicKey + " in the environment of askback, or add default to models in the settings"
	case slices.Contains(families, name):
		return "the settings have no model " + name + ", and " + anthropicKey + " is not set", "set it in the environment of askback, or add " + name + " to models in the settings"
	}
	known := append(slices.Sorted(maps.Keys(all)), families...)
	if near := nearest(name, known); near != "" {
		return "there is no model " + quote(name), "did you mean " + near + "?"
	}
	return "there is no model " + quote(name), "add it to models in the settings"
}
