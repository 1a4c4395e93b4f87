package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/internal/hosted/modelhttp"
	"github.com/askback/askback/internal/settings"
)

// A Model configures a model of hosted agents (E12).
type Model struct {
	Provider  string // anthropic, openai or scripted; or demo, which settings cannot have
	Model     string // the provider's name of the model
	APIKey    string
	BaseURL   string // "" for the address of the provider
	AllowHTTP bool   // BaseURL may be http to another machine
	Script    string // the file of a scripted model. A relative path begins at the folder of the settings
	MaxTokens int    // the maximum length of a reply, or 0 for the default
	Prices    Prices
}

// Prices are the prices for a million tokens, in US dollars. A price of 0 is not known.
type Prices struct{ Input, Output, Cached, Stored float64 }

// The environment variables with the API keys of models that are not in the settings, and with the URLs for
// their requests. The SDKs of the providers use the same names. A model of OpenAI, or of another server with
// its API, needs its name, too.
const (
	anthropicKey = "ANTHROPIC_API_KEY"
	anthropicURL = "ANTHROPIC_BASE_URL"
	openaiKey    = "OPENAI_API_KEY"
	openaiModel  = "OPENAI_MODEL"
	openaiURL    = "OPENAI_BASE_URL"
)

// families are the models of Anthropic that need no settings.
var families = []string{"sonnet", "opus", "haiku"}

// AllModels returns the models that agents can name, keyed by name. With an API key of Anthropic in the
// environment, sonnet, opus and haiku are the newest models of Anthropic. Their requests go to the base URL
// in the environment, if there is a base URL. With an API key and a model of OpenAI in the environment, openai
// is this model. The model default is sonnet or else openai, and demo is the model of the demonstration.
// Models in the settings replace models with the same names.
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
	text := func(name string) string { value, _ := env(name); return strings.TrimSpace(value) }
	if key, _ := env(anthropicKey); strings.TrimSpace(key) != "" {
		for _, name := range families {
			add(name, Model{
				Provider: "anthropic", Model: anthropic.Newest(name), APIKey: key, BaseURL: text(anthropicURL),
			})
		}
	}
	if key, _ := env(openaiKey); strings.TrimSpace(key) != "" && text(openaiModel) != "" {
		add(openaiName, Model{
			Provider: "openai", Model: text(openaiModel), APIKey: key, BaseURL: text(openaiURL),
		})
	}
	for _, name := range []string{"sonnet", openaiName} {
		if m, ok := all[name]; ok {
			add(DefaultModel, m)
		}
	}
	add(DemoModel, Model{Provider: DemoModel})
	return all
}

// openaiName is the name of the model in the environment with the API of OpenAI.
const openaiName = "openai"

// MissingModel returns what makes a model available without settings. env looks up environment variables.
func MissingModel(env func(string) (string, bool)) string {
	if key, _ := env(openaiKey); strings.TrimSpace(key) != "" {
		return "set " + openaiModel + " in the environment of askback to the name of a model, because " + openaiKey +
			" is set, or set " + anthropicKey
	}
	return "set " + anthropicKey + ", or " + openaiKey + " and " + openaiModel + ", in the environment of askback"
}

const (
	// DefaultModel is the name of the model for agents without a model.
	DefaultModel = "default"
	// DemoModel is the name and the provider of a model for a first run, which needs no settings and no key.
	DemoModel = "demo"
)

func modelNameProblem(name string) (problem, fix string) {
	if !agentName().MatchString(name) {
		return "is not the name of a model", "use lower-case letters, digits, -, _ and ., as in local"
	}
	return "", ""
}

// models reads the models, keyed by name.
func (l *loader) models(v settings.Value) map[string]Model {
	all := map[string]Model{}
	l.Named(v, "write names and their values, as in local: {provider: openai, …}",
		modelNameProblem, func(name string, here settings.Position, v settings.Value) {
			all[name] = l.model(v, here)
		})
	return all
}

// model reads a model. Its problems do not contain the API key.
func (l *loader) model(v settings.Value, here settings.Position) (m Model) {
	before := l.Problems()
	at := map[string]settings.Position{}
	noted := func(s settings.Setting) settings.Setting {
		read := s.Read
		s.Read = func(v settings.Value) { at[s.Key] = v.At; read(v) }
		return s
	}
	l.Group([]settings.Setting{
		{Key: "provider", Read: l.OneOf(&m.Provider, "anthropic", "openai", "scripted")},
		noted(settings.Setting{
			Key: "model", Read: l.TextTo(&m.Model, "the name of a model, as the provider calls it"),
		}),
		noted(settings.Setting{
			Key:  "api_key",
			Read: l.Secret(&m.APIKey, `a variable with the key, as in "${ANTHROPIC_API_KEY}"`, keyProblem),
		}),
		noted(settings.Setting{Key: "base_url", Read: l.Secret(&m.BaseURL, baseURLExample, nil)}),
		noted(settings.Setting{Key: "allow_http", Read: l.Boolean(&m.AllowHTTP)}),
		noted(settings.Setting{Key: "script", Read: l.TextTo(&m.Script, "the path of a script, as in poem.yaml")}),
		noted(settings.Setting{Key: "max_tokens", Read: l.Count(&m.MaxTokens)}),
		noted(settings.Setting{Key: "prices", Read: func(v settings.Value) { l.prices(v, &m.Prices) }}),
	})(v)
	if l.Problems() == before {
		l.checkModel(m, v.Key, here, at)
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

// checkModel adds the problems of a model whose keys are valid by themselves: the provider determines which
// keys are required and allowed.
func (l *loader) checkModel(m Model, key string, here settings.Position, at map[string]settings.Position) {
	missing := func(name, fix string) { l.AddProblem(here, "write "+fix, "%s has no %s", key, name) }
	switch m.Provider {
	case "":
		missing("provider", "provider: anthropic, openai or scripted")
		return
	case "scripted":
		for _, name := range []string{"model", "api_key", "base_url", "allow_http", "max_tokens", "prices"} {
			if where, found := at[name]; found {
				l.AddProblem(where, "remove it", "%s.%s: a scripted model has none", key, name)
			}
		}
		if m.Script == "" {
			missing("script", "script: poem.yaml")
		}
		return
	}
	if where, found := at["script"]; found {
		l.AddProblem(where, "remove it, or write provider: scripted", "%s.script: only a scripted model has one", key)
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
		l.AddProblem(at["base_url"], fix, "%s.%v", key, err)
	}
}

// price is the form of a price.
var price = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`) })

// prices reads the prices of a million tokens.
func (l *loader) prices(v settings.Value, p *Prices) {
	before := l.Problems()
	read := func(key string, dst *float64) settings.Setting {
		return settings.Setting{Key: key, Read: func(v settings.Value) {
			const example = "US dollars for a million tokens, as in 3.75"
			text := ""
			switch v.Kind {
			case settings.Integer, settings.Fraction:
				text = v.Text
			default:
				if _, s, ok := l.Scalar(v, example); ok {
					text = s
				} else {
					return
				}
			}
			if !price().MatchString(text) {
				l.AddProblem(v.At, "write "+example, "%s is not a price", v.Key)
			}
			*dst, _ = strconv.ParseFloat(text, 64)
		}}
	}
	l.Group([]settings.Setting{
		read("input", &p.Input), read("output", &p.Output), read("cached", &p.Cached), read("stored", &p.Stored),
	})(v)
	if l.Problems() == before && (p.Input == 0) != (p.Output == 0) {
		l.AddProblem(v.At, "write input and output, as in {input: 3, output: 15}", "%s has only one of the prices",
			v.Key)
	}
}

// modelProblem returns the problem of the name of a model, and the fix. Both are "" if there is such a model.
func (c Config) modelProblem(name string, env func(string) (string, bool)) (problem, fix string) {
	all := c.AllModels(env)
	if _, ok := all[name]; ok {
		return "", ""
	}
	switch {
	case name == DefaultModel:
		return "there is no default model",
			MissingModel(env) + ", or add default to models in the settings"
	case slices.Contains(families, name):
		return "the settings have no model " + name + ", and " + anthropicKey + " is not set",
			"set it in the environment of askback, or add " + name + " to models in the settings"
	}
	known := append(slices.Sorted(maps.Keys(all)), families...)
	if near := settings.Nearest(name, known); near != "" {
		return "there is no model " + settings.Quote(name), "did you mean " + near + "?"
	}
	return "there is no model " + settings.Quote(name), "add it to models in the settings"
}
