package directory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/limits"
)

// The length and the characters of a list of names are limited, and the limits themselves are allowed.
func TestListsOfNamesAreLimited(t *testing.T) {
	var many []string
	for i := range limits.MaxNames + 1 {
		many = append(many, fmt.Sprint("p", i))
	}
	const letters = 50
	var long []string
	for i := range limits.MaxTo/letters + 1 {
		long = append(long, fmt.Sprintf("%0*d", letters, i))
	}
	for _, names := range [][]string{many, long} {
		most := names[:len(names)-1]
		if p := directory.ListProblem(most); p != "" {
			t.Errorf("%d names: it %s", len(most), p)
		}
		if err := directory.CheckGroup("all", most); err != nil {
			t.Errorf("%d names: %v", len(most), err)
		}
		var invalid askback.Invalid
		if err := directory.CheckGroup("all", names); !errors.As(err, &invalid) || invalid[0].Pointer != "/people" ||
			!strings.Contains(err.Error(), "more than") {
			t.Errorf("%d names: got %v", len(names), err)
		}
	}
}
