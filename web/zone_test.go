package web_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/web"
)

// openIn gets a page as a browser in a time zone does. If zone is "", the browser has sent no zone.
func (b browser) openIn(zone, path string) *node {
	b.t.Helper()
	r := b.request(http.MethodGet, path, nil)
	if zone != "" {
		r.AddCookie(&http.Cookie{Name: "askback-zone", Value: zone})
	}
	return b.page(b.do(r), http.StatusOK)
}

// withZones gives the server a time zone, and zones to some people.
func (h *server) withZones(zone *time.Location, people map[string]string) {
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{
		Now: func() time.Time { return h.now }, Zone: zone, ZoneOf: func(person string) *time.Location {
			if people[person] == "" {
				return nil
			}
			return location(h.t, people[person])
		},
	})
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// The time zone of a page is the zone of the browser, else of the person, else of the server. A short time has the
// name of the zone only if the zone is the server's.
func TestPageIsInTheZoneOfTheReader(t *testing.T) {
	h := newServer(t)
	asks := h.settledAsks() // at 18:30 UTC on 3 November 2026
	h.withZones(time.FixedZone("CET", 60*60), map[string]string{"ana": "Asia/Kolkata"})
	for _, c := range []struct{ name, person, cookie, clock, title, zone string }{
		{"browser", "ana", "America/New_York", "13:30", "3 November 2026, 13:30 EST", "America/New_York"},
		{"no abbreviation", "ben", "Asia/Dubai", "22:30", "3 November 2026, 22:30 UTC+04:00", "Asia/Dubai"},
		{"old name", "ben", "Asia/Calcutta", "00:00", "4 November 2026, 00:00 IST", "Asia/Calcutta"},
		{"person", "ana", "", "00:00", "4 November 2026, 00:00 IST", "Asia/Kolkata"},
		{"server", "ben", "", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"unknown zone", "ben", "Nowhere/City", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"unknown zone of a person", "ana", "Nowhere/City", "00:00", "4 November 2026, 00:00 IST", "Asia/Kolkata"},
		{"name of the server's own zone", "ben", "Local", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"path", "ben", "../../etc/passwd", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"detour", "ben", "Europe/./Berlin", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"text", "ben", "<b>", "19:30 CET", "3 November 2026, 19:30 CET", "server"},
		{"long", "ben", strings.Repeat("Europe/Berlin/", 100), "19:30 CET", "3 November 2026, 19:30 CET", "server"},
	} {
		page := h.browser(c.person).openIn(c.cookie, "/history")
		age := page.one(t, "#row-"+asks["answered"].ID+" time.age")
		if got := age.visibleText(); got != c.clock || age.attr["title"] != c.title ||
			age.attr["datetime"] != "2026-11-03T18:30:00Z" {
			t.Errorf("%s: got %q, title %q, datetime %q; want %q, %q", c.name, got, age.attr["title"],
				age.attr["datetime"], c.clock, c.title)
		}
		if got := page.one(t, "html").attr["data-zone"]; got != c.zone {
			t.Errorf("%s: the script reads the zone %q, want %q", c.name, got, c.zone)
		}
		row := h.browser(c.person).openIn(c.cookie, "/history/"+asks["answered"].ID).one(t, "section.result time")
		if row.visibleText() != c.title {
			t.Errorf("%s: the ask was settled %q, want %q", c.name, row.visibleText(), c.title)
		}
	}
}

// The script loads a page again to show the zone of the browser. It must not do so with the reply to a form, such
// as a secret that is shown once.
func TestReplyToAFormIsNotLoadedAgain(t *testing.T) {
	h := newServer(t)
	b := browser{h, h.secret(askback.Admin, "ana")}
	page := b.send("/tokens", url.Values{"kind": {"agent"}, "name": {"bot"}, "lasts": {"never"}}, http.StatusCreated)
	if zone, ok := page.one(t, "html").attr["data-zone"]; ok {
		t.Errorf("the page with a secret has the zone %q for the script", zone)
	}
	if zone := b.open("/tokens", http.StatusOK).one(t, "html").attr["data-zone"]; zone != "server" {
		t.Errorf("the list of tokens has the zone %q for the script", zone)
	}
}

// "Settled today" and the other days of the history are days of the reader, also around midnight and on days on
// which clocks change.
func TestSettledTodayIsADayOfTheReader(t *testing.T) {
	for _, c := range []struct {
		name, zone, now, settled, want string
	}{
		{"just after midnight", "Europe/Berlin", "2026-11-03T23:10:00Z", "2026-11-03T22:50:00Z", "yesterday"},
		{"the same moment in UTC", "UTC", "2026-11-03T23:10:00Z", "2026-11-03T22:50:00Z", "today"},
		{"evening in New York", "America/New_York", "2026-11-04T04:30:00Z", "2026-11-03T05:30:00Z", "today"},
		{"long day", "Europe/Berlin", "2026-10-25T22:30:00Z", "2026-10-24T22:30:00Z", "today"},
		{"day after a short day", "Europe/Berlin", "2026-03-29T22:30:00Z", "2026-03-28T23:30:00Z", "yesterday"},
		{"no midnight today", "America/Havana", "2026-03-08T05:30:00Z", "2026-03-08T04:30:00Z", "yesterday"},
		{"no midnight yesterday", "America/Havana", "2026-03-09T04:10:00Z", "2026-03-08T05:30:00Z", "yesterday"},
		{"two midnights", "America/Havana", "2026-11-01T05:30:00Z", "2026-11-01T04:30:00Z", "today"},
		{
			"the day before", "Pacific/Auckland", "2026-11-03T12:00:00Z", "2026-11-02T10:59:00Z",
			"on Monday, 2 November 2026",
		},
	} {
		h := newServer(t)
		h.now = parseTime(t, c.settled)
		a := h.ask(single)
		if _, err := h.client(askback.Responder, "ben").Decline(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
		h.now = parseTime(t, c.now)
		page := h.browser("ana").openIn(c.zone, "/history")
		if got := strings.TrimSpace(page.one(t, ".day").visibleText()); got != "Settled "+c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, "Settled "+c.want)
		}
	}
}

func parseTime(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// The days of the filter begin and end at midnight of the reader. Where clocks change at midnight, no hour is lost
// and none is counted twice.
func TestDaysOfTheFilterAreDaysOfTheReader(t *testing.T) {
	for _, c := range []struct {
		name, zone, day string
		inside, outside []string
	}{
		{
			"Berlin", "Europe/Berlin", "2026-11-03",
			[]string{"2026-11-02T23:00:00Z", "2026-11-03T22:59:00Z"},
			[]string{"2026-11-02T22:59:00Z", "2026-11-03T23:00:00Z"},
		},
		{
			"no midnight", "America/Havana", "2026-03-08",
			[]string{"2026-03-08T05:00:00Z", "2026-03-09T03:59:00Z"},
			[]string{"2026-03-08T04:59:00Z", "2026-03-09T04:00:00Z"},
		},
		{"no midnight after the day", "America/Havana", "2026-03-07", []string{
			"2026-03-07T05:00:00Z",
			"2026-03-08T04:59:00Z",
		}, []string{"2026-03-07T04:59:00Z", "2026-03-08T05:00:00Z"}},
		{
			"two midnights", "America/Havana", "2026-11-01",
			[]string{"2026-11-01T04:00:00Z", "2026-11-02T04:59:00Z"},
			[]string{"2026-11-01T03:59:00Z", "2026-11-02T05:00:00Z"},
		},
		{
			"two midnights after the day", "America/Havana", "2026-10-31",
			[]string{"2026-11-01T03:59:00Z"},
			[]string{"2026-11-01T04:00:00Z"},
		},
	} {
		h := newServer(t)
		settled := func(at string) string {
			h.now = parseTime(t, at)
			a := h.ask(single)
			if _, err := h.client(askback.Responder, "ben").Decline(t.Context(), a.ID, ""); err != nil {
				t.Fatal(err)
			}
			return a.ID
		}
		want, times := []string{}, slices.Concat(c.inside, c.outside)
		slices.Sort(times)
		for _, at := range times {
			if id := settled(at); slices.Contains(c.inside, at) {
				want = append(want, id)
			}
		}
		h.now = h.now.Add(time.Hour)
		page := h.browser("ana").openIn(c.zone, "/history?from="+c.day+"&to="+c.day)
		got := []string{}
		for _, row := range page.all("li.row") {
			got = append(got, row.attr["data-ask"])
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

// An export has times in UTC in every zone, because programs read it. The days of its filter are the days of the page.
func TestExportIsInUTC(t *testing.T) {
	h := newServer(t)
	h.settledAsks()
	b := h.browser("ana")
	for _, query := range []string{"", "&from=2026-11-04"} {
		r := b.request(http.MethodGet, "/history/export?format=csv"+query, nil)
		r.AddCookie(&http.Cookie{Name: "askback-zone", Value: "Pacific/Auckland"})
		rows, err := csv.NewReader(b.do(r).Body).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("got %d rows, %v", len(rows), err)
		}
		at := slices.Index(rows[0], "settled_at")
		if rows[1][at] != "2026-11-03T18:30:00.000Z" {
			t.Errorf("got %q, want the time in UTC", rows[1][at])
		}
	}
}

// A snooze is in the zone in which its page showed the choices, even if the browser names another zone now.
func TestSnoozeIsInTheZoneOfItsPage(t *testing.T) {
	h := newServer(t)
	h.withZones(time.UTC, map[string]string{"ben": "Asia/Kolkata"})
	for _, c := range []struct {
		name, person, shown, sent string
		form                      url.Values
		want                      string
	}{
		{
			"browser", "ana", "America/New_York", "America/New_York",
			url.Values{"until": {"tomorrow"}},
			"2026-11-04T14:00:00Z",
		},
		{"person", "ben", "", "", url.Values{"until": {"tomorrow"}}, "2026-11-05T03:30:00Z"},
		{"server", "ana", "", "", url.Values{"until": {"tomorrow"}}, "2026-11-04T09:00:00Z"},
		{
			"zone stored after the page", "ana", "", "America/New_York",
			url.Values{"until": {"own"}, "at": {"2026-11-04T10:00"}},
			"2026-11-04T10:00:00Z",
		},
		{
			"zone changed after the page", "ana", "Europe/Berlin", "America/New_York",
			url.Values{"until": {"own"}, "at": {"2026-11-04T10:00"}},
			"2026-11-04T09:00:00Z",
		},
	} {
		a, b := h.ask(single), h.browser(c.person)
		form := b.openIn(c.shown, "/asks/"+a.ID).one(t, "form.snooze")
		c.form.Set("zone", form.one(t, "[name=zone]").attr["value"])
		r := b.request(http.MethodPost, form.attr["action"], c.form)
		r.AddCookie(&http.Cookie{Name: "askback-zone", Value: c.sent})
		if w := b.do(r); w.Code != http.StatusSeeOther {
			t.Fatalf("%s: got status %d", c.name, w.Code)
		}
		snooze, err := h.client(askback.Responder, c.person).Snoozed(t.Context(), a.ID)
		if err != nil || !snooze.Until.Equal(parseTime(t, c.want)) {
			t.Errorf("%s: got %v, %v; want %s", c.name, snooze.Until, err, c.want)
		}
	}
}

// The choices of a snooze, and the time until which an ask is snoozed, are times of the reader.
func TestSnoozeShowsTimesOfTheReader(t *testing.T) {
	h := newServer(t)
	a, b := h.ask(single), h.browser("ana")
	for zone, want := range map[string][]string{
		"": {"This evening", "Times are in UTC, the time zone of the server.", "2026-11-03T18:30"},
		"Asia/Tokyo": {
			"This evening, 18:00", "Times are in Asia/Tokyo (JST).", "2026-11-04T03:30",
		},
	} {
		form := b.openIn(zone, "/asks/"+a.ID).one(t, "form.snooze")
		text := form.visibleText()
		if strings.Contains(text, want[0]) == (zone == "") || !strings.Contains(text, want[1]) ||
			form.one(t, "#snooze-at").attr["min"] != want[2] {
			t.Errorf("%q: got %q, earliest %q; want %q", zone, text, form.one(t, "#snooze-at").attr["min"], want)
		}
	}
	if _, err := h.client(askback.Responder, "ana").Snooze(t.Context(), a.ID,
		parseTime(t, "2026-11-04T00:30:00Z")); err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]string{
		"": "tomorrow 00:30 UTC", "Asia/Tokyo": "09:30", "America/New_York": "19:30",
	} {
		if got := b.openIn(zone, "/?snoozed=only").one(t, ".snooze-mark").visibleText(); got != "Snoozed until "+want {
			t.Errorf("%q: got %q, want %q", zone, got, want)
		}
	}
}

// The timeline of a session has the times and days of the reader.
func TestTimelineIsInTheZoneOfTheReader(t *testing.T) {
	h := newServer(t)
	s, _, _, _ := h.runningSession()
	for zone, want := range map[string][2]string{
		"": {"Today", "18:30 UTC"}, "Pacific/Auckland": {"Today", "07:30"}, "America/New_York": {"Today", "13:30"},
	} {
		page := h.browser("ana").openIn(zone, "/sessions/"+s.ID)
		if day := strings.TrimSpace(page.all(".timeline-day")[0].visibleText()); day != want[0] {
			t.Errorf("%q: got day %q", zone, day)
		}
		if got := page.all(".moment time.age")[0].visibleText(); got != want[1] {
			t.Errorf("%q: got %q, want %q", zone, got, want[1])
		}
	}
}

// The first page that a browser opens is in its zone, and so are rows that arrive later.
func TestChromiumShowsTheZoneOfTheBrowser(t *testing.T) {
	c := newChromium(t)
	asks := c.settledAsks()
	w := c.window(desktop)
	w.login("ana")
	w.Run(emulation.SetTimezoneOverride("America/New_York"))
	w.open("/history")
	w.waitUntil(`document.querySelector("#row-` + asks["answered"].ID + ` time.age")?.textContent.trim() === "13:30"`)
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	w.waitUntil(`document.querySelector("#snooze").textContent.includes("Times are in America/New_York (EST).")`)
	w.Run(emulation.SetTimezoneOverride("Europe/Berlin"))
	w.open("/history")
	w.waitUntil(`document.querySelector("#row-` + asks["answered"].ID + ` time.age")?.textContent.trim() === "19:30"`)
	var cookies string
	w.Run(chromedp.Evaluate(`document.cookie`, &cookies))
	if cookies != "askback-zone=Europe/Berlin" {
		t.Errorf("scripts see the cookies %q", cookies)
	}
	c.Check(t)
}

// The page of a link in a message is in the zone of the person, until the browser has named its own.
func TestLinkIsInTheZoneOfThePerson(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(database())
	h.now = h.now.Add(time.Minute)
	for _, c := range []struct{ person, query, want, zone string }{
		{"ana", "", "3 November 2026, 18:30 UTC", "server"},
		{"ana", "?zone=America/New_York", "3 November 2026, 13:30 EST", "America/New_York"},
		{"ana", "?zone=../../etc/passwd", "3 November 2026, 18:30 UTC", "server"},
		{"udo", "", "4 November 2026, 00:00 IST", "Asia/Kolkata"},
		{"udo", "?zone=America/New_York", "3 November 2026, 13:30 EST", "America/New_York"},
	} {
		path := h.pathOf(answerlink.Link{AskID: a.ID, Person: c.person, Channel: askback.ChannelPush})
		w := h.send(http.MethodGet, path+c.query, nil)
		page := parse(t, w.Body.String())
		if got := page.one(t, "#main time").attr["title"]; got != c.want ||
			page.one(t, "html").attr["data-zone"] != c.zone {
			t.Errorf("%s%s: got %q, zone %q; want %q, %q", c.person, c.query, got,
				page.one(t, "html").attr["data-zone"], c.want, c.zone)
		}
		if len(w.Result().Cookies()) > 0 {
			t.Errorf("%s%s: the page sets a cookie", c.person, c.query)
		}
	}
}
