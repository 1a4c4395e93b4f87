// Package settings reads the values of a settings file, and collects its problems. It is strict: unknown keys
// and wrong types are problems with line and column, which are reported together. The package does not depend
// on the format of the file, because its input is a tree of nodes.
package settings

import (
	"cmp"
	"fmt"
	"slices"
)

// A Node is a value of a file.
type Node struct {
	Kind    Kind
	Text    string // the content of a text, a number, true or false, as written in the file
	At      Position
	Fields  []Field // the fields of a group
	Entries []Node  // the entries of a list
}

// A Field is a key of a group, and its value.
type Field struct {
	Name  string
	At    Position // position of the key
	Value Node
}

// A Position is a position in a file. Line and Column begin at 1.
type Position struct{ Line, Column int }

// A Kind is the kind of a [Node].
type Kind uint8

// The kinds. A key without a value is Empty, and the position of the value is the position of the key.
const (
	Empty Kind = iota
	Group
	List
	Text
	Integer
	Fraction
	Infinite // a number that is not finite
	Bool
	Other
)

// String describes the kind of a node, such as "a list".
func (k Kind) String() string {
	return [...]string{
		Empty: "empty", Group: "a group of keys", List: "a list", Text: "text", Integer: "a number",
		Fraction: "a number", Infinite: "a number", Bool: "true or false", Other: "no value",
	}[k]
}

// A Value is a node of the file with the path of keys to the node.
type Value struct {
	Node
	Key string
}

// A Setting is a key and the function that reads its value.
type Setting struct {
	Key  string
	Read func(Value)
}

// A Reader reads the values of one file. Its methods add a problem if a value is not valid.
type Reader struct {
	Name string // name of the file
	// Env returns the values of variables, which replace ${NAME} in texts. If Env is nil, nothing is
	// replaced.
	Env     func(name string) (value string, ok bool)
	Renamed map[string]string // hints for keys that other programs use, keyed by their names

	problems []Problem
	secret   bool // set while a secret is read, so that no problem repeats its text
}

// AddProblem adds a problem, unless the reader already has maxProblems.
func (r *Reader) AddProblem(at Position, fix, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems,
			Problem{Line: max(at.Line, 1), Column: max(at.Column, 1), Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// Problems returns the number of problems so far.
func (r *Reader) Problems() int { return len(r.problems) }

// Err returns the problems in the order of the file as an [Invalid], or nil if the file is valid.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Invalid{r.Name, r.problems}
}
