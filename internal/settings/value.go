package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
)

// Fields reads the value of each key in the group n with the function that table has for the key. The
// argument path is the place of n in the file. A node that is not a group, unknown keys and repeated keys are
// problems.
func (r *Reader) Fields(n Node, path string, table []Setting) {
	if n.Kind != Group {
		r.AddProblem(n.At, "write keys and values, as in "+table[0].Key+": …", "%s is %s", cmp.Or(path, "this file"),
			n.Kind)
		return
	}
	seen := map[string]Position{}
	for _, f := range n.Fields {
		full := strings.TrimPrefix(path+"."+f.Name, ".")
		i := slices.IndexFunc(table, func(s Setting) bool { return s.Key == f.Name })
		switch first, twice := seen[f.Name]; {
		case twice:
			r.AddProblem(f.At, "write it once", "%s is already set in line %d", full, first.Line)
			continue
		case i < 0:
			r.AddProblem(f.At, r.suggestKey(f.Name, table, n), "unknown setting %s", Quote(full))
		default:
			table[i].Read(Value{f.Value, full})
		}
		seen[f.Name] = f.At
	}
}

// suggestKey returns the fix for an unknown key of a group. This is the hint in r.Renamed, the most similar
// key that the group does not have, or a list of all keys.
func (r *Reader) suggestKey(name string, table []Setting, group Node) string {
	if s, ok := r.Renamed[name]; ok {
		return s
	}
	var known, free []string
	for _, s := range table {
		known = append(known, s.Key)
		if !slices.ContainsFunc(group.Fields, func(f Field) bool { return f.Name == s.Key }) {
			free = append(free, s.Key)
		}
	}
	if near := Nearest(name, free); near != "" {
		return "did you mean " + near + "?"
	}
	return "the settings here are " + strings.Join(known, ", ")
}

// Group returns a function that reads a nested group with a table of settings.
func (r *Reader) Group(table []Setting) func(Value) {
	return func(v Value) {
		if r.HasValue(v) {
			r.Fields(v.Node, v.Key, table)
		}
	}
}

// List calls each for every entry of the list v. The key of an entry ends with its number, which is counted
// from 1. If v is not a list, List adds a problem.
func (r *Reader) List(v Value, each func(Value)) {
	if !r.HasValue(v) {
		return
	}
	if v.Kind != List {
		r.AddProblem(v.At, "write a list, with - before each entry", "%s is %s", v.Key, v.Kind)
		return
	}
	for i, n := range v.Entries {
		each(Value{n, v.Key + "[" + strconv.Itoa(i+1) + "]"})
	}
}

// Named calls each for every key of the group v, with the value and the position of the key. If v is not a
// group, Named adds a problem with fix. A repeated key is a problem. If check returns a problem for a key,
// Named adds this problem and does not call each.
func (r *Reader) Named(
	v Value, fix string, check func(name string) (problem, fix string), each func(name string, here Position, v Value),
) {
	if !r.HasValue(v) {
		return
	}
	if v.Kind != Group {
		r.AddProblem(v.At, fix, "%s is %s", v.Key, v.Kind)
		return
	}
	seen := map[string]Position{}
	for _, f := range v.Fields {
		if first, twice := seen[f.Name]; twice {
			r.AddProblem(f.At, "write it once", "%s.%s is already set in line %d", v.Key, f.Name, first.Line)
			continue
		}
		seen[f.Name] = f.At
		if problem, fix := check(f.Name); problem != "" {
			r.AddProblem(f.At, fix, "%s: %s %s", v.Key, Quote(f.Name), problem)
			continue
		}
		each(f.Name, f.At, Value{f.Value, v.Key + "." + f.Name})
	}
}

// HasValue reports whether v has a value. If not, it adds a problem, because a key without a value is
// probably a mistake.
func (r *Reader) HasValue(v Value) bool {
	if v.Kind == Empty {
		r.AddProblem(v.At, "write a value, or remove the key", "%s is empty", v.Key)
		return false
	}
	return true
}

// Scalar returns a string or an integer. The result raw is its content in the file. In the result text,
// variables are expanded. The file is already parsed, so a variable cannot add keys or entries. For any other
// value, Scalar adds a problem, and ok is false.
func (r *Reader) Scalar(v Value, example string) (raw, text string, ok bool) {
	if !r.HasValue(v) {
		return "", "", false
	}
	switch v.Kind {
	case Text:
		text, ok = r.expand(v, v.Text)
		return v.Text, text, ok
	case Integer:
		raw = v.Text
		if i, err := strconv.ParseInt(raw, 10, 64); err != nil || strconv.FormatInt(i, 10) != raw {
			r.AddProblem(v.At, "use only the digits 0 to 9",
				"%s: %s is read as different numbers by different programs", v.Key, Quote(raw))
			return "", "", false
		}
		return raw, raw, true
	}
	r.AddProblem(v.At, "write "+example, "%s is %s", v.Key, v.Kind)
	return "", "", false
}

// Text returns a function that reads one line of text and calls set. A number without quotes is a problem,
// and so are a blank text and control characters. If set returns a problem with the text, the function adds
// this problem.
func (r *Reader) Text(example string, set func(text string) (problem string)) func(Value) {
	return func(v Value) {
		if v.Kind == Integer {
			fix := `put it in quotes if it is correct: "` + v.Text + `"`
			if r.secret {
				fix = "put it in quotes if it is correct"
			}
			r.AddProblem(v.At, fix, "%s is a number", v.Key)
			return
		}
		raw, text, ok := r.Scalar(v, example)
		switch {
		case !ok:
		case strings.TrimSpace(text) == "":
			r.AddProblem(v.At, "write "+example+", or remove the key", "%s is empty", v.Key)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
			r.AddProblem(v.At, "write one line of UTF-8 text", "%s has control characters, or is not UTF-8", v.Key)
		default:
			if problem := set(text); problem != "" {
				r.AddProblem(v.At, "write "+example, "%s: %s %s", v.Key, r.excerpt(raw), problem)
			}
		}
	}
}

// excerpt returns a text of the file in quotes. If the text is a secret, excerpt returns "the value" instead.
func (r *Reader) excerpt(s string) string {
	if r.secret {
		return "the value"
	}
	return Quote(s)
}

// Secret returns a function that reads one line of text into dst. No problem repeats the text. If check is
// not nil, check returns the problem with the text, or "".
func (r *Reader) Secret(dst *string, example string, check func(string) string) func(Value) {
	if check == nil {
		check = func(string) string { return "" }
	}
	return func(v Value) {
		r.secret = true
		defer func() { r.secret = false }()
		r.TextTo(dst, example, check)(v)
	}
}

// TextTo returns a function that reads one line of text into dst. Each check returns the problem with the
// text, or "".
func (r *Reader) TextTo(dst *string, example string, checks ...func(string) string) func(Value) {
	return r.Text(example, func(s string) (problem string) {
		*dst = s
		for _, check := range checks {
			problem = cmp.Or(problem, check(s))
		}
		return problem
	})
}

// Number returns a function that reads a number with or without a unit, and calls set. The function set
// returns the problem with the number, or "".
func (r *Reader) Number(example string, set func(text string) (problem string)) func(Value) {
	return func(v Value) {
		raw, text, ok := r.Scalar(v, example)
		if !ok {
			return
		}
		if problem := set(text); problem != "" {
			r.AddProblem(v.At, "write "+example, "%s: %s %s", v.Key, Quote(raw), problem)
		}
	}
}

// Count returns a function that reads a whole number from 1 to 1000000 into dst.
func (r *Reader) Count(dst *int) func(Value) {
	return r.Number("a whole number from 1 to 1000000", func(s string) string { return readCount(s, dst) })
}

// CountOrOff returns a function that reads a whole number from 1 to 1000000 into dst, or the word off. For
// off, dst is set to -1.
func (r *Reader) CountOrOff(dst *int) func(Value) {
	return r.Number("a whole number from 1 to 1000000, or off", func(s string) string {
		if s == "off" {
			*dst = -1
			return ""
		}
		return readCount(s, dst)
	})
}

// readCount reads a whole number from 1 to 1000000 into dst. It returns the problem with s, or "".
func readCount(s string, dst *int) (problem string) {
	const most = 1_000_000
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != s {
		return "is not valid"
	}
	*dst = n
	return ""
}

// Duration returns a function that reads a duration such as 10m or 90d, or a whole number of seconds, into
// dst. Zero is a problem.
func (r *Reader) Duration(dst *time.Duration) func(Value) {
	return r.Number("90s, 10m, 2h or 7d, or a number of seconds", func(s string) string {
		d, err := askback.ParseDuration(s)
		switch {
		case err != nil:
			return "is not a duration"
		case d == 0:
			return "is zero"
		}
		*dst = d
		return ""
	})
}

// Boolean returns a function that reads true or false into dst.
func (r *Reader) Boolean(dst *bool) func(Value) {
	return func(v Value) {
		if !r.HasValue(v) {
			return
		}
		if v.Kind != Bool {
			r.AddProblem(v.At, "write true or false", "%s is %s", v.Key, v.Kind)
			return
		}
		*dst = v.Text == "true"
	}
}

// OneOf returns a function that reads one of the given words into dst.
func (r *Reader) OneOf(dst *string, words ...string) func(Value) {
	return r.TextTo(dst, "one of "+strings.Join(words, ", "), func(s string) string {
		if !slices.Contains(words, s) {
			return "is not one of the values"
		}
		return ""
	})
}

// CallbackProblem returns the problem with the address of a program, or "". The problem is the end of a
// sentence whose subject is the address.
func CallbackProblem(s string) (problem string) {
	if p := askback.CallbackProblem(s); p != "" {
		return "is wrong: " + p
	}
	return ""
}
