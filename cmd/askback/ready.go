package main

import (
	"io"
	"net/http"
)

// ready adds to /readyz that the settings file is refused. The server works as before
// and says 200: whoever balances load must not take it away for a slip of the pen. What
// is wrong with the file is in the log: /readyz is open to everybody.
func (h *holder) ready(w http.ResponseWriter, r *http.Request) {
	if h.at.closing.Err() != nil || r.URL.RawQuery != "" || !h.desk.serve.settings.refused() {
		h.api.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, refusedSettings)
}

const refusedSettings = `{"status":"ready","settings":"the file is refused; the one before holds"}` + "\n"
