package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/openapi"
)

// checkQuery rejects a query that cannot be parsed, and unknown and repeated keys. A misspelt filter must not
// select everything.
func (c *call) checkQuery(keys []openapi.Param) error {
	if hasPlainKeys(c.r.URL.RawQuery, keys) {
		return nil
	}
	var bad askback.Invalid
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return askback.Invalid{{
			Pointer: "?", Detail: "the query cannot be parsed",
			Fix: "write it as key=value&key=value, with special characters escaped",
		}}
	}
	for key, values := range query {
		if !slices.ContainsFunc(keys, func(p openapi.Param) bool { return p.Name == key }) {
			fix := "leave it out"
			if len(keys) > 0 {
				fix = "the keys are " + paramNames(keys)
			}
			bad = append(bad, askback.Problem{Pointer: "?" + key, Detail: "unknown query key", Fix: fix})
		} else if len(values) > 1 {
			bad = append(bad, askback.Problem{Pointer: "?" + key, Detail: "this key is repeated", Fix: "send it once"})
		}
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// hasPlainKeys reports whether query is valid without a further check: it has no escapes, and each key is in
// keys and occurs once. It allocates no memory. Most queries pass.
func hasPlainKeys(query string, keys []openapi.Param) bool {
	if strings.ContainsAny(query, "%+;") {
		return false
	}
	var seen uint64
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(keys, func(p openapi.Param) bool { return p.Name == name })
		if i < 0 || i >= 64 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
	}
	return true
}

// param returns the first value of the query key name, or "" if the query does not have this key.
func (c *call) param(name string) string {
	query := c.r.URL.RawQuery
	if query == "" {
		return ""
	}
	if strings.ContainsAny(query, "%+;") {
		return c.r.URL.Query().Get(name)
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if key, value, _ := strings.Cut(pair, "="); key == name {
			return value
		}
	}
	return ""
}

func paramNames(keys []openapi.Param) string {
	var out []string
	for _, p := range keys {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}
