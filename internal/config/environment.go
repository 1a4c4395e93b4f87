package config

import "strings"

// interpolate puts variables into a text: ${NAME}, and $${ for a "${" that stays.
// What a variable holds is not looked at again.
func (f *file) interpolate(v value, text string) (string, bool) {
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
			f.wrong(v.at, "write ${NAME}, or $${ for these characters themselves", "%s: this is no variable: %s", v.key, quote(text[i:]))
			return "", false
		}
		held, set := f.env(name)
		if !set {
			f.wrong(v.at, "set it where askback is started", "%s: the environment has no %s", v.key, name)
			ok = false
		}
		b.WriteString(held)
		text = rest
	}
}

// isVariable says whether this is a name that a shell can set.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 200
}
