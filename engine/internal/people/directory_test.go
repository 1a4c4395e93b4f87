package people_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store/memstore"
)

// A change that was committed earlier but is applied later does not replace the newer directory.
func TestDirectoryIsNotReplacedByEarlierVersion(t *testing.T) {
	db := txn.New(memstore.New(), txn.Options{})
	e := people.New(db, people.Options{Recipients: func() map[string][]string { return nil }})
	e.Set(txn.Settings{})
	admin := db.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	c := e.As(&admin)
	for _, name := range []string{"a", "b"} { // versions 1 and 2
		if _, err := c.PutGroup(t.Context(), name, []string{"ana"}); err != nil {
			t.Fatal(err)
		}
	}
	e.ReplaceDirectory(1)
	if groups, err := c.Groups(t.Context()); err != nil || len(groups) != 2 {
		t.Errorf("got groups %+v, %v, want two", groups, err)
	}
}
