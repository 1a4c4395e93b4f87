package telegram

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A draft contains the choices and texts of a person so far. It is stored as the draft of the ask, in the
// form that the pages and the terminal use. So an answer that was begun in Telegram can be finished there,
// and a restart loses nothing.
type draft struct {
	form url.Values                 // entries, keyed by the names of the fields of the pages
	rest map[string]json.RawMessage // members that other clients have stored in the draft
}

// ownAnswer is the value of a choice that selects the text in the field next to it.
const ownAnswer = "own"

func emptyDraft() draft { return draft{url.Values{}, map[string]json.RawMessage{}} }

// loadDraft returns the draft of a person. A draft that cannot be decoded counts as empty.
func loadDraft(ctx context.Context, client askback.Drafts, id string) (draft, error) {
	d := emptyDraft()
	raw, err := client.Draft(ctx, id)
	if err != nil || raw == nil {
		return d, err
	}
	if json.Unmarshal(raw, &d.rest) != nil {
		d.rest = map[string]json.RawMessage{}
	}
	var form url.Values
	if json.Unmarshal(d.rest["form"], &form) == nil && form != nil {
		d.form = form
	}
	return d, nil
}

// save stores the draft.
func (d draft) save(ctx context.Context, client askback.Drafts, id string) error {
	form, err := json.Marshal(d.form)
	if err != nil {
		return err
	}
	d.rest["form"] = form
	raw, err := json.Marshal(d.rest)
	if err != nil {
		return err
	}
	return client.SaveDraft(ctx, id, raw)
}

// entry returns the entry for a question in the draft. If the question allows only one answer, own words
// replace the chosen options.
func (d draft) entry(q askback.Question) view.Entry {
	e := view.Entry{Other: view.RawText(d.form.Get(q.ID + "-other")), Notes: view.RawText(d.form.Get(q.ID + "-notes"))}
	e.OtherPicked = len(q.Options) == 0 || slices.Contains(d.form[q.ID], ownAnswer)
	for _, value := range d.form[q.ID] {
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(q.Options) && !slices.Contains(e.Picks, n) {
			e.Picks = append(e.Picks, n)
		}
	}
	slices.Sort(e.Picks)
	if !e.OtherPicked || q.NoOther {
		e.Other, e.OtherPicked = "", false
	}
	if !q.MultiSelect && e.OtherPicked {
		e.Picks = nil
	}
	return e
}

// answered reports whether an entry has an answer.
func answered(e view.Entry) bool { return len(e.Picks) > 0 || strings.TrimSpace(string(e.Other)) != "" }

// set stores the entry for a question in the draft.
func (d draft) set(q askback.Question, e view.Entry) {
	var values []string
	for _, n := range e.Picks {
		values = append(values, strconv.Itoa(n))
	}
	if e.Other != "" && len(q.Options) > 0 {
		values = append(values, ownAnswer)
	}
	for field, list := range map[string][]string{
		q.ID: values, q.ID + "-other": {string(e.Other)}, q.ID + "-notes": {string(e.Notes)},
	} {
		if len(list) == 0 || list[0] == "" {
			d.form.Del(field)
		} else {
			d.form[field] = list
		}
	}
}

// answer returns the answer to all questions of an ask.
func (d draft) answer(a askback.Ask) askback.Answer {
	v := view.Of(a)
	form := view.NewForm(v)
	for i, q := range a.Questions {
		form.Entries[i] = d.entry(q)
	}
	form.Comment = view.RawText(d.form.Get("comment"))
	return form.Answer(v)
}
