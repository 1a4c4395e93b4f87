package conformance

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/askback/askback"
)

// largest is a form with as many questions as there may be, each with as many
// options. All that a person reads in it is different.
func largest() askback.Request {
	var q askback.Request
	for i := range askback.MaxQuestions {
		one := askback.Question{Text: fmt.Sprintf("Question %d?", i+1), MultiSelect: i%2 == 0, NoOther: i > 1}
		for j := range askback.MaxOptions {
			name := fmt.Sprintf("%d of question %d", j+1, i+1)
			o := askback.Option{Label: "option " + name, Description: "description " + name}
			if !one.MultiSelect {
				o.Preview = "preview " + name
			}
			one.Options = append(one.Options, o)
		}
		one.Default = []string{one.Options[askback.MaxOptions-1].Label}
		q.Questions = append(q.Questions, one)
	}
	return q
}

// labels are the labels of all options of a question.
func labels(q askback.Question) (all []string) {
	for _, o := range q.Options {
		all = append(all, o.Label)
	}
	return all
}

// sameQuestions expects every question with every option. It compares no text:
// what [fixture.same] compares could have left out the same of both.
func (f fixture) sameQuestions(got askback.Ask, want askback.Request) {
	f.Helper()
	for i, q := range want.Questions {
		if i >= len(got.Questions) || !slices.Equal(labels(got.Questions[i]), labels(q)) {
			f.Errorf("question %d of %s is not the one that was asked, with %d options", i+1, got.ID, len(q.Options))
		}
	}
}

// largestForm asks the largest form, reads it in every way that there is, and
// answers with every option that can be chosen, or the last one.
func largestForm(f fixture) {
	q := largest()
	got := f.must(f.agent(), q)
	want := got // what Askback gives is not compared
	want.Questions = q.Questions
	var answer askback.Answer
	for i, one := range q.Questions {
		want.Questions[i].ID = fmt.Sprintf("q%d", i+1)
		selected := labels(one)
		if !one.MultiSelect {
			selected = selected[askback.MaxOptions-1:]
		}
		answer.Answers = append(answer.Answers, chosen(fmt.Sprint(i+1), q, selected...))
	}
	f.sameQuestions(got, q)
	f.same(got, want)
	f.pending(want)
	page, err := f.person("judge").List(f.ctx(), askback.Query{})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got %d asks in the list (%v), want 1", len(page.Items), err)
	}
	f.sameQuestions(page.Items[0], q)
	f.same(page.Items[0], want)

	settled := f.done(f.person("ana").Answer(f.ctx(), got.ID, answer))
	if !reflect.DeepEqual(settled.Outcome.Answers, answer.Answers) {
		f.Errorf("got answers  %v\nwant answers %v", settled.Outcome.Answers, answer.Answers)
	}
	f.same(f.done(f.agent().Wait(f.ctx(), got.ID)), settled)
	want.Outcome, want.Status = settled.Outcome, settled.Status
	f.same(settled, want)
}
