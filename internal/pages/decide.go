package pages

import (
	"cmp"
	"strconv"

	"github.com/askback/askback/internal/text/view"
)

// DecidePath is the address of the page that decides several calls.
const DecidePath = "/decide"

// MaxDecide is the maximum number of asks that one page decides. A person would not read more.
const MaxDecide = 100

// A Decide is the page with the calls that a person selected. Each call is decided with a separate answer.
type Decide struct {
	Calls     []view.Ask // open calls that can be decided here
	Apart     []view.Ask // calls that need a page each, because they are dangerous, have warnings or are hard to read
	Barred    []view.Ask // calls that only others may decide
	Questions []view.Ask
	Settled   []view.Ask
	Missing   int  // asks that do not exist, or that the person may not see
	More      bool // whether there are more asks than the page shows
	Filter    Filter
}

// Add adds an ask to the list of the page to which the ask belongs.
func (d *Decide) Add(a view.Ask) {
	switch {
	case a.Outcome != nil:
		d.Settled = append(d.Settled, a)
	case isSet(a.Barred):
		d.Barred = append(d.Barred, a)
	case a.Confirmation == nil:
		d.Questions = append(d.Questions, a)
	case !a.Together():
		d.Apart = append(d.Apart, a)
	default:
		d.Calls = append(d.Calls, a)
	}
}

// listPath returns the address of the list that the person came from, without the selection.
func (d Decide) listPath() string { return "/" + d.Filter.query("select", "") }

// askPath returns the address of the page of an ask, with the filter of the list and without the selection.
func (d Decide) askPath(a view.Ask) string { return a.PagePath() + d.Filter.query("select", "") }

// title returns the heading of the page.
func (d Decide) title() string {
	if len(d.Calls) == 0 {
		return "Nothing to decide here"
	}
	return "Decide " + view.Count(len(d.Calls), "call")
}

// DecideValue is the value of the checkbox of a call: the ask, and the digest of the displayed call.
func DecideValue(a view.Ask) string {
	return a.ID.String() + " " + a.Confirmation.Digest.String()
}

// isLong reports whether the arguments of a call are folded. The checkbox of such a call is not checked until
// a person checks it.
func isLong(c *view.Confirmation) bool { return rowCount(c.Arguments) > longPreview }

// A DecideResult is the result for one ask of the page.
type DecideResult struct {
	Ask  view.Ask // only its ID is set if the person may not see the ask
	Done bool
	Why  string    // reason why the call was not decided; a sentence of Askback
	By   view.Text // earlier outcome of the ask, if there is one
}

// A Decided is the page with the results for the calls of a [Decide].
type Decided struct {
	Approve bool
	Results []DecideResult
	Filter  Filter
}

// failed returns the results for calls that were not decided.
func (d Decided) failed() (out []DecideResult) {
	for _, r := range d.Results {
		if !r.Done {
			out = append(out, r)
		}
	}
	return out
}

// title returns the heading of the page.
func (d Decided) title() string {
	verb := map[bool]string{true: "approved", false: "denied"}[d.Approve]
	done, failed := len(d.Results)-len(d.failed()), len(d.failed())
	text := view.Count(done, "call") + " " + verb
	if failed > 0 {
		text += ", " + strconv.Itoa(failed) + " not"
	}
	return text
}

// retryPath returns the address that shows the calls that are still open, or "" if no call is open.
func (d Decided) retryPath() string {
	q := d.Filter.Values()
	q.Del("select")
	for _, r := range d.failed() {
		if r.By.String() == "" {
			q.Add("ask", r.Ask.ID.String())
		}
	}
	if !q.Has("ask") {
		return ""
	}
	return DecidePath + "?" + q.Encode()
}

// hiddenFields returns the fields that make a form keep the filter.
func (f Filter) hiddenFields() (out []menuChoice) {
	v := f.Values()
	for _, name := range []string{"q", "agent", "tag", "session", "kind", "age", "order", "group"} {
		if v.Has(name) {
			out = append(out, menuChoice{name, v.Get(name)})
		}
	}
	return out
}

// sessionPath returns the address of the page that decides all calls in the session of an ask.
func (i Inbox) sessionPath(a view.Ask) string {
	v := i.Filter.Values()
	for _, name := range []string{"select", "cursor"} {
		v.Del(name)
	}
	v.Set("all", cmp.Or(a.Session.String(), "none"))
	return DecidePath + "?" + v.Encode()
}
