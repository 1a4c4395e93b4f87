package askback_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// Names that begin with @ are reserved for groups.
func TestTokenNameThatBeginsWithAtSignIsRejected(t *testing.T) {
	for name, want := range map[string][]string{"@ops": {"/name"}, "ana@example.com": nil, " ": {"/name"}} {
		got := pointers(t, askback.TokenRequest{Kind: askback.Responder, Name: name}.Check())
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

// An escape in a JSON string counts as one character, and so does a pair of surrogates.
func TestContextLengthIgnoresEscapes(t *testing.T) {
	for what, c := range map[string]struct {
		context string
		taken   bool
	}{
		"escaped letters":      {`"` + strings.Repeat(`\u00fc`, 200_000) + `"`, true},
		"one letter more":      {`"` + strings.Repeat(`\u00fc`, 200_001) + `"`, false},
		"pairs of surrogates":  {`"` + strings.Repeat(`\ud83d\ude00`, 200_000) + `"`, true},
		"new lines":            {`"` + strings.Repeat(`\n`, 200_000) + `"`, true},
		"quotation marks":      {`"` + strings.Repeat(`\"`, 200_000) + `"`, true},
		"an object, escaped":   {`{ "a" : "` + strings.Repeat(`\u00fc`, 199_992) + `" }`, true},
		"an object, too large": {`{"a":"` + strings.Repeat("x", 199_993) + `"}`, false},
	} {
		_, err := askback.Request{
			Questions: []askback.Question{{Text: "Why?"}}, Context: json.RawMessage(c.context),
		}.Normalize()
		if (err == nil) != c.taken {
			t.Errorf("%s: got %.100v, taken should be %v", what, err, c.taken)
		}
	}
}

// A context is compacted even if a later check rejects the context.
func TestLoneSurrogateInContextIsRejected(t *testing.T) {
	for _, raw := range []string{` { "a" : "\ud800" } `, `{ "a" : 1 , "a" : 2 }`} {
		r, err := askback.Request{
			Questions: []askback.Question{{Text: "Why?"}}, Context: json.RawMessage(raw),
		}.Normalize()
		if got := pointers(t, err); fmt.Sprint(got) != "[/context]" ||
			string(r.Context) != strings.ReplaceAll(raw, " ", "") || !strings.Contains(err.Error(), "repeated") {
			t.Errorf("%s: got %s, %v", raw, r.Context, err)
		}
	}
}

// The case of the tier is ignored, because programs in Rust write the tier as Confirm.
func TestCaseOfTierIsIgnored(t *testing.T) {
	for _, tier := range []string{"Confirm", "confirm", "CONFIRM", ""} {
		r, err := askback.Request{Confirmation: &askback.Confirmation{ToolName: "rm", Tier: tier}}.Normalize()
		if err != nil || r.Confirmation.Tier != "confirm" {
			t.Errorf("%q: got %+v, %v", tier, r.Confirmation, err)
		}
	}
}
