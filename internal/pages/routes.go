package pages

import (
	"strconv"

	"github.com/askback/askback/internal/text/view"
)

// RoutesPath is the address of the list of routes.
const RoutesPath = "/routes"

// Actions of the forms for a route.
const (
	SaveRoute   = "save"
	RemoveRoute = "remove"
	RouteUp     = "up"
	RouteDown   = "down"
)

// A RouteList is the content of the routes page.
type RouteList struct {
	Routes    []view.Route // routes in the order in which they are matched
	Revision  string       // revision of the routes that were made here
	By        view.Text    // person who changed these routes last; "" if no person has
	MayChange bool
	Check     RouteCheck
	Done      string // sentence about the person's last action; "" for none
	Problem   string // reason why a form had no effect, or ""
}

// A RouteCheck is the form that finds the route of an ask, with its result.
type RouteCheck struct {
	Agent, Kind string
	Tags        string
	Asked       bool  // whether there is a result
	First       int   // index of the route that applies; -1 for none
	Rules       []int // indexes of further routes whose rules for approvals apply
}

// A RouteForm is the form of a route, as it was filled in.
type RouteForm struct {
	Index    string // index among the routes that were made here; "" for a new route
	Revision string

	Agent, Kind, Tags, To, Approvers, Channels view.RawText
	Quorum, Remind, Escalate                   view.RawText
	Timeout, OnTimeout                         view.RawText
	NoSelfApproval, Join                       bool
	Problems                                   []view.Problem
}

// Problem returns the first problem with a field, or empty text.
func (f RouteForm) Problem(field string) view.Text {
	return view.Form{Problems: f.Problems}.Problem(field)
}

// title returns the heading of the page with the form.
func (f RouteForm) title() string {
	if f.Index == "" {
		return "New route"
	}
	return "Edit a route"
}

// made returns the index of a route among the routes that were made here. The argument n is the index of the
// route on the page.
func (l RouteList) made(n int) string {
	for _, r := range l.Routes[:n] {
		if r.Settings {
			n--
		}
	}
	return strconv.Itoa(n)
}

// isFirst reports whether the route n is the first route that was made here. The method isLast reports
// whether the route n is the last route that was made here.
func (l RouteList) isFirst(n int) bool { return n == 0 || l.Routes[n-1].Settings }
func (l RouteList) isLast(n int) bool  { return n == len(l.Routes)-1 }

// applies reports whether the route n is the result of the check.
func (l RouteList) applies(n int) bool { return l.Check.Asked && l.Check.First == n }

// routeKinds are the kinds of asks that a route can match.
var routeKinds = [][2]string{
	{"", "questions and confirmations"}, {"questions", "questions"}, {"confirmation", "confirmations of tool calls"},
}

// routeTimeouts are the choices for the effect of a timeout.
var routeTimeouts = [][2]string{
	{"", "the agent's session fails"},
	{"decline", "the agent continues without an answer"},
	{"default", "the default answers are used"},
	{"wait", "it keeps waiting"},
}

// A routeField is a text field in the form for a route.
type routeField struct {
	Name, Label, Hint string
	Value             view.RawText
}
