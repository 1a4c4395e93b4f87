package asktool_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/limits"
)

// A dialect is the subset of JSON Schema that one provider accepts for a tool. If a
// schema has another keyword, the provider rejects the whole request.
type dialect struct {
	name     string
	tool     *regexp.Regexp // names of tools
	text     int            // the maximum length of a description in characters, or 0 for no limit
	keywords []string       // the allowed keywords; nil for all keywords that are not rejected
	rejected []string       // the keywords that are rejected at the root
}

var dialects = []dialect{
	{
		// Names: platform.openai.com/docs/api-reference/chat/create. A longer
		// description is rejected (github.com/getsentry/sentry-mcp/issues/106),
		// and so is an array without items (github.com/sigoden/aichat/pull/1049).
		// Strict mode is not used: it requires every property.
		name: "OpenAI", tool: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), text: 1024,
		rejected: []string{"oneOf", "anyOf", "allOf", "enum", "not"},
	},
	{
		// "input_schema does not support oneOf, allOf, or anyOf at the top
		// level": github.com/anthropics/claude-code/issues/5319. The type of the
		// root is object.
		name: "Anthropic", tool: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
		rejected: []string{"oneOf", "anyOf", "allOf"},
	},
	{
		// The Schema of FunctionDeclaration.parameters is a subset of OpenAPI
		// 3.0: ai.google.dev/api/caching#Schema. A default is accepted and
		// ignored. An array without items is rejected:
		// github.com/NousResearch/hermes-agent/pull/71874.
		name: "Gemini", tool: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,62}$`),
		keywords: []string{
			"type", "title", "description", "enum", "format", "default", "nullable", "properties", "required", "items",
			"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum",
		},
		rejected: []string{"oneOf", "anyOf", "allOf"},
	},
}

// lint returns the parts of a tool that this provider would reject.
func (d dialect) lint(tool, description string, schema json.RawMessage) (bad []string) {
	report := func(format string, a ...any) { bad = append(bad, d.name+": "+fmt.Sprintf(format, a...)) }
	if !d.tool.MatchString(tool) {
		report("the name %q", tool)
	}
	if n := utf8.RuneCountInString(description); n == 0 || d.text > 0 && n > d.text {
		report("a description of %d characters", n)
	}
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		report("%v", err)
		return bad
	}
	if root["type"] != "object" {
		report("the root is %v", root["type"])
	}
	for _, keyword := range d.rejected {
		if _, ok := root[keyword]; ok {
			report("%s at the root", keyword)
		}
	}
	d.checkNode("", root, report)
	return bad
}

var types = []string{"object", "array", "string", "boolean", "number", "integer"}

func (d dialect) checkNode(at string, schema map[string]any, report func(string, ...any)) {
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		if d.keywords != nil && !slices.Contains(d.keywords, keyword) || strings.HasPrefix(keyword, "$") {
			report("%s: the keyword %s", at, keyword)
		}
	}
	kind, _ := schema["type"].(string)
	if !slices.Contains(types, kind) {
		report("%s: the type %v", at, schema["type"])
	}
	properties, _ := schema["properties"].(map[string]any)
	items, hasItems := schema["items"].(map[string]any)
	if (kind == "object") != (len(properties) > 0) || (kind == "array") != hasItems {
		report("%s: an object has properties and an array has items", at)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := properties[name.(string)]; !ok {
			report("%s: required %v is not a property", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name].(map[string]any)
		if p["description"] == nil {
			report("%s/%s: no description", at, name)
		}
		d.checkNode(at+"/"+name, p, report)
	}
	if hasItems {
		d.checkNode(at+"/0", items, report)
	}
}

// The names, descriptions and schemas of both tools use only features that every provider accepts (W20, C4).
func TestEveryProviderAcceptsTheSchemas(t *testing.T) {
	for _, tool := range []string{asktool.AskUserQuestion, asktool.ConfirmAction} {
		for _, d := range dialects {
			for _, bad := range d.lint(tool, asktool.Description(tool), asktool.Schema(tool)) {
				t.Errorf("%s: %s", tool, bad)
			}
		}
	}
	if asktool.Schema("AskUserQuestion") != nil || asktool.Description("") != "" {
		t.Error("an unknown tool has a schema or a description")
	}
}

// The lint reports schemas that providers are known to reject (W20).
func TestLintReportsSchemasThatProvidersReject(t *testing.T) {
	for schema, providers := range map[string]string{
		`{"type": "object", "properties": {"a": {"type": "string", "description": "x"}}}`:                                            "",
		`{"type": "object", "properties": {"a": {"type": "array", "description": "x"}}}`:                                             "OpenAI Anthropic Gemini",
		`{"type": "object", "properties": {"a": {"type": "object", "description": "x"}}}`:                                            "OpenAI Anthropic Gemini",
		`{"type": "object", "properties": {"a": {"$ref": "#", "description": "x"}}}`:                                                 "OpenAI Anthropic Gemini",
		`{"type": "array", "items": {"type": "string"}}`:                                                                             "OpenAI Anthropic Gemini",
		`{"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "anyOf": [{"required": ["a"]}]}`:            "OpenAI Anthropic Gemini",
		`{"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": ["b"]}`:                         "OpenAI Anthropic Gemini",
		`{"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "additionalProperties": false}`:             "Gemini",
		`{"type": "object", "properties": {"a": {"type": "array", "description": "x", "minItems": 2, "items": {"type": "string"}}}}`: "",
		`{"type": "object", "properties": {"a": {"type": ["string", "null"], "description": "x"}}}`:                                  "OpenAI Anthropic Gemini",
	} {
		var got []string
		for _, d := range dialects {
			if len(d.lint("tool", "what it does", json.RawMessage(schema))) > 0 {
				got = append(got, d.name)
			}
		}
		if strings.Join(got, " ") != providers {
			t.Errorf("%s: rejected by %q, want %q", schema, got, providers)
		}
	}
}

// The bounds in the schema equal the bounds of the decoder (A1), which truncates a longer header.
func TestSchemaBoundsMatchTheDecoder(t *testing.T) {
	at := func(tool string, path ...string) map[string]any {
		var node map[string]any
		if err := json.Unmarshal(asktool.Schema(tool), &node); err != nil {
			t.Fatal(err)
		}
		for _, name := range path {
			node, _ = node[name].(map[string]any)
		}
		return node
	}
	questions := []string{"properties", "questions"}
	question := append(slices.Clone(questions), "items", "properties")
	option := append(slices.Clone(question), "options", "items", "properties")
	for _, test := range []struct {
		tool string
		path []string
		want map[string]any
	}{
		{asktool.AskUserQuestion, questions, map[string]any{"minItems": 1., "maxItems": float64(limits.MaxQuestions)}},
		{asktool.AskUserQuestion, append(slices.Clone(question), "question"), map[string]any{
			"maxLength": float64(limits.MaxQuestion),
		}},
		{asktool.AskUserQuestion, append(slices.Clone(question), "header"), map[string]any{
			"maxLength": float64(limits.MaxHeader),
		}},
		{asktool.AskUserQuestion, append(slices.Clone(question), "options"), map[string]any{
			"minItems": float64(limits.MinOptions), "maxItems": 4.,
		}},
		{asktool.AskUserQuestion, append(slices.Clone(question), "multiSelect"), map[string]any{"default": false}},
		{asktool.AskUserQuestion, append(slices.Clone(option), "label"), map[string]any{
			"maxLength": float64(limits.MaxLabel),
		}},
		{asktool.AskUserQuestion, append(slices.Clone(option), "description"), map[string]any{
			"maxLength": float64(limits.MaxDescription),
		}},
		{asktool.AskUserQuestion, append(slices.Clone(option), "preview"), map[string]any{
			"maxLength": float64(limits.MaxPreview),
		}},
		{asktool.ConfirmAction, []string{"properties", "action"}, map[string]any{
			"maxLength": float64(limits.MaxQuestion),
		}},
		{asktool.ConfirmAction, []string{"properties", "details"}, map[string]any{
			"maxLength": float64(limits.MaxContext),
		}},
		{asktool.ConfirmAction, []string{"properties", "default"}, map[string]any{"default": false}},
	} {
		node := at(test.tool, test.path...)
		for keyword, want := range test.want {
			if node[keyword] != want {
				t.Errorf("%s %v: %s is %v, want %v", test.tool, test.path, keyword, node[keyword], want)
			}
		}
	}
	if required := at(asktool.AskUserQuestion,
		append(slices.Clone(questions), "items")...)["required"]; fmt.Sprint(required) != "[question]" {
		t.Errorf("a question requires %v; options are left out for free text", required)
	}
	// The decoder accepts a header that is too long for the schema, and truncates it.
	if _, err := asktool.Questions(
		[]byte(`{"questions": [{"question": "Which?", "header": "longer than twelve"}]}`),
	); err != nil {
		t.Error(err)
	}
}

// The description lists when to ask and when not (C4). The decoder accepts every field
// of the schema.
func TestDescriptionExplainsWhenToAsk(t *testing.T) {
	d := asktool.Description(asktool.AskUserQuestion)
	for _, part := range []string{
		"architecture", "requirements", "trade-offs", "hard to undo", "preferences", "names and values", "infer",
		"trivial", "asked or answered before",
	} {
		if !strings.Contains(d, part) {
			t.Errorf("%q is not mentioned", part)
		}
	}
	_, err := asktool.Questions([]byte(`{"questions": [{"question": "Which?", "header": "h", "options": [{"label": "a", "description": "d", "preview": "p"}, {"label": "b"}], "multiSelect": false}]}`))
	if err != nil {
		t.Error(err)
	}
	if _, err := asktool.Confirmation([]byte(`{"action": "a", "details": "d", "default": false}`)); err != nil {
		t.Error(err)
	}
}
