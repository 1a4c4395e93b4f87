package notice_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A preview is shown as code, so the fences of its Markdown are left out. All its lines are exact.
func TestPreviewsHaveNoFences(t *testing.T) {
	const fenced = "```go\ntx, err := db.Begin()\n```"
	a := ask("a", "b")
	a.Questions[0].Options[0].Preview = fenced
	b := call(`{"x":1}`, false)
	b.Confirmation.InputPreview = fenced
	for _, shown := range []askback.Ask{a, b} {
		found := false
		for _, l := range notice.Pending(shown, nil).Lines {
			if strings.Contains(l.Foreign, "```") {
				t.Errorf("got the line %q", l.Foreign)
			}
			if l.Foreign == "tx, err := db.Begin()" {
				found = l.Exact
			}
		}
		if !found {
			t.Errorf("the preview is not exact: %q", notice.Pending(shown, nil).Text(notice.Plain))
		}
	}
}
