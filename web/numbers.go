package web

import (
	"net/http"
	"time"

	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/reports"
)

// A period is a choice on the page with the numbers. A period ends now. points is the number of bars in its chart.
type period struct {
	value, name string
	length      time.Duration
	points      int
}

const day = 24 * time.Hour

// periods are the choices on the page with the numbers. The first period is the default. The pages of agents and
// people use the last period.
var periods = []period{{"24h", "24 hours", day, 24}, {"7d", "7 days", 7 * day, 28}, {"30d", "30 days", 30 * day, 30}}

// numbers shows waiting times, outcomes, and the number of asks that waited in a period.
func (s *site) numbers(w http.ResponseWriter, r request) error {
	chosen := periods[0]
	page := pages.NumbersPage{}
	for _, p := range periods {
		if r.URL.Query().Get("period") == p.value {
			chosen = p
		}
	}
	for _, p := range periods {
		page.Periods = append(page.Periods, pages.Period{Value: p.value, Name: p.name, Chosen: p == chosen})
	}
	f, err := s.engine.Reports(r.principal).Figures(r.Context(),
		reports.FiguresQuery{Period: chosen.length, Points: chosen.points})
	if err != nil {
		return err
	}
	page.Name, page.Partial, page.Numbers = chosen.name, f.Partial, view.OfFigures(f)
	return s.render(w, r.Request, http.StatusOK, pages.NumbersOf(r.frame, page))
}

// monthFigures returns the figures of the last 30 days, without a chart.
func (s *site) monthFigures(r request) (reports.Figures, error) {
	return s.engine.Reports(r.principal).Figures(r.Context(),
		reports.FiguresQuery{Period: periods[len(periods)-1].length})
}
