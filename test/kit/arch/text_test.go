package arch_test

import (
	"bytes"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A text is a file without Go code, with its prose. The prose of a document is its text, and the prose of
// another file is its comments.
type text struct {
	name  string
	raw   string
	prose string // as long as raw, with spaces in place of the rest
}

// document reports whether the text is Markdown.
func (x *text) document() bool { return path.Ext(x.name) == ".md" }

// commentMarks are the prefixes of comment lines, by file extension.
var commentMarks = map[string][]string{
	".templ": {"//"},
	".js":    {"//", "/*", "*"},
	".mjs":   {"//", "/*", "*"},
	".ts":    {"//", "/*", "*"},
	".css":   {"/*", "*"},
	".sql":   {"--"},
	".sh":    {"#"},
	".py":    {"#"},
	".yaml":  {"#"},
	".yml":   {"#"},
	".mod":   {"//"},
	".txt":   {"# "},
}

// readTexts adds the texts and the names of all files to the tree. Unlike Go
// files, texts in testdata are included.
func (t *tree) readTexts(root fs.FS) error {
	t.names = map[string]bool{}
	ignored := ignoredFiles(root)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != "testdata" && skipped(d.Name()), d.IsDir() && d.Name() == "fuzz",
			d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case ignored[name] && d.IsDir():
			return fs.SkipDir
		case ignored[name]:
			return nil
		}
		t.names[name] = true
		if d.IsDir() || !hasProse(name) {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		t.texts = append(t.texts, &text{name: name, raw: string(src), prose: proseOf(name, string(src))})
		return nil
	})
}

// ignoredFiles returns the files that .gitignore names by their path, such as a program that was built in the
// root.
func ignoredFiles(root fs.FS) map[string]bool {
	all := map[string]bool{}
	raw, err := fs.ReadFile(root, ".gitignore")
	if err != nil { // no file is ignored
		return all
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "/"); ok {
			all[strings.TrimSuffix(name, "/")] = true
		}
	}
	return all
}

func hasProse(name string) bool {
	ext := path.Ext(name)
	return isSchema(name) || ext == ".md" || ext == ".txtar" || commentMarks[ext] != nil
}

// isSchema reports whether the file is a schema of the API, or contains rules for one.
func isSchema(name string) bool {
	dir := path.Dir(name)
	return path.Ext(name) == ".json" &&
		(dir == "internal/wire/openapi/schemas" || dir == "internal/wire/openapi/schemas/rules")
}

// proseOf returns src with spaces instead of everything that is not prose.
func proseOf(name, src string) string {
	switch path.Ext(name) {
	case ".md":
		return inlineCode.ReplaceAllStringFunc(blankLines(src, fences()), blank)
	case ".txtar":
		return blankLines(src, untilSection())
	}
	marks := commentMarks[path.Ext(name)]
	return blankLines(src, func(line string) bool {
		for _, m := range marks {
			if strings.HasPrefix(strings.TrimLeft(line, " \t"), m) {
				return true
			}
		}
		return false
	})
}

var inlineCode = regexp.MustCompile("`[^`\n]*`")

// fences returns a filter that keeps the lines outside fenced blocks.
func fences() func(string) bool {
	inside := false
	return func(line string) bool {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		if fence {
			inside = !inside
		}
		return !inside && !fence
	}
}

// untilSection returns a filter that keeps the lines before the first section
// of a txtar file.
func untilSection() func(string) bool {
	before := true
	return func(line string) bool {
		before = before && !strings.HasPrefix(line, "-- ")
		return before
	}
}

func blankLines(src string, keep func(string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(src) {
		if !keep(line) {
			line = blank(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

func blank(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, []byte(s)))
}

// A passage is the prose of a comment group or of a text.
type passage struct {
	file string
	line int    // the position of its first character
	text string // without the marks of comments
}

// passages returns all prose of the tree.
func (t *tree) passages() []passage {
	var all []passage
	for _, f := range t.files {
		if f.generated() {
			continue
		}
		for _, group := range f.ast.Comments {
			all = append(all, passage{f.name, t.fset.Position(group.Pos()).Line, commentText(group)})
		}
	}
	for _, x := range t.texts {
		all = append(all, passage{x.name, 1, uncommented(x)})
	}
	return all
}

// passagesWithCode is like passages, with the inline code of documents, which
// contains names of pages.
func (t *tree) passagesWithCode() []passage {
	all := t.passages()
	for i, x := range t.texts {
		if x.document() {
			all[len(all)-len(t.texts)+i].text = blankLines(x.raw, fences())
		}
	}
	return all
}

// commentText returns the text of a comment group without the comment marks.
func commentText(group *ast.CommentGroup) string {
	var lines []string
	for _, c := range group.List {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*"))
	}
	return strings.Join(lines, "\n")
}

// uncommented returns the prose of a text without the comment marks.
func uncommented(x *text) string {
	if x.document() {
		return x.prose
	}
	var lines []string
	for line := range strings.Lines(x.prose) {
		lines = append(lines, strings.TrimLeft(strings.TrimSuffix(line, "\n"), "/#*- \t"))
	}
	return strings.Join(lines, "\n")
}

// find calls visit for each match, which may span lines, with its groups and
// the line of the first group.
func (p passage) find(re *regexp.Regexp, visit func(line int, groups []string)) {
	flat := strings.ReplaceAll(p.text, "\n", " ")
	for _, m := range re.FindAllStringSubmatchIndex(flat, -1) {
		groups, at := make([]string, len(m)/2), -1
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = flat[m[2*i]:m[2*i+1]]
			}
			if at < 0 && (i > 0 || len(groups) == 1) {
				at = m[2*i]
			}
		}
		visit(p.line+strings.Count(p.text[:at], "\n"), groups)
	}
}

// conflict matches the lines that an incomplete merge leaves in a file.
var conflict = regexp.MustCompile(`(?m)^(<{7}|>{7}|\|{7})( |$)`)

// mergesAreComplete finds conflict markers that a merge has left in a text.
func mergesAreComplete(t *tree, report report) {
	for _, x := range t.texts {
		for _, at := range conflict.FindAllStringIndex(x.raw, -1) {
			report(token.NoPos, "%s:%d: a conflict of a merge is left", x.name, 1+strings.Count(x.raw[:at[0]], "\n"))
		}
	}
}
