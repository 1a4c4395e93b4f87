package terminal_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/terminal"
)

// Every option of the largest question is drawn with its key and can be chosen.
func TestEveryOptionIsDrawn(t *testing.T) {
	var q askback.Question
	var labels, keys []string
	for i := range limits.MaxOptions {
		labels = append(labels, fmt.Sprintf("option %d", i+1))
		keys = append(keys, fmt.Sprint(i+1))
	}
	q.Options = askback.Options(labels...)
	for _, human := range []bool{false, true} {
		for _, multi := range []bool{false, true} {
			q.MultiSelect = multi
			typed, want := keys[len(keys)-1], labels[len(labels)-1:]
			if multi {
				typed, want = strings.Join(keys, ","), labels
			}
			got, drawn, err := runScript(questionAsk(q), human, typed+"\n")
			if err != nil {
				t.Fatal(err)
			}
			given, _ := got.(terminal.Answered)
			if len(given.Answer.Answers) != 1 {
				t.Fatalf("got %v", got)
			}
			if d := cmp.Diff(want, given.Answer.Answers[0].Selected); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			for i, label := range labels {
				if !regexp.MustCompile(`(?m)^ *` + keys[i] + ` │ ` + label + `$`).MatchString(drawn) {
					t.Errorf("%s is not drawn in\n%s", label, drawn)
				}
			}
		}
	}
}
