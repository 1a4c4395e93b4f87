package conformance

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// largest returns a request with the maximum numbers of questions and options,
// all with different texts.
func largest() askback.Request {
	var q askback.Request
	for i := range limits.MaxQuestions {
		one := askback.Question{Text: fmt.Sprintf("Question %d?", i+1), MultiSelect: i%2 == 0, NoOther: i > 1}
		for j := range limits.MaxOptions {
			name := fmt.Sprintf("%d of question %d", j+1, i+1)
			o := askback.Option{Label: "option " + name, Description: "description " + name}
			if !one.MultiSelect {
				o.Preview = "preview " + name
			}
			one.Options = append(one.Options, o)
		}
		one.Default = []string{one.Options[limits.MaxOptions-1].Label}
		q.Questions = append(q.Questions, one)
	}
	return q
}

// labels returns the labels of all options of a question.
func labels(q askback.Question) (all []string) {
	for _, o := range q.Options {
		all = append(all, o.Label)
	}
	return all
}

// wantQuestions requires that each question of an ask has the labels of the same question in the request. A
// comparison of two results would not detect a question that is missing in both results.
func (f fixture) wantQuestions(got askback.Ask, want askback.Request) {
	f.Helper()
	for i, q := range want.Questions {
		if i >= len(got.Questions) || !slices.Equal(labels(got.Questions[i]), labels(q)) {
			f.Errorf("question %d of %s is not the question of the request, with %d options", i+1, got.ID,
				len(q.Options))
		}
	}
}

// largestForm makes the largest ask, reads it with Get and List, answers it, and reads its
// outcome with Wait.
func largestForm(f fixture) {
	q := largest()
	got := f.ask(f.agent(), q)
	want := got // fields that Askback sets are not compared
	want.Questions = q.Questions
	var answer askback.Answer
	for i, one := range q.Questions {
		want.Questions[i].ID = fmt.Sprintf("q%d", i+1)
		selected := labels(one)
		if !one.MultiSelect {
			selected = selected[limits.MaxOptions-1:]
		}
		answer.Answers = append(answer.Answers, chosen(fmt.Sprint(i+1), q, selected...))
	}
	f.wantQuestions(got, q)
	f.wantSame(got, want)
	f.wantPending(want)
	page, err := f.person("judge").List(f.ctx(), askback.Query{})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got %d asks in the list (%v), want 1", len(page.Items), err)
	}
	f.wantQuestions(page.Items[0], q)
	f.wantSame(page.Items[0], want)

	settled := f.noError(f.person("ana").Answer(f.ctx(), got.ID, answer))
	if !reflect.DeepEqual(settled.Outcome.Answers, answer.Answers) {
		f.Errorf("got answers  %v\nwant answers %v", settled.Outcome.Answers, answer.Answers)
	}
	f.wantSame(f.noError(f.agent().Wait(f.ctx(), got.ID)), settled)
	want.Outcome, want.Status = settled.Outcome, settled.Status
	f.wantSame(settled, want)
}
