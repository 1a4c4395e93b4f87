package pages

import "github.com/askback/askback/internal/text/view"

// A TokenPage is the content of the tokens page.
type TokenPage struct {
	Tokens    []view.Token   // newest token first
	Logins    []PersonLogins // log-ins of browsers, by person
	Ended     []view.Token
	Form      TokenForm
	Revoked   *view.Token // token that the person revoked before this page was shown, or nil
	MayChange bool

	AgentsOnly bool // whether the form can make only agent tokens
}

// PersonLogins are the log-ins of the browsers of a person.
type PersonLogins struct {
	Name   view.Text
	Logins []view.Token // newest first
}

// AllLogins is the value of the field "what" that ends all log-ins of the person with a log-in.
const AllLogins = "all-logins"

// A TokenForm is the form for a new token.
type TokenForm struct {
	Kind    string
	Name    view.RawText
	Lasts   string
	Problem string // problem with the name, or ""
}

// tokenKinds lists the kinds of tokens, with their permissions.
var tokenKinds = [][2]string{
	{"agent", "agent: asks"},
	{"responder", "responder: answers"},
	{"operator", "operator: reads figures"},
	{"admin", "admin: may do everything"},
}

// kindsOf returns the kinds of tokens that the form on a page makes.
func kindsOf(p TokenPage) [][2]string {
	if p.AgentsOnly {
		return tokenKinds[:1]
	}
	return tokenKinds
}

// tokenTimes are the lifetimes that the form offers for a new token.
var tokenTimes = [][2]string{
	{"30d", "30 days"}, {"90d", "90 days"}, {"365d", "1 year"}, {"never", "until it is revoked"},
}

// addedWord returns the word before the time at which a token was created.
func addedWord(t view.Token) string {
	if t.Browser {
		return "logged in"
	}
	return "added"
}

// revokeHelp explains the effect of revoking a token.
func revokeHelp(t view.Token) string {
	if t.Browser {
		return "That browser is logged out immediately. What was typed there and not sent is not saved. You cannot " +
			"undo this."
	}
	return "Programs that use this token stop working immediately. Browsers that were logged in with it are logged " +
		"out, and standing approvals that were given with it end. You cannot undo this."
}

// problemIf returns the id of the element with the problem of the form, or "".
func problemIf(f TokenForm) string {
	if f.Problem == "" {
		return ""
	}
	return "name-problem"
}
