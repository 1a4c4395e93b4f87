package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// saveRoute replaces the route index of routes, which were made here, or adds a route at the end.
func (s *site) saveRoute(
	w http.ResponseWriter, r request, values url.Values, routes []askback.Route, index int, revision int64,
) error {
	form := filledRoute(values)
	route := form.route()
	if len(form.Problems) > 0 {
		return s.render(w, r.Request, http.StatusUnprocessableEntity, pages.EditRoute(r.frame, form.RouteForm))
	}
	if index < len(routes) {
		routes[index] = route
	} else {
		routes = append(routes, route)
	}
	_, err := r.client.PutRoutes(r.Context(), routes, revision)
	var invalid askback.Invalid
	status := http.StatusUnprocessableEntity
	switch {
	case errors.As(err, &invalid):
		form.addInvalid(index, invalid)
	case errors.Is(err, askback.ErrChanged) && form.Index == "":
		now, err := r.client.Routes(r.Context())
		if err != nil {
			return err
		}
		form.Revision, status = strconv.FormatInt(now.Revision, 10), http.StatusConflict
		form.add("", "The routes were changed in the meantime. Check them, and save this route again.")
	case errors.Is(err, askback.ErrChanged):
		return s.renderRoutes(w, r, http.StatusConflict, routesChanged)
	case err != nil:
		return err
	default:
		http.Redirect(w, r.Request, pages.RoutesPath+"?done="+pages.SaveRoute, http.StatusSeeOther)
		return nil
	}
	return s.render(w, r.Request, status, pages.EditRoute(r.frame, form.RouteForm))
}

// A filledForm is a form of a route that was sent.
type filledForm struct{ pages.RouteForm }

func filledRoute(v url.Values) *filledForm {
	return &filledForm{pages.RouteForm{
		Index: v.Get("route"), Revision: v.Get("revision"), Agent: text(v, "agent"), Kind: text(v, "kind"),
		Tags: text(v, "tags"), To: text(v, "to"), Approvers: text(v, "approvers"), Channels: text(v, "channels"),
		Quorum: text(v, "quorum"), Remind: text(v, "remind"), Escalate: text(v, "escalate"),
		Timeout: text(v, "timeout"), OnTimeout: text(v, "on_timeout"), NoSelfApproval: v.Has("no_self_approval"),
		Join: v.Has("join"),
	}}
}

func (f *filledForm) add(field, text string) {
	f.Problems = append(f.Problems, view.Problem{Field: field, Text: safetext.Line(text)})
}

// addInvalid adds the problems of the route index. Problems of other routes are shown for the whole form.
func (f *filledForm) addInvalid(index int, why askback.Invalid) {
	fields := map[string]bool{
		"agent": true, "kind": true, "tags": true, "to": true, "approvers": true, "channels": true, "quorum": true,
		"remind": true, "escalate": true, "timeout": true, "on_timeout": true,
	}
	for _, p := range why {
		path, own := strings.CutPrefix(p.Pointer, "/items/"+strconv.Itoa(index)+"/")
		name, _, _ := strings.Cut(strings.TrimPrefix(path, "match/"), "/")
		if !own || !fields[name] {
			name = ""
		}
		f.add(name, sentence(p.Detail))
	}
}

// sentence returns the detail of a problem as a sentence.
func sentence(detail string) string {
	if strings.HasPrefix(detail, "is ") {
		detail = "it " + detail
	}
	return strings.ToUpper(detail[:1]) + detail[1:] + "."
}

// route returns the route of the form. It adds a problem for each field that cannot be parsed. The engine
// checks the other rules for routes.
func (f *filledForm) route() askback.Route {
	r := askback.Route{
		Match: askback.Match{
			Agent: strings.TrimSpace(string(f.Agent)), Kind: askback.AskKind(f.Kind),
			Tags: view.SplitNames(string(f.Tags)),
		},
		To: view.SplitNames(string(f.To)), Approvers: view.SplitNames(string(f.Approvers)),
		Channels: view.SplitNames(string(f.Channels)), NoSelfApproval: f.NoSelfApproval,
		OnTimeout: askback.OnTimeout(f.OnTimeout), Join: f.Join,
	}
	if n := strings.TrimSpace(string(f.Quorum)); n != "" {
		var err error
		if r.Quorum, err = strconv.Atoi(n); err != nil || r.Quorum < 1 || r.Quorum > limits.MaxQuorum {
			f.add("quorum", fmt.Sprintf("Write a whole number from 1 to %d.", limits.MaxQuorum))
		}
	}
	for _, after := range view.SplitNames(string(f.Remind)) {
		r.Remind = append(r.Remind, f.span("remind", after))
	}
	for line := range strings.Lines(string(f.Escalate)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		after, to, ok := strings.Cut(line, ":")
		if !ok {
			f.add("escalate", "Write a time, a colon and who is asked then, such as 2h: @oncall.")
			continue
		}
		r.Escalate = append(r.Escalate, askback.Escalation{After: f.span("escalate", after), To: view.SplitNames(to)})
	}
	if after := strings.TrimSpace(string(f.Timeout)); after != "" {
		r.Timeout = f.span("timeout", after)
	}
	return r
}

// span parses a duration in a field. If the text is not a duration, span adds a problem.
func (f *filledForm) span(field, typed string) askback.Span {
	d, err := askback.ParseDuration(strings.TrimSpace(typed))
	if err != nil {
		f.add(field, sentence(err.Error()))
	}
	return askback.Span(d)
}

// routeForm returns the form for a route.
func routeForm(r askback.Route) pages.RouteForm {
	join := func(all []string) view.RawText { return view.RawText(strings.Join(all, ", ")) }
	f := pages.RouteForm{
		Agent: view.RawText(r.Match.Agent), Kind: view.RawText(r.Match.Kind), Tags: join(r.Match.Tags), To: join(r.To),
		Approvers: join(r.Approvers), Channels: join(r.Channels), NoSelfApproval: r.NoSelfApproval,
		Timeout: view.RawText(view.SpanText(r.Timeout.Duration())), OnTimeout: view.RawText(r.OnTimeout),
		Join: r.Join,
	}
	if r.Quorum > 0 {
		f.Quorum = view.RawText(strconv.Itoa(r.Quorum))
	}
	var times, lines []string
	for _, after := range r.Remind {
		times = append(times, view.SpanText(after.Duration()))
	}
	for _, e := range r.Escalate {
		lines = append(lines, view.SpanText(e.After.Duration())+": "+strings.Join(e.To, ", "))
	}
	f.Remind, f.Escalate = join(times), view.RawText(strings.Join(lines, "\n"))
	return f
}
