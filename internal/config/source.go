package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// file is a settings file while it is read.
type file struct {
	name string
	env  func(string) (string, bool)
	bad  []Problem
}

// parse returns what the file holds, nil if that is nothing or is wrong.
//
// YAML is a large language, and much of it lets two readers see two things in
// one file, or makes a small file large. Only the plain part is taken: keys,
// lists and texts.
func (f *file) parse(src []byte) ast.Node {
	if len(src) > maxSize {
		f.wrong(position{1, 1}, "", "this file has more than %d bytes", maxSize)
		return nil
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if f.checkCharacters(string(src)); len(f.bad) > 0 {
		return nil
	}
	root, err := f.tree(string(src))
	if err != nil {
		f.broken(err)
	}
	return root
}

// tree reads YAML. The library is made to read any text, but if it fails on one
// this must not end a server that only wanted to reload its settings.
func (f *file) tree(src string) (root ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("nobody can read this: %v", p)
		}
	}()
	tokens := lexer.Tokenize(src)
	if f.checkTokens(tokens); len(f.bad) > 0 {
		return nil, nil
	}
	// Keys that stand twice are found later, all of them.
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil || len(parsed.Docs) == 0 {
		return nil, err
	}
	return parsed.Docs[0].Body, nil
}

// broken says what the library says.
func (f *file) broken(err error) {
	var known yaml.Error
	if errors.As(err, &known) && known.GetToken() != nil {
		f.wrong(at(known.GetToken()), "", "this is no YAML: %s", known.GetMessage())
		return
	}
	f.wrong(position{1, 1}, "", "this is no YAML: %v", err)
}

// checkCharacters finds what cannot be seen.
func (f *file) checkCharacters(src string) {
	here := position{1, 1}
	for i, r := range src {
		switch {
		case r == '\n':
			here = position{here.line + 1, 0}
		case r == utf8.RuneError && !strings.HasPrefix(src[i:], "\uFFFD"):
			f.wrong(here, "save the file as UTF-8", "this is not UTF-8")
			return
		case r == '\t':
			f.wrong(here, `use spaces, or \t between double quotes`, "this is a tab")
		case r == '\uFEFF':
			f.wrong(here, "save the file as UTF-8 without one", "this is a byte order mark")
		case unicode.IsControl(r):
			f.wrong(here, "remove it", "this is the control character %U", r)
		}
		here.column++
	}
}

// refused are the parts of YAML that are not taken.
var refused = map[token.Type]string{
	token.AnchorType:      "an anchor",
	token.AliasType:       "an alias",
	token.TagType:         "a tag",
	token.MergeKeyType:    "a merge key",
	token.DirectiveType:   "a directive",
	token.DocumentEndType: "the end of a document",
	token.MappingKeyType:  `a key that begins with "?"`,
	token.LiteralType:     "a block of text",
	token.FoldedType:      "a block of text",
}

// Settings are never nested so deeply, and the library calls itself for each
// level.
const (
	maxDepth  = 16
	maxColumn = 64 // of a key or an entry of a list: each level takes at least one
)

// maxTokens is a file with a thousand people. The time the library needs grows
// with the square of the length.
const maxTokens = 25_000

func (f *file) checkTokens(tokens token.Tokens) {
	if len(tokens) > maxTokens {
		f.wrong(at(tokens[maxTokens]), "", "this file goes on for too long")
		return
	}
	depth := 0
	for i, t := range tokens {
		what, no := refused[t.Type]
		switch {
		case no:
			f.wrong(at(t), `write the setting out; a text that begins like this goes between double quotes`, "%s is not taken here", what)
		case t.Type == token.DocumentHeaderType && i > 0:
			f.wrong(at(t), "write one", "this is a second document")
		case t.Type == token.MappingStartType || t.Type == token.SequenceStartType:
			depth++
		case t.Type == token.MappingEndType || t.Type == token.SequenceEndType:
			depth = max(depth-1, 0)
		}
		if depth > maxDepth || depth == 0 && block(tokens, i) && t.Position.Column > maxColumn {
			f.wrong(at(t), `put a text with ": " in it between quotes`, "this is nested too deeply")
			return
		}
	}
}

// block says whether a token begins a level outside of brackets: an entry of a
// list, or a key.
func block(tokens token.Tokens, i int) bool {
	return tokens[i].Type == token.SequenceEntryType ||
		i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
}

func at(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

// place is where a value begins. The library takes the colon of its first key
// for the beginning of a mapping.
func place(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return place(m.Values[0].Key)
	}
	return at(n.GetToken())
}
