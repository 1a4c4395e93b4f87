package settings

import (
	"regexp"
	"strings"
	"sync"
)

// expand replaces ${NAME} in text by the value of the variable NAME, and $${ by a literal ${. Values are not
// expanded again. If a name is invalid or its variable is not set, expand adds a problem at v and returns
// false. If r.Env is nil, expand replaces nothing.
func (r *Reader) expand(v Value, text string) (string, bool) {
	if r.Env == nil {
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
		if !closed || !IsVariable(name) {
			r.AddProblem(v.At, "write ${NAME}, or $${ for a literal ${", "%s: not a variable: %s", v.Key,
				r.excerpt(text[i:]))
			return "", false
		}
		content, set := r.Env(name)
		if !set {
			r.AddProblem(v.At, "set it in the environment of askback", "%s: the variable %s is not set", v.Key, name)
			ok = false
		}
		b.WriteString(content)
		text = rest
	}
}

// IsVariable reports whether a shell can give a variable this name, and the name has at most 200 characters.
func IsVariable(name string) bool { return variablePattern().MatchString(name) }

// variablePattern matches a name of at most 200 characters that a shell can give to a
// variable.
var variablePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)
})
