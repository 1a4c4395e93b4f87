package askback_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
)

// A search of pending asks finds words anywhere in the request, in any order.
func TestAskContainsWordsOfSearch(t *testing.T) {
	a := askback.Ask{
		Title: "Release", Agent: "bot", Tags: []string{"prod"}, Context: []byte(`"The build is green."`),
		Questions: []askback.Question{{Text: "Which database?", Header: "Storage", Options: []askback.Option{
			{Label: "PostgreSQL", Description: "A server"},
		}}},
		Confirmation: &askback.Confirmation{
			ToolName: "db.migrate", Server: "warehouse", Description: "Drop a table", Context: "After the backup",
			InputPreview: "drop users", Input: []byte(`{"table":"logs"}`),
		},
	}
	for search, want := range map[string]bool{
		"": true, " ": true, "release": true, "BOT": true, "prod": true, "green": true, "storage": true,
		"postgres": true, "server": true, "migrate": true, "warehouse": true, "drop": true, "backup": true,
		"users": true, "logs": true,
		"database which": true, `"which database"`: true, "green logs prod": true,
		"database mysql": false, "absent": false,
		// only the first 20 words of a search count
		strings.Repeat("drop ", 20) + "absent": true, strings.Repeat("drop ", 19) + "absent": false,
	} {
		if got := a.Contains(search); got != want {
			t.Errorf("%q: got %t, want %t", search, got, want)
		}
	}
}
