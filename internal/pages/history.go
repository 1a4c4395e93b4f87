package pages

import (
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// HistoryPath is the address of the history.
const HistoryPath = "/history"

// A History is the list of settled asks, with the ask that is open on the page.
type History struct {
	Asks    []view.Ask              // the most recently settled ask first
	Found   map[string]view.Snippet // text that the search found, by the id of the ask
	Next    string                  // cursor of the next page; "" after the last page
	Cursor  string                  // cursor of this page; "" for the first page
	Filter  HistoryFilter
	Current string // the id of the ask that is open; "" if no ask is open
}

// A HistoryFilter selects settled asks. Its fields are the values of the form. All addresses contain them, so
// that links keep the history unchanged. The zero value selects all asks.
type HistoryFilter struct {
	Search, Outcome, Agent, Person, Tool, Tag string
	From, To                                  string // days, as 2026-11-03
}

// historyKeys lists the fields of a HistoryFilter in addresses, in the order of the page.
var historyKeys = []string{"q", "outcome", "agent", "person", "tool", "tag", "from", "to"}

// HistoryFilterOf returns the filter that the query of an address selects.
func HistoryFilterOf(v url.Values) (f HistoryFilter) {
	for _, key := range historyKeys {
		*f.field(key) = v.Get(key)
	}
	return f
}

// field returns a pointer to the field for a key of historyKeys.
func (f *HistoryFilter) field(key string) *string {
	return map[string]*string{
		"q": &f.Search, "outcome": &f.Outcome, "agent": &f.Agent, "person": &f.Person,
		"tool": &f.Tool, "tag": &f.Tag, "from": &f.From, "to": &f.To,
	}[key]
}

// Active reports whether the filter omits any asks.
func (f HistoryFilter) Active() bool { return f != HistoryFilter{} }

// values returns the fields that are set, except the fields with the given keys.
func (f HistoryFilter) values(except ...string) url.Values {
	v := url.Values{}
	for _, key := range historyKeys {
		if value := *f.field(key); value != "" && !slices.Contains(except, key) {
			v.Set(key, value)
		}
	}
	return v
}

// count returns the number of fields that are set, not counting the search.
func (f HistoryFilter) count() int { return len(f.values("q")) }

// An outcomeOption is a choice of the filter by outcome.
type outcomeOption struct{ Value, Name string }

var outcomeOptions = []outcomeOption{
	{"", "Any outcome"},
	{"answered", "Answered"},
	{"approved", "Approved"},
	{"denied", "Denied"},
	{"declined", "Declined"},
	{"cancelled", "Withdrawn"},
	{"expired", "Expired"},
}

// KnownOutcome reports whether the filter by outcome has a value of the form.
func (f HistoryFilter) KnownOutcome() bool {
	return slices.ContainsFunc(outcomeOptions, func(o outcomeOption) bool { return o.Value == f.Outcome })
}

// path returns the address at with the filter, except the given fields. If no fields are given, the address
// keeps the page, too.
func (h History) path(at string, except ...string) templ.SafeURL {
	v := h.Filter.values(except...)
	if h.Cursor != "" && len(except) == 0 {
		v.Set("cursor", h.Cursor)
	}
	return withQuery(at, v)
}

// nextPath returns the address of the next page.
func (h History) nextPath() templ.SafeURL {
	v := h.Filter.values()
	v.Set("cursor", h.Next)
	return withQuery(HistoryPath, v)
}

// exportPath returns the address of a file with all asks that the filter selects.
func (h History) exportPath(format string) templ.SafeURL {
	v := h.Filter.values()
	v.Set("format", format)
	return withQuery(HistoryPath+"/export", v)
}

// A filterChip is a filter that is set, with the link that removes it.
type filterChip struct {
	Name   string
	Value  view.Text
	Remove templ.SafeURL
}

// chips returns the filters that are set, except the search.
func (h History) chips() (all []filterChip) {
	names := map[string]string{
		"outcome": "", "agent": "agent", "person": "by", "tool": "tool", "tag": "tag", "from": "from", "to": "up to",
	}
	for _, key := range historyKeys[1:] {
		if value := *h.Filter.field(key); value != "" {
			all = append(all, filterChip{names[key], view.RawText(value).Text(), h.path(HistoryPath, key)})
		}
	}
	return all
}

// startsDay reports whether the ask n is the first ask in the list that was settled on its day.
func (h History) startsDay(f Frame, n int) bool {
	return n == 0 || f.dayOf(h.Asks[n].Outcome.At) != f.dayOf(h.Asks[n-1].Outcome.At)
}

// waited returns how long an ask was open, such as "after 5 min", or "" for less than a minute.
func waited(a view.Ask) string {
	asked := Frame{Now: a.Outcome.At}
	if a.Outcome.At.Sub(a.Created) < time.Minute {
		return ""
	}
	return "after " + asked.age(a.Created)
}

// An outcomeMark is a sign for an outcome, with a CSS class.
type outcomeMark struct{ Sign, Class string }

func markOf(a view.Ask) outcomeMark {
	switch o := a.Outcome; {
	case o.ByTimer:
		return outcomeMark{"◷", "mark-timer"}
	case !withoutAnswer(a):
		return outcomeMark{"✓", "mark-yes"}
	case a.Confirmation != nil && settledHeading(o) == "Denied":
		return outcomeMark{"✕", "mark-no"}
	}
	return outcomeMark{"–", "mark-none"}
}

// answerLine returns the answers of an ask in one line.
func answerLine(a view.Ask) string {
	var values []view.Text
	for _, answer := range a.Outcome.Answers {
		values = append(values, answer.Values...)
	}
	return join(values)
}

// withQuery returns a path with a query.
func withQuery(path string, v url.Values) templ.SafeURL {
	if len(v) > 0 {
		path += "?" + v.Encode()
	}
	return templ.URL(path)
}
