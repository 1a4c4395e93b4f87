package directory_test

import (
	"testing"

	"github.com/askback/askback/internal/directory"
)

// A person whose name looks like another person's name could get the asks of that person (T36).
func TestNamesWithInvisibleCharactersAreRejected(t *testing.T) {
	for _, name := range []string{
		"ana\u200b", "\ufeffana", "a\u2060na", "a\u00adna", "\u202eana", "ana\u200e", "\u2067ana",
	} {
		if directory.NameProblem(name) == "" || directory.RecipientProblem("@"+name) == "" {
			t.Errorf("%q is accepted", name)
		}
	}
	for _, name := range []string{"ana", "Ána", "علی\u200cرضا", "安娜"} {
		if problem := directory.NameProblem(name); problem != "" {
			t.Errorf("%q %s", name, problem)
		}
	}
}
