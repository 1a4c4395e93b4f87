package instance

import (
	"fmt"
	"path/filepath"
)

// noSettings is the name of the settings of a server without a settings file.
const noSettings = "none"

// SettingsName returns the name of a settings file in server.json: its absolute path, or "none" if the path
// is "".
func SettingsName(path string) string {
	if path == "" {
		return noSettings
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if full, err := filepath.EvalSymlinks(path); err == nil {
		path = full
	}
	return path
}

// OtherSettings returns a text if the server was started with a settings file that is not the settings file
// of a command. Otherwise it returns "". It also returns "" if the command has no settings file, or if
// server.json does not name the settings file of the server.
func (s Server) OtherSettings(path string) string {
	own := SettingsName(path)
	if path == "" || s.Kind != KindServe || s.Settings == "" || s.Settings == own {
		return ""
	}
	with := "with " + s.Settings
	if s.Settings == noSettings {
		with = "without a settings file"
	}
	return fmt.Sprintf("the running server (process %d) was started %s, and does not use %s: stop it, and start "+
		"askback serve with this file", s.PID, with, own)
}

// OtherSettings returns the text of [Server.OtherSettings] about the server that holds the database, or "" if
// no server holds it.
func (p Place) OtherSettings(path string) string {
	s, ok := p.Last()
	if !ok || s.OtherSettings(path) == "" {
		return ""
	}
	if held, err := IsHeld(p.Database); err != nil || !held {
		return ""
	}
	return s.OtherSettings(path)
}
