package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// The navigation has only the pages that this kind of person may open, and each link opens its page (F4).
func TestNavigationShowsOnlyPermittedPages(t *testing.T) {
	h := newServer(t)
	for kind, want := range map[askback.Kind]string{
		askback.Responder: "/ /history /sessions /grants /agents /people /routes /numbers /contacts /logins /more",
		askback.Admin: "/ /history /sessions /grants /agents /people /routes /numbers /tokens /deliveries " +
			"/endpoints /contacts /logins /more",
		askback.Operator: "/grants /agents /people /routes /numbers /tokens /deliveries /endpoints /logins /more",
	} {
		b := browser{h, h.secret(kind, "ana")}
		var got []string
		for _, a := range b.open("/more", http.StatusOK).all(".nav a") {
			got = append(got, a.attr["href"])
			b.open(a.attr["href"], http.StatusOK)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", kind, got, want)
		}
	}
	if got := (browser{h, ""}).open("/more", http.StatusUnauthorized).all(".nav"); len(got) != 0 {
		t.Error("a visitor sees the navigation")
	}
}

// The bar of a phone has at most four entries. The page More has all other pages.
func TestEveryPageIsReachableOnAPhone(t *testing.T) {
	h := newServer(t)
	page := browser{h, h.secret(askback.Admin, "ana")}.open("/more", http.StatusOK)
	var bar []string
	for _, a := range page.all(".nav a") {
		if !a.inside(".nav-wide") {
			bar = append(bar, a.attr["href"])
		}
	}
	if len(bar) > 4 || bar[len(bar)-1] != "/more" {
		t.Errorf("the bar has %v", bar)
	}
	var listed []string
	for _, a := range page.all(".page-list a") {
		listed = append(listed, a.attr["href"])
	}
	for _, a := range page.all(".nav a") {
		if path := a.attr["href"]; !slices.Contains(bar, path) && !slices.Contains(listed, path) {
			t.Errorf("%s is not reachable on a phone", path)
		}
	}
}

// On a phone, the bar opens the page that links to the other pages.
func TestChromiumPhoneBarOpensTheOtherPages(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	w.Press(".nav .nav-narrow")
	w.waitText("Standing approvals")
	w.waitUntil(`document.querySelector(".nav-narrow").getAttribute("aria-current") === "page"`)
	w.waitUntil(`[...document.querySelectorAll(".nav a")].filter((a) => a.offsetParent !== null || a.getClientRects().length > 0).length <= 4`)
	w.waitUntil(`[...document.querySelectorAll(".page-list a, .nav a")].every((a) => a.getClientRects().length === 0 || a.getBoundingClientRect().height >= 44)`)
	w.Press(`.page-list a[href="/grants"]`)
	w.waitText("There are no standing approvals")
}
