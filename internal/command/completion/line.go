package completion

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/askback/askback/internal/text/safetext"
)

// A Line is a command line whose last word is completed. It is read with the parser's description of commands
// and flags, but may be unfinished.
type Line struct {
	source Source
	shell  string
	word   string // the last word
	kept   string // the beginning of word that stays; the shell replaces only the rest

	node  *kong.Node          // the command so far
	help  bool                // whether the line has the form "askback help COMMAND"
	args  []string            // arguments of the command
	given map[string][]string // values of the flags so far, by name; a bool has ""
	next  *kong.Flag          // the flag whose value is next; nil for an argument or a flag
	ended bool                // set after --, when words that begin with - are arguments
}

// Read reads the words of a program's command line, without the name of the program. The last word is the
// word to complete.
func Read(program *kong.Node, source Source, shell string, words []string) *Line {
	c := &Line{source: source, shell: shell, node: program, given: map[string][]string{}}
	quoted := false
	if shell == "bash" { // the other shells pass words without quotes
		words, c.kept = joinAssignments(words)
		quoted = strings.ContainsAny(words[len(words)-1], "'\"\\`$")
		for i, w := range words {
			words[i] = unquote(w)
		}
		c.kept = unquote(c.kept)
	}
	last := len(words) - 1
	for i, w := range words[:last] {
		if c.help = c.help || i == 0 && w == "help"; i > 0 || !c.help {
			c.read(w)
		}
	}
	c.word = words[last]
	if quoted {
		c.shell = "bash, in quotes"
	}
	return c
}

// joinAssignments joins the words that bash splits at an equals sign. It also returns the beginning of the
// last word up to that sign, or "" if the word has no such sign.
func joinAssignments(words []string) (joined []string, kept string) {
	for i, w := range words {
		last := len(joined) - 1
		switch {
		case last >= 0 && w == "=":
			joined[last] += "="
			kept = joined[last]
		case last >= 0 && i > 1 && words[i-1] == "=":
			joined[last] += w
		default:
			joined, kept = append(joined, w), ""
		}
	}
	return joined, kept
}

// unquote removes the quotes and backslashes of bash from a word, which may be unfinished.
func unquote(word string) string {
	var b strings.Builder
	quote, escaped := rune(0), false
	for _, r := range word {
		switch {
		case escaped:
			escaped = false
			b.WriteRune(r)
		case r == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// read reads a word before the last word.
func (c *Line) read(word string) {
	name, value, assigned := strings.Cut(word, "=")
	switch f := c.flag(name); {
	case c.next != nil:
		c.give(c.next, word)
	case !c.ended && word == "--":
		c.ended = true
	case !c.ended && strings.HasPrefix(word, "-"):
		if f != nil && (assigned || f.IsBool()) {
			c.give(f, value)
		} else {
			c.next = f
		}
	case len(c.node.Children) > 0:
		if i := slices.IndexFunc(c.node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			c.node = c.node.Children[i]
		}
	default:
		c.args = append(c.args, word)
	}
}

func (c *Line) give(f *kong.Flag, value string) {
	c.given[f.Name], c.next = append(c.given[f.Name], value), nil
}

// flags returns the flags of the command, and then the flags of the program.
func (c *Line) flags() (all []*kong.Flag) {
	for _, group := range slices.Backward(c.node.AllFlags(true)) {
		all = append(all, group...)
	}
	return all
}

// flag returns the flag for a word such as --json or -v, or nil.
func (c *Line) flag(word string) *kong.Flag {
	for _, f := range c.flags() {
		if slices.Contains(flagNames(f), word) || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// flagNames returns the spellings of a flag.
func flagNames(f *kong.Flag) []string {
	if f.Tag.Negatable != "" {
		return []string{"--" + f.Name, "--no-" + f.Name}
	}
	return []string{"--" + f.Name}
}

// Find returns the candidates for the last word.
func (c *Line) Find(ctx context.Context) Candidates {
	found := c.candidates(ctx)
	out := found.list[:0]
	for _, a := range found.list {
		after, ok := strings.CutPrefix(a.Value, c.kept)
		if a.Value = after; ok && c.allows(a) {
			out = append(out, a)
		}
	}
	return Candidates{found.files, slices.CompactFunc(out, func(a, b Candidate) bool { return a.Value == b.Value })}
}

// allows reports whether the shell can complete the last word with a Candidate, whose text may come from an
// agent. It allows only a value without hidden characters, which the shell shows unchanged. Bash gets only
// matching values, and inside quotes only values that need no quotes, because bash does not escape there. The
// other shells match by their own settings.
func (c *Line) allows(a Candidate) bool {
	if a.Value == "" || strings.ContainsAny(a.Value, "\n\t") || safetext.Line(a.Value).String() != a.Value {
		return false
	}
	bash := strings.HasPrefix(c.shell, "bash")
	return !bash ||
		strings.HasPrefix(c.kept+a.Value, c.word) && (c.shell == "bash" || !strings.ContainsFunc(a.Value, needsQuotes))
}

// needsQuotes reports whether a character may have a meaning for a shell.
func needsQuotes(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("_-./:@=+,", r))
}

func (c *Line) candidates(ctx context.Context) Candidates {
	name, _, assigned := strings.Cut(c.word, "=")
	switch f := c.flag(name); {
	case c.next != nil:
		return c.values(ctx, c.next.Value)
	case !c.ended && strings.HasPrefix(c.word, "-") && assigned:
		if f == nil {
			return Candidates{}
		}
		found := c.values(ctx, f.Value)
		for i := range found.list {
			found.list[i].Value = name + "=" + found.list[i].Value
		}
		return found
	case !c.ended && strings.HasPrefix(c.word, "-"):
		return Candidates{list: c.flagCandidates()}
	case len(c.node.Children) > 0:
		return Candidates{list: c.commandCandidates()}
	case len(c.node.Positional) == 0 || c.help:
		return Candidates{}
	}
	p := c.node.Positional[min(len(c.args), len(c.node.Positional)-1)]
	if len(c.args) >= len(c.node.Positional) && !p.IsCumulative() {
		return Candidates{}
	}
	return c.values(ctx, p)
}

// commandCandidates returns the subcommands of the command so far.
func (c *Line) commandCandidates() (all []Candidate) {
	for _, n := range c.node.Children {
		if !n.Hidden {
			all = append(all, Describe(n.Name, n.Help))
		}
	}
	if c.node.Parent == nil && !c.help {
		all = append(all, Candidate{"help", "Describe a command."})
	}
	return all
}

// flagCandidates returns the flags that can still be given. A flag can be given once unless it collects
// values, and only one of several flags that exclude each other can be given.
func (c *Line) flagCandidates() (all []Candidate) {
	flags := c.flags()
	excluded := func(f *kong.Flag) bool {
		return slices.ContainsFunc(flags, func(g *kong.Flag) bool {
			same := f == g && !f.IsCumulative()
			return c.given[g.Name] != nil &&
				(same || slices.ContainsFunc(f.Xor, func(x string) bool { return slices.Contains(g.Xor, x) }))
		})
	}
	for _, f := range flags {
		if excluded(f) {
			continue
		}
		for _, name := range flagNames(f) {
			all = append(all, Describe(name, f.Help))
		}
	}
	return all
}

// values returns the candidates for the value of a flag or an argument. They come from the tag enum or values
// of v, or are of the kind in its tag complete.
func (c *Line) values(ctx context.Context, v *kong.Value) Candidates {
	listed := v.Tag.Enum
	if listed == "" {
		listed = v.Tag.Get("values")
	}
	kind := v.Tag.Get("complete")
	switch {
	case listed != "":
		var all []Candidate
		for value := range strings.SplitSeq(listed, ",") {
			all = append(all, Candidate{Value: value})
		}
		return Candidates{list: all}
	case kind == "file":
		return Candidates{files: true}
	case completers[kind] == nil:
		return Candidates{}
	}
	return Candidates{list: completers[kind](c, ctx)}
}

// Path returns the value of a flag with a path, or byDefault if the line does not have the flag. It replaces
// ~ as a shell would.
func (c *Line) Path(flag, byDefault string) string {
	given := c.given[flag]
	if len(given) == 0 {
		return byDefault
	}
	path := given[len(given)-1]
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
