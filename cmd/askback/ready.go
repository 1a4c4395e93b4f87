package main

import (
	"context"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// ready is what /readyz tells of this process. A settings file that is refused and a
// damaged record are told with 200: the rest works as before, and what balances load
// must not take the server away for them. A full disk is not 200: nothing can be asked
// or answered until there is room. What is wrong with the file is in the log: /readyz
// is open to everybody.
func (h *holder) ready(context.Context) (r httpapi.Readiness, err error) {
	is := h.db.Health()
	r.Damaged = unnamed(is.Damaged)
	if h.desk.serve.settings.refused() {
		r.Settings = "the file is refused; the one before holds"
	}
	switch {
	case is.Failed != nil:
		return r, is.Failed
	case is.DiskFull != nil:
		return r, askback.ErrDiskFull
	}
	return r, nil
}

// unnamed returns the names of damaged rows without those of people: the id of a draft
// ends with who typed it.
func unnamed(rows []string) (out []string) {
	for _, row := range rows {
		id, _, _ := strings.Cut(row, "/")
		out = append(out, id)
	}
	return out
}
