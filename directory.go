package askback

import (
	"context"
	"time"
)

// A Source is where a person, a group or a route comes from.
type Source string

// The sources. Only what has [SourceAPI] can be changed over the API.
const (
	SourceSettings Source = "settings" // the settings file
	SourceAPI      Source = "api"      // [DirectoryControl]; it is kept in the database
	SourceToken    Source = "token"    // a person who is known only by a token or a sign-in
)

// A Person describes a person who may answer asks.
type Person struct {
	Name     string `api:"name"`           // the name of the person
	Email    string `api:"email,null"`     // the e-mail address of the person
	Slack    string `api:"slack,null"`     // the id of the person as a member of a workspace in Slack
	TimeZone string `api:"time_zone,null"` // the time zone of the person, as the IANA database names it
	// Quiet are the hours by the clock of TimeZone at which the person gets no messages, as in
	// "22:00-07:00".
	Quiet     string    `api:"quiet,null"`
	Groups    []string  `api:"groups"`       // the names of the groups to which the person belongs, in order
	Source    Source    `api:"source"`       // where the person is from: settings, api or token
	By        string    `api:"by,null"`      // who made or changed the person over the API last
	ChangedAt time.Time `api:"changed_at"`   // the time of that change; zero: there was none
	Warning   string    `api:"warning,null"` // what is wrong, such as that the settings give the address to another person
}

// A PersonRequest describes a [Person] to make or replace. What it leaves out, the person does
// not have.
type PersonRequest struct {
	Name     string `request:"-"`
	Email    string `request:"email"`
	Slack    string `request:"slack"`
	TimeZone string `request:"time_zone"`
	Quiet    string `request:"quiet"`
}

// A Group is a named list of people. Its name follows an "@" in [Request.To].
type Group struct {
	Name      string    `api:"name"`         // the name, without "@"
	People    []string  `api:"people"`       // the names of its people
	Source    Source    `api:"source"`       // where the group is from: settings or api
	By        string    `api:"by,null"`      // who made or changed it over the API last
	ChangedAt time.Time `api:"changed_at"`   // the time of that change; zero: there was none
	Warning   string    `api:"warning,null"` // what is wrong, such as that the API has a group of this name, too
}

// A RouteList has all routes, in the order in which they are matched: first those of the
// settings, then those of the API.
type RouteList struct {
	Items     []Route
	Revision  int64     // changes with the routes of the API; 0: there never were any
	By        string    // who changed those of the API last
	ChangedAt time.Time // the time of that change; zero: there was none
}

// DirectoryControl is the interface to the people, groups and routes that are not in the
// settings (F12). Only an admin may use it. A name that the settings have cannot be used: the
// error is an [Invalid]. If the settings take it later, they win, and the entry of the API has
// no effect. Changes have effect when the method returns, for new asks, and for escalations and
// messages of open ones. Its methods may return the errors that every method of [Asker] may
// return.
type DirectoryControl interface {
	// PutPerson makes a person, or replaces one that it has made.
	PutPerson(ctx context.Context, r PersonRequest) (Person, error)
	// DeletePerson removes a person that PutPerson has made. Unless the person has a token, the
	// person can answer nothing from then on, and gets no questions. Groups and routes may name
	// the person still, who is skipped; the result has a warning then.
	DeletePerson(ctx context.Context, name string) (Person, error)
	// PutGroup makes a group, or replaces one that it has made.
	PutGroup(ctx context.Context, name string, people []string) (Group, error)
	// DeleteGroup removes a group that PutGroup has made. The error is an [Invalid] if a route
	// names it.
	DeleteGroup(ctx context.Context, name string) (Group, error)
	// PutRoutes replaces all routes of the API and returns all routes. The error is
	// [ErrChanged] unless their revision is the given one, or they are the given ones already.
	PutRoutes(ctx context.Context, routes []Route, revision int64) (RouteList, error)
}
