package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

func treeOf(input string) *view.Value {
	return view.Of(
		askback.Ask{Confirmation: &askback.Confirmation{ToolName: "t", Input: json.RawMessage(input)}},
	).Confirmation.Tree
}

// describe writes a tree as text.
func describe(v view.Value) string {
	switch v.Kind {
	case view.ObjectValue, view.ArrayValue:
		var all []string
		for _, m := range v.Members {
			all = append(all, m.Name.String()+"="+describe(m.Value))
		}
		return string(v.Kind) + "(" + strings.Join(all, " ") + ")"
	}
	return string(v.Kind) + ":" + v.Text.String()
}

// The tree has each name and value, in order, with the digits of numbers, duplicates and real line breaks
// (T3).
func TestTreeContainsEveryValue(t *testing.T) {
	for input, want := range map[string]string{
		`{"b":"x\ny","a":[1.50,true,null,{}],"b":"again"}`: "object(b=string:x\ny a=array(=number:1.50 =word:true " +
			"=word:null =object()) b=string:again)",
		`{"n":123456789012345678901,"s":"null","e":""}`: "object(n=number:123456789012345678901 " +
			"s=string:null e=string:)",
		`{"dir":"a\u202eb","esc":"a\\nb"}`: "object(dir=string:a⟨U+202E⟩b esc=string:a\\nb)",
	} {
		got := treeOf(input)
		if got == nil || describe(*got) != want {
			t.Errorf("%s is\n%v, want\n%s", input, got, want)
		}
	}
}

// Arguments that are too large for a tree, or that programs read in different ways, are shown only as text.
func TestLargeOrAmbiguousArgumentsAreNotShownAsATree(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20)
	wide := `{"a":[` + strings.Repeat("1,", 1000) + `1]}`
	for _, input := range []string{
		"", "{", `{"a":1}{"b":2}`, `{}`, `[1]`, `{"a":"\ud800"}`, `{"a":"\uD83D"}`, "{\"a\":\"\xff\"}", deep, wide,
	} {
		if got := treeOf(input); got != nil {
			t.Errorf("%.40s has a tree: %v", input, got)
		}
	}
}
