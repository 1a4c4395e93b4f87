package config

import (
	"os"
	"regexp"
)

// databaseLine matches the setting database, as a line of a settings file.
var databaseLine = regexp.MustCompile(`(?m)^database:[ \t]*['"]?([^'"#\r\n]*[^'"#\s])`)

// DatabaseOf returns the setting database of a settings file that [Load] rejects, or "" if it is not found. env
// is as in Load.
func DatabaseOf(src []byte, env func(string) (string, bool)) string {
	m := databaseLine.FindSubmatch(src)
	if m == nil {
		return ""
	}
	return os.Expand(string(m[1]), func(name string) string { value, _ := env(name); return value })
}
