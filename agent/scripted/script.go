package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A turn is an entry of a script.
type turn struct {
	Expect string   `yaml:"expect"`
	Reply  string   `yaml:"reply"`
	Tools  []call   `yaml:"tools"`
	Error  *failure `yaml:"error"`
}

type call struct {
	Name  string         `yaml:"name"`
	Input map[string]any `yaml:"input"`

	input json.RawMessage
}

type failure struct {
	Status int `yaml:"status"`
}

// The limits of a script. The YAML library takes time proportional to the square of the number
// of tokens, and is recursive.
const (
	maxSize   = 256 << 10
	maxTokens = 25_000
	maxDepth  = 64
)

// Parse parses a script with the given name. Its error has a line for each problem, with the name, the line
// and the column.
func Parse(name string, script []byte) (*Model, error) {
	s := &source{name: name}
	m := &Model{name: name}
	for _, node := range s.entries(script) {
		if t, ok := s.turn(node); ok {
			m.turns = append(m.turns, t)
		}
	}
	if len(s.problems) > 0 {
		return nil, errors.Join(s.problems...)
	}
	var due []int
	for i, t := range m.turns {
		if due = append(due, i); t.Error == nil || i == len(m.turns)-1 {
			m.requests, due = append(m.requests, due), nil
		}
	}
	return m, nil
}

// A source is a script that is being parsed, with its problems.
type source struct {
	name     string
	problems []error
}

func (s *source) problem(at *token.Position, format string, args ...any) {
	if at == nil {
		at = &token.Position{Line: 1, Column: 1}
	}
	s.problems = append(s.problems,
		fmt.Errorf("%s:%d:%d: %s", s.name, max(at.Line, 1), max(at.Column, 1), fmt.Sprintf(format, args...)))
}

// entries returns the entries of the list, or nil if the script has problems.
func (s *source) entries(script []byte) []ast.Node {
	if len(script) > maxSize {
		s.problem(nil, "the script is larger than %d bytes", maxSize)
		return nil
	}
	if !utf8.Valid(script) {
		s.problem(nil, "the script is not UTF-8")
		return nil
	}
	root, err := s.parse(strings.ReplaceAll(string(script), "\r\n", "\n"))
	switch list, ok := root.(*ast.SequenceNode); {
	case err != nil:
		s.yamlProblem(nil, err)
	case len(s.problems) > 0:
	case !ok:
		s.problem(start(root), "a script is a list of turns; begin each turn with %q", "- ")
	case len(list.Values) == 0:
		s.problem(start(root), "the script has no turns")
	default:
		return list.Values
	}
	return nil
}

// parse returns the root of the script. The root is nil if the script is empty or has problems. A panic of
// the library becomes an error.
func (s *source) parse(script string) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	tokens := lexer.Tokenize(script)
	if s.checkTokens(tokens); len(s.problems) > 0 {
		return nil, nil
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, err
	}
	if len(parsed.Docs) > 1 {
		s.problem(start(parsed.Docs[1].Body), "a script has one document")
		return nil, nil
	}
	if len(parsed.Docs) == 0 {
		return nil, nil
	}
	return parsed.Docs[0].Body, nil
}

// unsupported lists the features of YAML that make a file misleading or large.
var unsupported = map[token.Type]string{
	token.AnchorType:   "an anchor",
	token.AliasType:    "an alias",
	token.TagType:      "a tag",
	token.MergeKeyType: "a merge key",
}

func (s *source) checkTokens(tokens token.Tokens) {
	if len(tokens) > maxTokens {
		s.problem(tokens[maxTokens].Position, "the script is too long")
		return
	}
	depth := 0
	for _, t := range tokens {
		if what, ok := unsupported[t.Type]; ok {
			s.problem(t.Position, "%s is not supported; put a text that begins like this in quotes", what)
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth = max(depth-1, 0)
		}
		// Each level of indentation takes a column or more.
		block := t.Type == token.MappingValueType || t.Type == token.SequenceEntryType
		if depth > maxDepth || block && t.Position.IndentNum > 2*maxDepth {
			s.problem(t.Position, "this is nested too deeply")
			return
		}
	}
}

// turn returns the turn of an entry. ok is false if the entry has problems.
func (s *source) turn(node ast.Node) (t turn, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			s.problem(start(node), "the parser failed: %v", r)
			ok = false
		}
	}()
	if _, isMap := node.(ast.MapNode); !isMap {
		s.problem(start(node), "a turn has the keys expect, reply, tools and error")
		return t, false
	}
	if err := yaml.NodeToValue(node, &t, yaml.Strict()); err != nil {
		s.yamlProblem(node, err)
		return t, false
	}
	before := len(s.problems)
	s.check(node, &t)
	return t, len(s.problems) == before
}

// check adds the problems of a turn, and sets the inputs of its calls.
func (s *source) check(node ast.Node, t *turn) {
	at := start(node)
	switch {
	case t.Error != nil && (t.Reply != "" || t.Tools != nil):
		s.problem(at, "a turn has an error, or a reply and tools, not both")
	case t.Error != nil && (t.Error.Status < 300 || t.Error.Status > 599):
		s.problem(at, "the status of an error is between 300 and 599")
	case t.Error == nil && t.Reply == "" && len(t.Tools) == 0:
		s.problem(at, "a turn has a reply, tools or an error")
	}
	for i := range t.Tools {
		c := &t.Tools[i]
		if c.Name == "" {
			s.problem(at, "tool %d of this turn has no name", i+1)
		}
		if c.Input == nil {
			c.Input = map[string]any{}
		}
		input, err := json.Marshal(c.Input)
		if err != nil {
			s.problem(at, "the input of %s is not JSON: %v", c.Name, nonJSON(c.Input))
		}
		c.input = input
	}
}

// nonJSON describes the part of v that JSON cannot represent. It returns "" if there is no such part.
func nonJSON(v any) string {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	case []any:
		for _, e := range v {
			if s := nonJSON(e); s != "" {
				return s
			}
		}
	case map[string]any:
		for _, e := range v {
			if s := nonJSON(e); s != "" {
				return s
			}
		}
	case map[any]any:
		return "a key that is not a text"
	}
	return ""
}

// yamlProblem adds the problem for an error of the library.
func (s *source) yamlProblem(node ast.Node, err error) {
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		s.problem(wrong.Token.Position, "the type of this is %s, not %s", wrong.SrcType, wrong.DstType)
		return
	}
	var known yaml.Error
	if errors.As(err, &known) && known.GetToken() != nil {
		s.problem(known.GetToken().Position, "%s", known.GetMessage())
		return
	}
	s.problem(start(node), "%v", err)
}

// start returns the beginning of a node, or nil if it is not known.
func start(node ast.Node) *token.Position {
	var first *token.Position
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			first = n.Values[0].Key.GetToken().Position
		}
	case *ast.MappingValueNode:
		first = n.Key.GetToken().Position
	}
	if first == nil && node.GetToken() != nil {
		first = node.GetToken().Position
	}
	return first
}
