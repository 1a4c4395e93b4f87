package view_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// An ask for which lists show "1 hour left" is due soon. Asks with the same deadline, or without a deadline, are in
// the order of their ids, which is the order of their creation. The order does not depend on the order before.
func TestPlacesHaveOneOrder(t *testing.T) {
	ask := func(id string, left time.Duration) view.Ask {
		a := askback.Ask{ID: id, Questions: []askback.Question{{Text: "Which?"}}}
		if left > 0 {
			a.Deadline = noon.Add(left)
		}
		return view.Of(a)
	}
	asks := []view.Ask{
		ask("ask_1", 0), ask("ask_2", time.Hour+59*time.Second), ask("ask_3", time.Hour+time.Minute),
		ask("ask_4", time.Hour), ask("ask_5", time.Hour), ask("ask_6", 0),
	}
	var order view.Order
	for range asks {
		asks = append(asks[1:], asks[0])
		sorted := slices.SortedFunc(slices.Values(asks), func(a, b view.Ask) int {
			return cmp.Compare(order.Place(a, noon).Sort, order.Place(b, noon).Sort)
		})
		var got []string
		for _, a := range sorted {
			got = append(got, strings.TrimPrefix(a.ID.String(), "ask_")+" "+order.Place(a, noon).Name)
		}
		want := "4 Due soon, 5 Due soon, 2 Due soon, 1 Everything else, 3 Everything else, 6 Everything else"
		if strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
