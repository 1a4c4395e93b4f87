package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

const (
	letterPreview = "Dear **Mrs Weber**,\n\n- see [our terms](https://example.com/terms)\n- or call us\n\n" +
		"```sql\nSELECT  **x**;\n```"
	codePreview = "x = 2 ** 3\n# **kept**  as it is"
)

func formattedPreviews() askback.Ask {
	return questionAsk(askback.Question{Text: "Which one?", Options: []askback.Option{
		{Label: "Letter", Preview: letterPreview}, {Label: "Code", Preview: codePreview},
	}})
}

// letterRows are the rows of letterPreview in a terminal.
var letterRows = []string{
	"Dear Mrs Weber,", "• see our terms (https://example.com/terms)", "• or call us", "SELECT  **x**;",
}

// A preview that is Markdown to be read is formatted below its option, beside the options and in the whole text.
// Code is shown exactly, as on the page.
func TestPreviewsAreFormattedAsOnThePage(t *testing.T) {
	var shown bytes.Buffer
	if err := terminal.Show(&shown, view.Of(formattedPreviews()), nil); err != nil {
		t.Fatal(err)
	}
	call := callAsk()
	call.Confirmation.InputPreview = letterPreview
	var called bytes.Buffer
	if err := terminal.Show(&called, view.Of(call), nil); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]string{
		"the whole question": shown.String(), "the preview of a call": called.String(),
	}
	for name, width := range map[string]int{"below its option": 80, "beside the options": 120} {
		p := openPanel(formattedPreviews(), width, 60)
		p.Arm()
		drawn[name] = screenText(p.Drawn(), width, 60)
		p.Press("down")
		code := screenText(p.Drawn(), width, 60)
		if !strings.Contains(code, "│ x = 2 ** 3") && !strings.Contains(code, "│   x = 2 ** 3") ||
			!strings.Contains(code, "# **kept**  as it is") {
			t.Errorf("%s, code is not exact in\n%s", name, code)
		}
	}
	for name, text := range drawn {
		for _, row := range letterRows {
			if !strings.Contains(text, row) {
				t.Errorf("%s: %q is missing in\n%s", name, row, text)
			}
		}
		if strings.Contains(text, "**Mrs") || strings.Contains(text, "```") {
			t.Errorf("%s: marks of Markdown in\n%s", name, text)
		}
	}
}

// A suspicious link in a preview beside the options has its warning.
func TestPreviewBesideOptionsWarnsOfLinks(t *testing.T) {
	ask := questionAsk(askback.Question{Text: "Which one?", Options: []askback.Option{
		{Label: "Letter", Preview: "**Pay** at [example.org](https://evil.example/pay)"}, {Label: "None"},
	}})
	p := openPanel(ask, 120, 60)
	p.Arm()
	if got := screenText(p.Drawn(), 120, 60); !strings.Contains(got, "│ evil.example\n") {
		t.Errorf("no warning of the link in\n%s", got)
	}
}

// A payload in a message of a person is a block of code without its fences, and other text of a person is
// shown exactly.
func TestPayloadInARunIsFormatted(t *testing.T) {
	var out bytes.Buffer
	v := runViewOf(&out, 80, terminal.RunOptions{Options: terminal.Options{Zone: time.UTC}})
	showRun(
		t, v,
		runEvent("message", `{"role": "user", "by": "ben", "text": "Payload:\n`+
			"```json"+`\n{\"a\": \"**1**\"}\n`+"```"+`"}`),
		runEvent("message", `{"role": "user", "by": "ben", "text": "Keep **this**."}`),
	)
	got := out.String()
	if strings.Contains(got, "```") ||
		!strings.Contains(got, `  {"a": "**1**"}`) || !strings.Contains(got, "Keep **this**.") {
		t.Errorf("got\n%s", got)
	}
}
