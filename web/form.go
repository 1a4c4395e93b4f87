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
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/internal/wire/jcs"
)

// maxForm is the limit in bytes for the form of an ask. It is enough for four questions
// with every field at its limit, percent-encoded.
const maxForm = 4 << 20

// readValues reads the fields of a form. It returns errTooLarge for a body of more than
// most bytes, and errForm for a body that Askback's own pages never send.
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

// A submission is a form that was sent: the fields, and the button that was pressed.
type submission struct {
	action string
	form   view.Form
	then   string // page to show next; see [site.nextPath]
	values url.Values
}

// readForm reads the form of an ask. Fields are named by the ids of questions, and choices by their index, so
// no name in the form comes from the agent. It returns errForm for values that the page does not offer.
func readForm(w http.ResponseWriter, r *http.Request, a view.Ask) (submission, error) {
	values, err := readValues(w, r, maxForm)
	if err != nil {
		return submission{}, err
	}
	if !slices.Contains(actions(a), values.Get("action")) {
		return submission{}, errForm
	}
	s, err := submissionOf(values, a)
	s.values = values
	return s, err
}

// submissionOf returns the submission with the fields values. The button may be missing. It returns errForm
// for values that the page does not offer.
func submissionOf(values url.Values, a view.Ask) (submission, error) {
	s := submission{action: values.Get("action"), form: view.NewForm(a)}
	s.then = values.Get("then")
	s.form.Comment, s.form.Reason = text(values, "comment"), text(values, "reason")
	var err error
	if a.Confirmation != nil {
		if err := s.readDecision(values); err != nil {
			return submission{}, err
		}
	}
	for i, q := range a.Questions {
		if s.form.Entries[i], err = readEntry(values, q); err != nil {
			return submission{}, err
		}
	}
	return s, nil
}

// readDecision reads the fields that only the form of a confirmation has.
func (s *submission) readDecision(values url.Values) error {
	switch s.action {
	case pages.Approve:
		s.form.Decision = askback.Approve
	case pages.ApproveAll:
		s.form.Decision = askback.ApproveAll
	case pages.Deny:
		s.form.Decision = askback.Deny
	}
	s.form.Word = text(values, "word")
	if values.Has("input") {
		s.form.Input = text(values, "input")
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

// actions returns the values of the buttons on the page of an ask.
func actions(a view.Ask) []string {
	if a.Confirmation != nil {
		return []string{pages.Approve, pages.ApproveAll, pages.Deny, pages.Decline, pages.NoAction}
	}
	return []string{pages.Answer, pages.Decline}
}

func readEntry(values url.Values, q view.Question) (view.Entry, error) {
	id := q.ID.String()
	e := view.Entry{Other: text(values, id+"-other"), Notes: text(values, id+"-notes")}
	for _, value := range values[id] {
		switch value {
		case pages.OtherAnswer:
			e.OtherPicked = true
		case pages.NoAnswer:
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

// text returns the value of a text field, with \n as line ending instead of \r\n.
func text(values url.Values, field string) view.RawText {
	return view.RawText(strings.ReplaceAll(values.Get(field), "\r\n", "\n"))
}

// check adds the problems with the answer to the form, and reports whether the form has problems.
func (s *submission) check(of askback.Ask, a view.Ask) (wrong bool) {
	var err error
	switch s.action {
	case pages.NoAction:
		s.form.AddProblem("", "The Enter key decides nothing. Press one of the buttons.")
	case pages.Decline:
		err = askback.CheckReason(string(s.form.Reason))
	default:
		s.form.Check(a)
		if s.needsWord(a) {
			s.form.AddProblem("word", "Type "+pages.ApprovalWord+" to approve this call, or deny it.")
		}
		if s.action != pages.Deny && s.form.Edited() && s.checkInput([]byte(s.form.Input)) {
			return true
		}
		_, err = s.form.Answer(a).Normalize(of)
	}
	var invalid askback.Invalid
	errors.As(err, &invalid)
	s.form.AddInvalid(a, invalid)
	return len(s.form.Problems) > 0
}

// needsWord reports whether the form approves a dangerous call without the word for it.
func (s *submission) needsWord(a view.Ask) bool {
	approves := s.action == pages.Approve || s.action == pages.ApproveAll
	return approves && a.Confirmation.Dangerous &&
		!strings.EqualFold(strings.TrimSpace(string(s.form.Word)), pages.ApprovalWord)
}

// checkInput reports whether the edited arguments are invalid, and adds the problem to the
// form. They must be strict JSON, because an approval has their digest.
func (s *submission) checkInput(input []byte) bool {
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
		s.form.AddProblem("input", "This is not valid JSON: "+err.Error()+".")
	}
	return err != nil
}

// submit answers or declines the ask, and returns the ask. The person can undo the answer for a moment. If
// the error is ErrSettled, submit also returns the ask.
func (s *submission) submit(r request, a view.Ask) (askback.Ask, error) {
	if s.action == pages.Decline {
		return r.client.HoldDecline(r.Context(), r.PathValue("id"), string(s.form.Reason))
	}
	return r.client.Hold(r.Context(), r.PathValue("id"), s.form.Answer(a))
}
