package httpapi

import "slices"

// WireRequest is what the client sends.
var WireRequest = wireRequest

// Routes returns the paths of the table by method.
func Routes() map[string][]string {
	out := map[string][]string{}
	for _, rt := range routes {
		out[rt.method] = append(out[rt.method], rt.path)
	}
	return out
}

// Paths returns every path of the table once.
func Paths() []string {
	var out []string
	for _, rt := range routes {
		if !slices.Contains(out, rt.path) {
			out = append(out, rt.path)
		}
	}
	return out
}

// Actionless returns the routes that name no action and are not open.
func Actionless() []string {
	var out []string
	for _, rt := range routes {
		if rt.open != (rt.action == "") {
			out = append(out, rt.method+" "+rt.path)
		}
	}
	return out
}

// Sentinels returns the words of the table of errors with their status.
func Sentinels() map[string]int {
	out := map[string]int{}
	for _, s := range sentinels {
		out[s.word] = s.status
	}
	return out
}
