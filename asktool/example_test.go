package asktool_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
)

// people choose the last option: a stand-in for an engine's seat, or for the
// client of a server.
type people struct {
	askback.Asker
	ask askback.Ask
}

func (p *people) Ask(_ context.Context, r askback.Request) (askback.Ask, error) {
	p.ask = askback.Ask{ID: "ask_1", Kind: askback.Questions, Questions: r.Questions, Status: askback.Pending}
	return p.ask, nil
}

func (p *people) Wait(context.Context, string) (askback.Ask, error) {
	q := p.ask.Questions[0]
	last := q.Options[len(q.Options)-1].Label
	p.ask.Outcome = &askback.Outcome{
		Status: askback.Answered, By: askback.By{Kind: askback.ByPerson, Name: "ana"},
		Answers: []askback.QuestionAnswer{{ID: q.ID, Selected: []string{last}}},
	}
	return p.ask, nil
}

// call does what a host does when a model calls a tool.
func call(ctx context.Context, asker askback.Asker, input []byte) (result string, isError bool) {
	r, err := asktool.Questions(input)
	if mistake, ok := errors.AsType[*asktool.Mistake](err); ok {
		return mistake.Error(), true // the model reads it and calls again
	}
	ask, err := asker.Ask(ctx, r)
	if err != nil {
		return "The question could not be asked: " + err.Error(), true
	}
	ask, err = asker.Wait(ctx, ask.ID)
	if err != nil {
		return "The wait ended: " + err.Error(), true
	}
	result, _, isError = asktool.Result(ask)
	return result, isError
}

func Example() {
	ctx := context.Background()
	// Neither is what the model should send; the first can be mended.
	fmt.Println(call(ctx, new(people), []byte(`{"questions": "[{\"question\": \"Which database?\", \"options\": [\"PostgreSQL\", \"SQLite\"]}]"}`)))
	fmt.Println(call(ctx, new(people), []byte(`{"question": "Which database?", "options": ["SQLite"]}`)))
	// Output:
	// User has answered your questions: "Which database?" = "SQLite". false
	// /options: a question has 2 to 4 options, or none for free text, not 1 ("Other" is always offered). Example: {"questions": [{"question": "Which database?"}]} true
}
