package decode_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
)

var (
	didYouMean = regexp.MustCompile(`^did you mean "(.*)"\?$`)
	fieldsAre  = regexp.MustCompile(`^the (?:fields are|only field is) (.+)$`)
	setID      = regexp.MustCompile(`^set "id" to (?:one of )?(q\d)`)
	member     = regexp.MustCompile(`^"(\w+)": (.*)$`)
	choose     = regexp.MustCompile(`^choose ("[^"]*")`)
)

// applied returns a body after the change that the fix of a problem describes. It reports false
// if the change is not possible.
func applied(body map[string]any, p askback.Problem, field string) (map[string]any, bool) {
	parent, name := locate(body, p.Pointer)
	value := get(parent, name)
	rename := func(to string) bool {
		object, ok := parent.(map[string]any)
		if _, taken := object[to]; !ok || taken {
			return false
		}
		delete(object, name)
		object[to] = value
		return true
	}
	if m := didYouMean.FindStringSubmatch(p.Fix); m != nil {
		return body, rename(m[1])
	}
	if m := fieldsAre.FindStringSubmatch(p.Fix); m != nil && field != "" {
		return body, slices.Contains(strings.Split(m[1], ", "), field) && rename(field)
	}
	if fieldsAre.MatchString(p.Fix) || strings.HasPrefix(p.Fix, "leave it out") {
		remove(parent, name)
		return body, true
	}
	if m := setID.FindStringSubmatch(p.Fix); m != nil {
		if answers, ok := body["answers"].(map[string]any); ok {
			for text, value := range answers {
				delete(answers, text)
				answers[m[1]] = value
			}
			return body, strings.HasSuffix(p.Fix, "; in an object, use the id as the key")
		}
		remove(parent, name)
		return body, set(parent, "id", m[1])
	}
	if m := member.FindStringSubmatch(p.Fix); m != nil {
		remove(parent, name)
		return body, set(parent, m[1], firstValue(m[2]))
	}
	if m := choose.FindStringSubmatch(p.Fix); m != nil {
		return body, set(parent, name, []any{firstValue(m[1])})
	}
	_, example, _ := strings.Cut(p.Fix, "{")
	isWhole := p.Pointer == "" || p.Detail == "unknown field" || strings.Contains(p.Detail, "missing")
	if whole, ok := firstValue("{" + example).(map[string]any); ok && isWhole {
		return whole, true
	}
	v := firstValue(p.Fix)
	return body, v != nil && set(parent, name, v)
}

// locate returns the object or list with the value at a JSON pointer, and its name there.
func locate(body map[string]any, pointer string) (parent any, name string) {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	parent = body
	for _, token := range tokens[:len(tokens)-1] {
		parent = get(parent, token)
	}
	return parent, tokens[len(tokens)-1]
}

func get(parent any, name string) any {
	switch p := parent.(type) {
	case map[string]any:
		return p[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(p) {
			return p[i]
		}
	}
	return nil
}

func set(parent any, name string, value any) bool {
	switch p := parent.(type) {
	case map[string]any:
		p[name] = value
		return true
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(p) {
			return false
		}
		p[i] = value
		return true
	}
	return false
}

func remove(parent any, name string) {
	if p, ok := parent.(map[string]any); ok {
		delete(p, name)
	}
}

// parsed returns the object in a text.
func parsed(text string) map[string]any {
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return out
}

// firstValue returns the JSON value at the beginning of a text, or nil if the text does not begin with JSON.
func firstValue(text string) (out any) {
	if json.NewDecoder(strings.NewReader(text)).Decode(&out) != nil {
		return nil
	}
	return out
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
