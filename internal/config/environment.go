package config

import "strings"

// expand replaces ${NAME} in text by the variable NAME, and $${ by a literal ${. It does not
// expand the values of variables.
func (l *loader) expand(v value, text string) (string, bool) {
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
		if !closed || !isVariable(name) {
			l.addProblem(v.at, "write ${NAME}, or $${ for a literal ${", "%s: not a variable: %s", v.key, quote(text[i:]))
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

// isVariable reports whether name is a variable that a shell can set.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 200
}
