package directory

import (
	"time"

	"github.com/askback/askback"
)

// ZoneOf returns the time zone of the person with a name, or nil if people has no such person with a time zone.
func ZoneOf(people []askback.Person, name string) *time.Location {
	for i := range people {
		if people[i].Name != name || people[i].TimeZone == "" {
			continue
		}
		if zone, err := time.LoadLocation(people[i].TimeZone); err == nil {
			return zone
		}
	}
	return nil
}
