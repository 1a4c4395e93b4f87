package engine_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A channel writes new messages about the asks that its clients return, so these asks have the address of
// their page, as the asks of notifications have.
func TestChannelClientsReturnThePageOfAnAsk(t *testing.T) {
	p := newFixture(t, memstore.New(),
		&engine.Options{Settings: engine.Settings{People: []askback.Person{{Name: "ana"}}}})
	p.engine.Link("https://ask.example.com")
	ana, err := p.engine.Person(t.Context(), "ana", askback.ChannelEmail)
	if err != nil {
		t.Fatal(err)
	}
	check := func(how string, a askback.Ask, err error) {
		t.Helper()
		if want := "https://ask.example.com/asks/" + a.ID; err != nil || a.PageURL != want {
			t.Errorf("%s: got the page %q, %v; want %q", how, a.PageURL, err, want)
		}
	}
	asked := p.ask(confirm())
	a, err := ana.Get(t.Context(), asked.ID)
	check("get", a, err)
	page, err := ana.List(t.Context(), askback.Query{})
	if len(page.Items) != 1 {
		t.Fatalf("got %d asks, %v", len(page.Items), err)
	}
	check("list", page.Items[0], err)
	a, err = ana.Answer(t.Context(), asked.ID, askback.Decide(askback.Deny, ""))
	check("answer", a, err)
	a, err = ana.Decline(t.Context(), p.ask(confirm()).ID, "")
	check("decline", a, err)
}
