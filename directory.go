package askback

import (
	"context"
	"time"
)

// A Source is the origin of a person, a group or a route.
type Source string

// The sources. Only an entry with [SourceAPI] can be changed over the API.
const (
	SourceSettings Source = "settings" // the settings file
	SourceAPI      Source = "api"      // made over the API with [DirectoryControl], and kept in the database
	SourceToken    Source = "token"    // a person who is known only by a token or a sign-in
)

// A Person is a person who may answer asks.
type Person struct {
	Name     string `api:"name"`           // the name of the person
	Email    string `api:"email,null"`     // the e-mail address of the person
	Slack    string `api:"slack,null"`     // the member id of the person in a Slack workspace
	TimeZone string `api:"time_zone,null"` // the time zone of the person, as the IANA database names it
	// Quiet is the daily interval without messages to the person, on the clock of TimeZone, such as
	// "22:00-07:00".
	Quiet     string    `api:"quiet,null"`
	Groups    []string  `api:"groups"`       // the sorted names of the groups to which the person belongs
	Source    Source    `api:"source"`       // the source of the person: settings, api or token
	By        string    `api:"by,null"`      // who last made or changed the person over the API
	ChangedAt time.Time `api:"changed_at"`   // the time of that change; zero: there was none
	Warning   string    `api:"warning,null"` // a problem, such as an address that the settings give to another person
}

// A PersonRequest describes a [Person] to make or replace. A field that is left out is cleared.
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
	Source    Source    `api:"source"`       // the source of the group: settings or api
	By        string    `api:"by,null"`      // who last made or changed the group over the API
	ChangedAt time.Time `api:"changed_at"`   // the time of that change; zero: there was none
	Warning   string    `api:"warning,null"` // a problem, such as a group of the same name in the API
}

// A RouteList has all routes, in the order in which they are matched. The routes of the
// settings come first, then the routes of the API.
type RouteList struct {
	Items     []Route
	Revision  int64     // changes with the routes of the API; 0: there never was a route
	By        string    // who last changed the routes of the API
	ChangedAt time.Time // the time of that change; zero: there was none
}

// DirectoryControl is the interface to the people, groups and routes that are not in the settings (F12). Only
// an admin may use it. The error is an [Invalid] if the settings have an entry of the same name. If the
// settings add such an entry later, the entry of the API has no effect. Changes take effect before the method
// returns, for new asks, and for escalations and messages of open asks. The methods may return the errors
// that every method of [Asker] may return.
type DirectoryControl interface {
	// PutPerson makes a person, or replaces a person that was made over the API.
	PutPerson(ctx context.Context, r PersonRequest) (Person, error)
	// DeletePerson removes a person that PutPerson has made. Unless the person has a token, the person can no
	// longer answer, and gets no questions. If groups or routes still name the person, they skip the person,
	// and the result has a warning.
	DeletePerson(ctx context.Context, name string) (Person, error)
	// PutGroup makes a group, or replaces a group that was made over the API.
	PutGroup(ctx context.Context, name string, people []string) (Group, error)
	// DeleteGroup removes a group that PutGroup has made. The error is an [Invalid] if a route
	// names it.
	DeleteGroup(ctx context.Context, name string) (Group, error)
	// PutRoutes replaces all routes of the API and returns all routes. The error is [ErrChanged] if the
	// present revision of the routes is not revision, unless the present routes already equal routes.
	PutRoutes(ctx context.Context, routes []Route, revision int64) (RouteList, error)
}
