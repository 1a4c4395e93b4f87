package httpapi_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is the maximum length of a line.
const columns = 110

// formatJSON formats JSON on one line if it fits. Otherwise it writes a line for each member. It writes the
// members in show, and "…" for all other members; "outcome.by" selects a member of a member. If show is
// empty, it writes all members.
func formatJSON(raw json.RawMessage, show []string, indent string, used int) string {
	one := inLine(raw, show)
	if len(indent)+used+utf8.RuneCountInString(one) <= columns {
		return one
	}
	deeper := indent + "  "
	begin, parts, end := split(raw, show, func(name string, v json.RawMessage, show []string) string {
		return name + formatJSON(v, show, deeper, len(name)+1)
	})
	if len(parts) == 0 {
		return one
	}
	return begin + "\n" + deeper + strings.Join(parts, ",\n"+deeper) + "\n" + indent + end
}

func inLine(raw json.RawMessage, show []string) string {
	begin, parts, end := split(raw, show, func(name string, v json.RawMessage, show []string) string {
		return name + inLine(v, show)
	})
	return begin + strings.Join(parts, ", ") + end
}

// split returns the brackets of an object or array, and its formatted members or elements.
// Any other value is returned as begin.
func split(
	raw json.RawMessage, show []string, each func(name string, v json.RawMessage, show []string) string,
) (begin string, parts []string, end string) {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '{':
		more := false
		for _, m := range members(raw) {
			inner, ok := shown(show, m.name)
			if ok {
				parts = append(parts, each(`"`+m.name+`": `, m.value, inner))
			}
			more = more || !ok
		}
		if more {
			parts = append(parts, "…")
		}
		return "{", parts, "}"
	case '[':
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return string(raw), nil, ""
		}
		for _, v := range all {
			parts = append(parts, each("", v, show))
		}
		return "[", parts, "]"
	}
	return string(raw), nil, ""
}

// shown reports whether show selects a member or a part of its value. inner lists the selected members of the
// value. If inner is nil, all members of the value are shown.
func shown(show []string, name string) (inner []string, ok bool) {
	if len(show) == 0 || slices.Contains(show, name) {
		return nil, true
	}
	for _, s := range show {
		if rest, found := strings.CutPrefix(s, name+"."); found {
			inner = append(inner, rest)
		}
	}
	return inner, len(inner) > 0
}

type jsonMember struct {
	name  string
	value json.RawMessage
}

// members returns the members of an object in the order of the source.
func members(raw json.RawMessage) (out []jsonMember) {
	in := json.NewDecoder(bytes.NewReader(raw))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for in.More() {
		name, err := in.Token()
		var v json.RawMessage
		if err != nil || in.Decode(&v) != nil {
			return nil
		}
		out = append(out, jsonMember{name.(string), v}) // names are always strings
	}
	return out
}

// The members keep the order of the raw reply, and "…" stands for members that are left out. Without a
// selection, all members are shown.
func TestFormattedReplyShowsOnlySelectedMembers(t *testing.T) {
	long := strings.Repeat("x", columns)
	for _, c := range []struct {
		raw, want string
		show      []string
	}{
		{`{"b":1,"a":[true,null]}`, `{"b": 1, "a": [true, null]}`, nil},
		{`{"b":1,"a":{"c":2,"d":3}}`, `{"a": {"d": 3, …}, …}`, []string{"a.d"}},
		{`{"items":[{"a":1,"b":2}]}`, `{"items": [{"b": 2, …}]}`, []string{"items.b"}},
		{`[]`, `[]`, nil},
		{`{"a":"` + long + `","b":{}}`, "{\n  \"a\": \"" + long + "\",\n  \"b\": {}\n}", nil},
	} {
		if got := formatJSON(json.RawMessage(c.raw), c.show, "", 0); got != c.want {
			t.Errorf("%s with %v: got\n%s\nwant\n%s", c.raw, c.show, got, c.want)
		}
	}
}
