package pages

import (
	"cmp"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback/internal/text/view"
)

// A Filter selects and sorts the asks of the inbox. The zero value selects all asks, oldest first. It is part
// of the address of a page.
type Filter struct {
	Search  string
	Agent   string
	Tag     string
	Session string
	Kind    string // "approval", "dangerous", "question", or "" for all
	Age     string // a value of ages, or "" for all
	Order   string // orderUrgent, or ""
	Group   string // a view.Group
	Snoozed string // OnlySnoozed, or "" for asks that are not hidden now
	Cursor  string
	Select  string // not empty if the list shows checkboxes
}

// OnlySnoozed is the value of Filter.Snoozed that selects the asks that are hidden now.
const OnlySnoozed = "only"

// orderUrgent is the order with dangerous calls before other asks.
const orderUrgent = "urgent"

// FilterOf returns the filter in the query of an address.
func FilterOf(v url.Values) Filter {
	var f Filter
	for name, field := range f.fields() {
		*field = v.Get(name)
	}
	return f
}

// fields returns pointers to the fields, by the names of their parameters in an address.
func (f *Filter) fields() map[string]*string {
	return map[string]*string{
		"q": &f.Search, "agent": &f.Agent, "tag": &f.Tag, "session": &f.Session, "kind": &f.Kind, "age": &f.Age,
		"order": &f.Order, "group": &f.Group, "snoozed": &f.Snoozed, "cursor": &f.Cursor, "select": &f.Select,
	}
}

// Values returns the filter as the query of an address.
func (f Filter) Values() url.Values {
	q := url.Values{}
	for name, field := range f.fields() {
		if *field != "" {
			q.Set(name, *field)
		}
	}
	return q
}

// Active reports whether the filter omits any asks.
func (f Filter) Active() bool {
	return f.Search+f.Agent+f.Tag+f.Session+f.Kind+f.Age+f.Snoozed != ""
}

// ViewOrder returns the order of the list.
func (f Filter) ViewOrder() view.Order {
	return view.Order{Urgent: f.Order == orderUrgent, Group: view.Group(f.Group)}
}

// query returns the filter as the query of an address, beginning with "?". It returns "" if no field is set.
// changes are pairs of the name of a field and its new value.
func (f Filter) query(changes ...string) string {
	q := f.Values()
	for i := 0; i+1 < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// with returns the changes for [Filter.query] that set a field and show the first page.
func with(name, value string) []string { return []string{name, value, "cursor", ""} }

// A listChip is a part of the filter that the page shows, with a link that removes it.
type listChip struct {
	Name  string // name of the field in the address
	Label string
	Text  view.Text
	Class string
}

// chips returns the parts of the filter that select asks, except the search.
func (f Filter) chips() []listChip {
	var out []listChip
	add := func(name, label, value, class string) {
		if value != "" {
			out = append(out, listChip{name, label, view.RawText(value).Text(), class})
		}
	}
	add("agent", "only", f.Agent, "agent")
	add("tag", "tag", f.Tag, "tag")
	add("session", "session", f.Session, "id-text")
	for _, m := range f.menus() {
		if i := slices.IndexFunc(m.Choices, func(c menuChoice) bool { return c.Value == m.Value }); i > 0 &&
			(m.Name == "kind" || m.Name == "age") {
			add(m.Name, map[string]string{"kind": "only", "age": "asked"}[m.Name], strings.ToLower(m.Choices[i].Words),
				"")
		}
	}
	if f.Snoozed != "" {
		add("snoozed", "only", "snoozed", "")
	}
	return out
}

// A menuChoice is an option of a menu.
type menuChoice struct{ Value, Words string }

// A menu is a field that chooses the presentation of the list.
type menu struct {
	Name, Label, Value string
	Choices            []menuChoice
}

// menus returns the fields that choose the presentation of the list.
func (f Filter) menus() []menu {
	return []menu{
		{"order", "Order", f.Order, []menuChoice{{"", "Oldest first"}, {orderUrgent, "Most urgent first"}}},
		{"group", "Group by", f.Group, []menuChoice{
			{"", "Nothing"},
			{string(view.GroupAgent), "Agent"},
			{string(view.GroupSession), "Session"},
			{string(view.GroupKind), "Kind"},
			{string(view.GroupTag), "Tag"},
		}},
		{"kind", "Show", f.Kind, []menuChoice{
			{"", "Everything"}, {"question", "Questions"}, {"approval", "Approvals"}, {"dangerous", "Dangerous calls"},
		}},
		{"age", "Asked", f.Age, ages},
	}
}

// ages are the choices of the filter by age. Their values are durations.
var ages = []menuChoice{
	{"", "At any time"}, {"1h", "Over an hour ago"}, {"24h", "Over a day ago"}, {"168h", "Over a week ago"},
}

// Before returns the time before which the asks of the list were created. It returns the zero time if the
// filter has no valid age.
func (f Filter) Before(now time.Time) time.Time {
	if f.Age == "" || !slices.ContainsFunc(ages, func(c menuChoice) bool { return c.Value == f.Age }) {
		return time.Time{}
	}
	age, err := time.ParseDuration(f.Age)
	if err != nil {
		return time.Time{}
	}
	return now.Add(-age)
}

// hidden returns the parts of the filter that the form with the menus keeps.
func (f Filter) hidden() []menuChoice {
	var out []menuChoice
	for _, name := range []string{"agent", "tag", "session", "snoozed"} {
		if value := *f.fields()[name]; value != "" {
			out = append(out, menuChoice{name, value})
		}
	}
	return out
}

// Selects reports whether a has the kind and the tag of the filter. The query of the engine checks the other
// conditions.
func (f Filter) Selects(a view.Ask) bool {
	return (f.Kind == "" || f.Kind == kindClass(a)) &&
		(f.Tag == "" || slices.Contains(a.TagLabels(), view.RawText(f.Tag)))
}

// Sort sorts the asks of a list.
func (i Inbox) Sort(now time.Time) {
	order := i.Filter.ViewOrder()
	slices.SortFunc(i.Asks, func(a, b view.Ask) int {
		return cmp.Compare(order.Place(a, now).Sort, order.Place(b, now).Sort)
	})
}

// place returns the place of an ask in the list.
func (i Inbox) place(f Frame, a view.Ask) view.Place { return i.Filter.ViewOrder().Place(a, f.Now) }

// beginsGroup reports whether the n-th ask is the first of its group.
func (i Inbox) beginsGroup(f Frame, n int) bool {
	return n == 0 || i.place(f, i.Asks[n-1]).Group != i.place(f, i.Asks[n]).Group
}

// groupID returns the HTML id of a group's heading.
func groupID(p view.Place) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(p.Group))
	return "group-" + strconv.FormatUint(sum.Sum64(), 16)
}
