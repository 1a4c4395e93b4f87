package plan_test

import (
	"fmt"
	"testing"

	"github.com/askback/askback/internal/text/plan"
)

// others returns n members of an object.
func others(n int) (s string) {
	for i := range n {
		s += fmt.Sprintf(`,"x%d":1`, i)
	}
	return s
}

func TestPlanIsCutFromTheArguments(t *testing.T) {
	for _, c := range []struct{ tool, arguments, text, rest string }{
		{"ExitPlanMode", `{"plan":"# A\nb"}`, "# A\nb", ""},
		{"exit_plan_mode", `{"plan":"a"}`, "a", ""},
		{"exit_plan_mode", `{"summary":"a","actions":["b"]}`, "a", `{"actions":["b"]}`},
		{
			"ExitPlanMode", `{"allowedPrompts":[{"tool":"Bash","n":1.50}],"plan":"a","planFilePath":"/x.md"}`, "a",
			`{"allowedPrompts":[{"tool":"Bash","n":1.50}],"planFilePath":"/x.md"}`,
		},
		{"ExitPlanMode", `{"plan":"","planFilePath":"/x.md"}`, "", ""},
		{"ExitPlanMode", `{"plan":["a"]}`, "", ""},
		{"ExitPlanMode", `{"plan":"a","plan":"b"}`, "", ""},
		{"ExitPlanMode", `{"plan":"a","Plan":"b"}`, "", ""},
		{"ExitPlanMode", `{}`, "", ""},
		{"ExitPlanMode", `[1]`, "", ""},
		{"ExitPlanMode", `{"plan":"a"` + others(99) + `}`, "a", `{` + others(99)[1:] + `}`},
		{"ExitPlanMode", `{"plan":"a"` + others(100) + `}`, "", ""},
		{"ExitPlanMode", `{"plan":`, "", ""},
		{"ExitPlanMode", ``, "", ""},
		{"Bash", `{"plan":"a"}`, "", ""},
		{"mcp__x__exit_plan_mode", `{"plan":"a"}`, "", ""},
	} {
		text, rest := plan.Cut(c.tool, []byte(c.arguments))
		if text != c.text || string(rest) != c.rest {
			t.Errorf("%s %s: got %q, %s, want %q, %s", c.tool, c.arguments, text, rest, c.text, c.rest)
		}
	}
}

func TestHeadingDescribesThePlan(t *testing.T) {
	for text, want := range map[string]string{
		"# Move the users\n1. copy": "Move the users",
		"\n\n## Two ##\n":           "Two",
		"Copy first.\n# Later":      plan.Headline,
		"#":                         plan.Headline,
		"":                          plan.Headline,
	} {
		if got := plan.Heading(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPathOfPlanIsFound(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"planFilePath":"/a.md"}`: "/a.md", `{"plan_path":"b.md"}`: "b.md", `{}`: "", `{"planFilePath":7}`: "", ``: "",
	} {
		if got := plan.Path([]byte(arguments)); got != want {
			t.Errorf("%s: got %q, want %q", arguments, got, want)
		}
	}
}
