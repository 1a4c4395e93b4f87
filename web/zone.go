package web

import (
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/askback/askback/internal/pages"
)

// zoneCookie is the cookie in which the script stores the time zone of the browser, as the IANA database names it.
const zoneCookie = "askback-zone"

// zoneName matches the names of time zones. It does not match a path that leaves the database.
var zoneName = regexp.MustCompile(`^[A-Za-z0-9_+-]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,2}$`)

// zones caches the time zones that browsers name. A zone that is not in the database is not cached.
type zones struct{ byName sync.Map }

// load returns the time zone with a name, or nil if the database has no such zone.
func (z *zones) load(name string) *time.Location {
	if known, ok := z.byName.Load(name); ok {
		return known.(*time.Location)
	}
	if !zoneName.MatchString(name) || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	z.byName.Store(name, zone)
	return zone
}

// setZone sets the time zone of a page for a person: the zone of the browser, or else of the person in the
// directory, or else of the server. Only the zone of the server may differ from the zone of the reader, so the
// page then names it.
func (s *site) setZone(f *pages.Frame, r *http.Request, person string) {
	f.Reloads = r.Method == http.MethodGet
	if cookie, err := r.Cookie(zoneCookie); err == nil {
		f.Zone = s.zones.load(cookie.Value)
	}
	if f.Zone == nil && person != "" && s.zoneOf != nil {
		f.Zone = s.zoneOf(person)
	}
	f.OwnZone = f.Zone != nil
	if f.Zone == nil {
		f.Zone = s.zone
	}
}

// zoneOfForm returns the time zone in which the page of a form showed times. It may differ from the zone of the
// request, because the script may have stored the zone of the browser in the meantime.
func (s *site) zoneOfForm(name string, r request) *time.Location {
	if name == pages.ServerZone {
		return s.zone
	}
	if zone := s.zones.load(name); zone != nil {
		return zone
	}
	return r.frame.Zone
}
