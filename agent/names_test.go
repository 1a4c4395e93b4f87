package agent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Two tools never have the same name for a model, whatever names their servers give them. Otherwise a server
// could receive the calls of another server, or a tool could use the approval of another tool.
func TestNamesForModelsDiffer(t *testing.T) {
	for _, pair := range [][4]string{
		{"a__b", "close", "a", ""},
		{"a_", "close", "a", ""},
		{"a", "close!", "a", ""},
		{"a", "_b", "a_", "b"},
		{"a", "b__c", "a__b", "c"},
		{"a", "", "a", "_"},
	} {
		if pair[3] == "" { // the tool whose plain name is the name of the first tool
			pair[3] = strings.TrimPrefix(modelName(pair[0], pair[1]), pair[2]+separator)
		}
		if name := modelName(pair[0], pair[1]); name == modelName(pair[2], pair[3]) {
			t.Errorf("%q has the name %s", pair, name)
		}
	}
}

func TestRandomNamesForModelsDiffer(t *testing.T) {
	server, part := rapid.StringMatching(`[ab_-]{1,4}`), rapid.StringMatching(`[ab_./-]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		type tool struct{ server, name string }
		of := map[string]tool{}
		add := func(one tool) {
			name := modelName(one.server, one.name)
			if other, known := of[name]; known && other != one {
				t.Fatalf("%q and %q have the name %s", one, other, name)
			}
			of[name] = one
		}
		for range 30 {
			one := tool{server.Draw(t, "server"), part.Draw(t, "tool")}
			for range rapid.IntRange(0, 2).Draw(t, "imitations") {
				name := modelName(one.server, one.name)
				cut := rapid.SampledFrom(cuts(name)).Draw(t, "cut") // a tool that imitates this name
				add(one)
				one = tool{name[:cut], name[cut+len(separator):]}
			}
			add(one)
		}
	})
}

// cuts returns the positions of the separators in a name.
func cuts(name string) (all []int) {
	for i := range name {
		if strings.HasPrefix(name[i:], separator) {
			all = append(all, i)
		}
	}
	return all
}
