package web

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// maxForm is room for every field of four questions at its limit, percent-encoded.
const maxForm = 4 << 20

// readValues reads a form. Another type of body, which a page of ours never sends, is
// none.
func readValues(w http.ResponseWriter, r *http.Request, most int64) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, errForm
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	err = r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, errTooLarge
	case err != nil:
		return nil, errForm
	}
	return r.PostForm, nil
}

// sent is a form as it came: what was filled in, and which button was pressed.
type sent struct {
	action string
	form   view.Form
}

// readForm reads the form of an ask. Fields are known by the ids of questions, choices
// by their index: nothing the agent wrote names anything here.
func readForm(w http.ResponseWriter, r *http.Request, a view.Ask) (sent, error) {
	values, err := readValues(w, r, maxForm)
	if err != nil {
		return sent{}, err
	}
	s := sent{action: values.Get("action"), form: view.NewForm(a)}
	s.form.Comment, s.form.Reason = typed(values, "comment"), typed(values, "reason")
	if !slices.Contains(buttons(a), s.action) {
		return sent{}, errForm
	}
	if a.Confirmation != nil {
		if err := s.readDecision(values); err != nil {
			return sent{}, err
		}
	}
	for i, q := range a.Questions {
		if s.form.Entries[i], err = readEntry(values, q); err != nil {
			return sent{}, err
		}
	}
	return s, nil
}

// readDecision reads what the form of a confirmation has beside its reason.
func (s *sent) readDecision(values url.Values) error {
	switch s.action {
	case pages.Approve:
		s.form.Decision = askback.Approve
	case pages.ApproveAll:
		s.form.Decision = askback.ApproveAll
	case pages.Deny:
		s.form.Decision = askback.Deny
	}
	if values.Has("input") {
		s.form.Input = typed(values, "input")
	}
	if scope := askback.Scope(values.Get("scope")); scope != "" {
		if view.ScopeText(scope) == "" {
			return errForm
		}
		s.form.Scope = scope
	}
	if lasts := values.Get("expires_in"); lasts != "" {
		i := slices.IndexFunc(pages.Times, func(t pages.Time) bool { return t.Value == lasts })
		if i < 0 {
			return errForm
		}
		s.form.ExpiresIn = pages.Times[i].ExpiresIn
	}
	return nil
}

// buttons are those that the page of an ask has.
func buttons(a view.Ask) []string {
	if a.Confirmation != nil {
		return []string{pages.Approve, pages.ApproveAll, pages.Deny, pages.Decline, pages.Stay}
	}
	return []string{pages.Answer, pages.Decline}
}

func readEntry(values url.Values, q view.Question) (view.Entry, error) {
	id := q.ID.String()
	e := view.Entry{Other: typed(values, id+"-other"), Notes: typed(values, id+"-notes")}
	for _, value := range values[id] {
		switch value {
		case pages.Own:
			e.OtherPicked = true
		case pages.None:
		default:
			i, err := strconv.Atoi(value)
			if err != nil || i < 0 || i >= len(q.Choices) {
				return e, errForm
			}
			e.Picks = append(e.Picks, i)
		}
	}
	return e, nil
}

// typed returns a text field with the line ends that everybody else uses.
func typed(values url.Values, field string) view.RawText {
	return view.RawText(strings.ReplaceAll(values.Get(field), "\r\n", "\n"))
}

// check notes in the form what is wrong with it, and says whether anything is.
func (s *sent) check(of askback.Ask, a view.Ask) (wrong bool) {
	var err error
	switch s.action {
	case pages.Stay:
		s.form.AddProblem("", "Enter decides nothing. Press one of the buttons.")
	case pages.Decline:
		err = askback.CheckReason(string(s.form.Reason))
	default:
		s.form.Check(a)
		if s.action != pages.Deny && s.form.Edited() && s.mistaken([]byte(s.form.Input)) {
			return true
		}
		_, err = s.form.Answer(a).Normalize(of)
	}
	var invalid askback.Invalid
	errors.As(err, &invalid)
	s.form.AddInvalid(a, invalid)
	return len(s.form.Problems) > 0
}

// mistaken notes where edited arguments are not the JSON that a digest can be made of.
func (s *sent) mistaken(input []byte) bool {
	_, err := jcs.Canonical(input)
	var syntax *jcs.SyntaxError
	var number *jcs.NumberError
	switch {
	case errors.As(err, &syntax):
		s.form.AddProblem("input", fmt.Sprintf("Line %d, column %d: %s.", syntax.Line, syntax.Column, syntax.Detail))
	case errors.As(err, &number):
		line, column := jcs.Position(input, number.Offset)
		s.form.AddProblem("input", fmt.Sprintf("Line %d, column %d: %s.", line, column, number.Detail))
	case err != nil:
		s.form.AddProblem("input", "This cannot be read: "+err.Error()+".")
	}
	return err != nil
}

// give hands the answer to the seat.
func (s *sent) give(v visit, a view.Ask) (askback.Ask, error) {
	if s.action == pages.Decline {
		return v.seat.Decline(v.Context(), v.PathValue("id"), string(s.form.Reason))
	}
	return v.seat.Answer(v.Context(), v.PathValue("id"), s.form.Answer(a))
}
