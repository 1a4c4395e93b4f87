package view_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A preview is shown as code, so its Markdown fences are removed, unless a fence is not closed.
func TestPreviewFencesAreRemoved(t *testing.T) {
	for preview, want := range map[string]string{
		"select 1":                              "select 1",
		"```sql\nselect 1\n```":                 "select 1",
		"```\na\n```\nand\n  ```go\n  b\n  ```": "a\nand\n  b",
		"```sql\nselect 1":                      "```sql\nselect 1",
		"a ``` b":                               "a ``` b",
		"```run this first\na\n```":             "```run this first\na\n```",
		"``` c++\na\n```":                       "a",
		"```a```\nb":                            "```a```\nb",
		"```md\n```go\nx\n```\n":                "```go\nx\n",
	} {
		a := view.Of(askback.Ask{
			Questions: []askback.Question{{ID: "q1", Options: []askback.Option{{Label: "A", Preview: preview}}}},
		})
		if got := a.Questions[0].Choices[0].Preview.String(); got != want {
			t.Errorf("%q is shown as %q, want %q", preview, got, want)
		}
	}
}

// A preview with text around its blocks of code is formatted. One block alone, without a
// label, is shown exactly.
func TestPreviewWithTextAndCodeIsFormatted(t *testing.T) {
	for preview, want := range map[string]bool{
		"select 1": false, "```\nselect 1\n```": false, "```sql\nselect 1\n```": true,
		"First:\n\n```sql\nselect 1\n```": true, "**bold**": false, "text\n```\nopen": false,
	} {
		a := view.Of(askback.Ask{
			Questions: []askback.Question{{ID: "q1", Options: []askback.Option{{Label: "A", Preview: preview}}}},
		})
		if got := len(a.Questions[0].Choices[0].PreviewMarkdown) > 0; got != want {
			t.Errorf("%q is formatted: %v, want %v", preview, got, want)
		}
	}
}
