package post_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
)

// Exact arguments can be copied from a chat: no character is between them, and no backslash before them. If a
// service would replace a part of them, the message has only the link.
func TestExactTextIsNotChanged(t *testing.T) {
	const command = "tx, err := db.Begin(); curl https://evil.example/~ana/#x *.go {{.Name}} @here `ls`"
	for _, template := range post.Templates {
		if template == post.HomeAssistant {
			continue // TestHomeAssistantGetsNoMarkup
		}
		for _, tt := range []struct{ text, changedBy string }{
			{command, ""},
			{"{{DATE(2026-01-01T00:00:00Z, SHORT)}}", string(post.Teams)},
			{"x ``` y ```` z", string(post.Discord)},
		} {
			receiver := receiverAt(t, template, "http://127.0.0.1:1/questions")
			a := confirmation("shell", `{"command":"`+tt.text+`"}`)
			request, err := post.Render(receiver, askback.EventQuestionPending, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Contains(string(request.Body), tt.text)
			if want := string(template) != tt.changedBy; got != want {
				t.Errorf("%s: the message has %q: %v, want %v:\n%s", template, tt.text, got, want, request.Body)
			}
			if strings.Contains(string(request.Body), "\u200b") && template != post.Mattermost {
				t.Errorf("%s: the message has an invisible space", template)
			}
		}
	}
}
