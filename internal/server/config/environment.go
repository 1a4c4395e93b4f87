package config

import (
	"regexp"
	"strings"
	"sync"
)

// expand replaces ${NAME} in text by the value of the variable NAME, and $${ by a literal
// ${. Values are not expanded again. If a name is invalid or its variable is not set,
// expand adds a problem at v and returns false. Without l.env it replaces nothing.
func (l *loader) expand(v value, text string) (string, bool) {
	if l.env == nil {
		return text, true
	}
	var b strings.Builder
	ok := true
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), ok
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		name, rest, closed := strings.Cut(text[i+2:], "}")
		if !closed || !variablePattern().MatchString(name) {
			l.addProblem(v.at, "write ${NAME}, or $${ for a literal ${", "%s: not a variable: %s", v.key, l.excerpt(text[i:]))
			return "", false
		}
		content, set := l.env(name)
		if !set {
			l.addProblem(v.at, "set it in the environment of askback", "%s: the variable %s is not set", v.key, name)
			ok = false
		}
		b.WriteString(content)
		text = rest
	}
}

// variablePattern matches a name of at most 200 characters that a shell can give to a
// variable.
var variablePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`) })
