package asktool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
)

// A lastOptionAsker answers each question with its last option. A program uses an
// engine or the client of a server instead.
type lastOptionAsker struct {
	askback.Asker
	ask askback.Ask
}

func (p *lastOptionAsker) Ask(_ context.Context, r askback.Request) (askback.Ask, error) {
	p.ask = askback.Ask{ID: "ask_1", Kind: askback.Questions, Questions: r.Questions, Status: askback.Pending}
	return p.ask, nil
}

func (p *lastOptionAsker) Wait(context.Context, string) (askback.Ask, error) {
	q := p.ask.Questions[0]
	last := q.Options[len(q.Options)-1].Label
	p.ask.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
		Answers: []askback.QuestionAnswer{{ID: q.ID, Selected: []string{last}}},
	}
	return p.ask, nil
}

// call handles a tool call of a model as a host would.
func call(ctx context.Context, asker askback.Asker, input []byte) (result string, isError bool) {
	r, err := asktool.Questions(input)
	if mistake, ok := errors.AsType[*asktool.Mistake](err); ok {
		return mistake.Error(), true // the model reads the error and calls again
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
	// Neither input is valid. The first input can be repaired.
	fmt.Println(call(ctx, new(lastOptionAsker),
		[]byte(`{"questions": "[{\"question\": \"Which database?\", \"options\": [\"PostgreSQL\", \"SQLite\"]}]"}`)))
	mistake, isError := call(ctx, new(lastOptionAsker), []byte(`{"question": "Which database?", "options": ["SQLite"]}`))
	fmt.Println(strings.Replace(mistake, " Example:", "\nExample:", 1), isError)
	// Output:
	// User has answered your questions: "Which database?" = "SQLite". false
	// /options: a question needs 2 to 4 options, or none for free text; this one has 1 ("Other" is always offered).
	// Example: {"questions": [{"question": "Which database?"}]} true
}
