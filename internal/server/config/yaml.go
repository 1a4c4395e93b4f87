package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/askback/askback/internal/settings"
)

// A loader reads a settings file and collects its problems.
type loader struct {
	settings.Reader
	routesAt settings.Position // the place of the list of routes

	routePlaces []settings.Value // the place of each route
	listed      bool             // the routes may come from a list of the API
}

// parse returns the root of the file, or nil if the file is empty or has problems.
//
// Many features of YAML are read differently by different programs, or let a small file
// become large. So only keys, lists and scalars are supported.
func (l *loader) parse(src []byte) *settings.Node {
	if len(src) > maxSize {
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "", "this file is larger than %d bytes", maxSize)
		return nil
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if l.checkCharacters(string(src)); l.Problems() > 0 {
		return nil
	}
	root, err := l.parseYAML(string(src))
	if err != nil {
		l.addSyntaxError(err)
	}
	if root == nil {
		return nil
	}
	n := nodeOf(root, positionOf(root))
	return &n
}

// parseYAML returns the root of src, or nil if src is empty or a token is a problem. It
// returns a panic of the library as an error, so that a server can reload its settings
// safely.
func (l *loader) parseYAML(src string) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	tokens := lexer.Tokenize(src)
	if l.checkTokens(tokens); l.Problems() > 0 {
		return nil, nil
	}
	// The parser would report only the first repeated key. The settings report all repeated keys.
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil || len(parsed.Docs) == 0 {
		return nil, err
	}
	return parsed.Docs[0].Body, nil
}

// addSyntaxError adds a problem for an error of the YAML library.
func (l *loader) addSyntaxError(err error) {
	var known yaml.Error
	if errors.As(err, &known) && known.GetToken() != nil {
		l.AddProblem(tokenPosition(known.GetToken()), "", "this is not valid YAML: %s", known.GetMessage())
		return
	}
	l.AddProblem(settings.Position{Line: 1, Column: 1}, "", "this is not valid YAML: %v", err)
}

// checkCharacters adds problems for tabs, control characters, byte order marks, and bytes
// that are not UTF-8.
func (l *loader) checkCharacters(src string) {
	here := settings.Position{Line: 1, Column: 1}
	for i, r := range src {
		switch {
		case r == '\n':
			here = settings.Position{Line: here.Line + 1}
		case r == utf8.RuneError && !strings.HasPrefix(src[i:], "\uFFFD"):
			l.AddProblem(here, "save the file as UTF-8", "this is not UTF-8")
			return
		case r == '\t':
			l.AddProblem(here, `use spaces, or \t between double quotes`, "this is a tab")
		case r == '\uFEFF':
			l.AddProblem(here, "save the file as UTF-8 without a byte order mark", "this is a byte order mark")
		case unicode.IsControl(r):
			l.AddProblem(here, "remove it", "this is the control character %U", r)
		}
		here.Column++
	}
}

// unsupportedTokens maps each type of a YAML token that is not supported to its name for errors.
var unsupportedTokens = map[token.Type]string{
	token.AnchorType:      "an anchor",
	token.AliasType:       "an alias",
	token.TagType:         "a tag",
	token.MergeKeyType:    "a merge key",
	token.DirectiveType:   "a directive",
	token.DocumentEndType: "the end-of-document marker",
	token.MappingKeyType:  `a key that begins with "?"`,
	token.LiteralType:     "a block scalar",
	token.FoldedType:      "a block scalar",
}

// The limits for nesting, which settings never reach. The YAML library is recursive, so
// deep nesting could exhaust the stack.
const (
	maxDepth  = 16
	maxColumn = 64 // the maximum column of a key or of an entry of a list; each level is indented by a column or more
)

// maxTokens is the maximum number of tokens in a file, enough for a thousand people. The
// YAML library takes time proportional to the square of the number of tokens.
const maxTokens = 25_000

func (l *loader) checkTokens(tokens token.Tokens) {
	if len(tokens) > maxTokens {
		l.AddProblem(tokenPosition(tokens[maxTokens]), "", "this file is too long")
		return
	}
	depth := 0
	for i, t := range tokens {
		what, found := unsupportedTokens[t.Type]
		switch {
		case found:
			l.AddProblem(tokenPosition(t),
				`write the setting in full, and put a text that begins like this in double quotes`,
				"%s is not supported", what)
		case t.Type == token.DocumentHeaderType && i > 0:
			l.AddProblem(tokenPosition(t), "write only one", "this is a second document")
		case t.Type == token.MappingStartType || t.Type == token.SequenceStartType:
			depth++
		case t.Type == token.MappingEndType || t.Type == token.SequenceEndType:
			depth = max(depth-1, 0)
		}
		if depth > maxDepth || depth == 0 && startsBlock(tokens, i) && t.Position.Column > maxColumn {
			l.AddProblem(tokenPosition(t), `put a text that contains ": " in quotes`, "this is nested too deeply")
			return
		}
	}
}

// startsBlock reports whether the token at i can start a nested block without brackets: an
// entry of a list, or a key.
func startsBlock(tokens token.Tokens, i int) bool {
	return tokens[i].Type == token.SequenceEntryType ||
		i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
}

// nodeOf returns n as a value of the file. An empty value is at the position of its key.
func nodeOf(n ast.Node, key settings.Position) settings.Node {
	if n == nil || n.Type() == ast.NullType {
		return settings.Node{At: key}
	}
	out := settings.Node{Kind: settings.Other, At: positionOf(n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.Kind = settings.Group
		for _, v := range n.Values {
			at := positionOf(v.Key)
			out.Fields = append(out.Fields, settings.Field{Name: keyName(v.Key), At: at, Value: nodeOf(v.Value, at)})
		}
	case *ast.SequenceNode:
		out.Kind = settings.List
		for i, v := range n.Values {
			at := out.At
			if i < len(n.Entries) {
				at = tokenPosition(n.Entries[i].Start)
			}
			out.Entries = append(out.Entries, nodeOf(v, at))
		}
	case *ast.StringNode:
		out.Kind, out.Text = settings.Text, n.Value
	case *ast.IntegerNode:
		out.Kind, out.Text = settings.Integer, n.Token.Value
	case *ast.FloatNode:
		out.Kind, out.Text = settings.Fraction, n.Token.Value
	case *ast.InfinityNode, *ast.NanNode:
		out.Kind = settings.Infinite
	case *ast.BoolNode:
		out.Kind, out.Text = settings.Bool, strconv.FormatBool(n.Value)
	}
	return out
}

func keyName(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.String()
}

func tokenPosition(t *token.Token) settings.Position {
	if t == nil || t.Position == nil {
		return settings.Position{Line: 1, Column: 1}
	}
	return settings.Position{Line: t.Position.Line, Column: t.Position.Column}
}

// positionOf returns the position of a value. For a mapping without braces, it is the position of the first
// key, because the library returns the position of the colon.
func positionOf(n ast.Node) settings.Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return positionOf(m.Values[0].Key)
	}
	return tokenPosition(n.GetToken())
}
