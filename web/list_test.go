package web_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/web/pages"
)

// An empty page of the inbox that is not the last one does not claim that there are no
// questions.
func TestEmptyPageOfInboxHasNextPage(t *testing.T) {
	for next, want := range map[string]string{"": "No open questions", "ask_1": "No question on this page is for you"} {
		var page strings.Builder
		if err := pages.List(pages.Frame{}, nil, next, false).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		if !strings.Contains(text, want) || strings.Contains(text, "No open questions") != (next == "") || strings.Contains(text, "/?cursor=ask_1") != (next != "") {
			t.Errorf("next page %q: got\n%s\nwant %q", next, text, want)
		}
	}
}
