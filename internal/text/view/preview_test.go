package view_test

import (
	"strings"
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
		"First:\n\n```sql\nselect 1\n```": true, "**bold**": true, "text\n```\nopen": false,
	} {
		a := view.Of(askback.Ask{
			Questions: []askback.Question{{ID: "q1", Options: []askback.Option{{Label: "A", Preview: preview}}}},
		})
		if got := len(a.Questions[0].Choices[0].PreviewMarkdown) > 0; got != want {
			t.Errorf("%q is formatted: %v, want %v", preview, got, want)
		}
	}
}

// A preview that is Markdown to be read is formatted. Code, settings and drawings are shown exactly, whatever
// characters they have.
func TestOnlyProseIsFormattedInPreviews(t *testing.T) {
	for preview, want := range map[string]bool{
		"Dear **Mrs Weber**,\n\nwe are sorry. See [our terms](https://example.com/terms).": true,
		"We refund:\n\n1. The **full** amount\n2. a voucher\n   of 10 €":                   true,
		"| plan | price |\n|---|--:|\n| basic | 3 € |":                                     true,
		"plan | price\n--- | ---\nbasic | 3 €":                                             true,
		"## Summary\n\nNothing changes for customers.":                                     true,
		"- a plain list\n- without marks":                                                  false,
		"Hello,\nnothing to format here.":                                                  false,
		"steps:\n  - run: make\n  - run: **/*.go":                                          false,
		"def f(*a, **k):\n    return g(**k)":                                               false,
		"x = 2**3**4":                                                                      false,
		"# Install\n\npip install askback":                                                 false,
		"echo **bold**;":                                                                   false,
		"func main() {\n\t// **important**\n}":                                             false,
		"- **removed** line\n+ **added** line":                                             false,
		"+------+------+\n| Logo | Cart |\n+------+------+":                                false,
		"┌────┐\n│ ** │\n└────┘ **x**":                                                     false,
		"a | **b** | c":                     false,
		"<b>**x**</b>":                      false,
		"SELECT **x**\nFROM t":              false,
		"name     **value**":                false,
		"``` **x**":                         false,
		strings.Repeat("a **word** ", 1000): true,
		strings.Repeat("a **word** ", 2000): false, // a file
	} {
		a := view.Of(askback.Ask{
			Questions:    []askback.Question{{ID: "q1", Options: []askback.Option{{Label: "A", Preview: preview}}}},
			Confirmation: &askback.Confirmation{ToolName: "mail", InputPreview: preview, Input: []byte(`{}`)},
		})
		if got := len(a.Questions[0].Choices[0].PreviewMarkdown) > 0; got != want {
			t.Errorf("%q is formatted: %v, want %v", preview, got, want)
		}
		if got := len(a.Confirmation.PreviewMarkdown) > 0; got != want {
			t.Errorf("as the preview of a call, %q is formatted: %v, want %v", preview, got, want)
		}
	}
}
