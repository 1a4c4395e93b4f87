package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
)

// Question returns the request to people for a call: the questions or the action of an ask tool, or the
// approval of another tool. The text of an error is the result of the call.
func (r *Runner) Question(run conversation.Run, call conversation.Call) (askback.Request, error) {
	s, ok := r.session(run)
	switch {
	case !ok:
		return askback.Request{}, errors.New(gone(run.Agent))
	case s.asker == nil && s.isChild():
		return askback.Request{}, advice(childAsks)
	case s.asker == nil:
		return askback.Request{}, advice(programAsks)
	}
	var q askback.Request
	var err error
	if call.Kind == conversation.KindAsk {
		q, err = s.ask(call)
	} else {
		q, err = s.approval(call)
	}
	if err == nil {
		s.asker.address(&q)
		q, err = q.Normalize()
	}
	return q, err
}

// Asks returns the people and groups who get the asks of a run. asks is false if the run may not ask people.
// The error is [askback.ErrNotFound] if the agent of the run does not exist any more.
func (r *Runner) Asks(run conversation.Run) (to []string, asks bool, err error) {
	s, ok := r.session(run)
	switch {
	case !ok:
		return nil, false, fmt.Errorf("agent %s: %w", run.Agent, askback.ErrNotFound)
	case s.asker == nil:
		return nil, false, nil
	}
	return slices.Clone(s.asker.To), true, nil
}

// An advice is an error whose text is an instruction for the model.
type advice string

// Error returns the text of a.
func (a advice) Error() string { return string(a) }

// questionTime is the time in which a server must list its tools before a person is asked for an approval.
const questionTime = 10 * time.Second

// approval returns the request for the approval of a call.
func (s session) approval(call conversation.Call) (askback.Request, error) {
	ctx, cancel := context.WithTimeout(context.Background(), questionTime)
	defer cancel()
	t, err := s.served(ctx, call.Tool)
	if err != nil {
		return askback.Request{}, err
	}
	return s.confirmation(call, t)
}

// ask returns the request for a call of an ask tool. The text of its error explains to the model how to
// correct the input.
func (s session) ask(call conversation.Call) (askback.Request, error) {
	if call.Tool == ConfirmAction {
		return asktool.Confirmation(call.Input)
	}
	q, err := asktool.Questions(written(call.Input))
	if err != nil || !s.asker.needsDefaults() {
		return q, err
	}
	for i, question := range q.Questions {
		if !question.Optional && len(question.Default) == 0 {
			return q, fmt.Errorf("/questions/%d/default: there may be no answer in time, so each question needs a "+
				"default, which is then used. Example: %s", i, exampleWithDefault)
		}
	}
	return q, nil
}

const exampleWithDefault = `{"questions": [{"question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}], "default": "SQLite"}]}`

// needsDefaults reports whether each question of the agent needs a default, unless the question is optional.
func (d *Definition) needsDefaults() bool { return d.OnTimeout == askback.OnTimeoutDefault }

// schemaWithDefault returns the schema of ask_user_question with a required default in each question.
func schemaWithDefault() json.RawMessage {
	schema := string(asktool.Schema(AskUserQuestion))
	const last = `"multiSelect": {`
	const added = `"default": {"type": "string", "description": "The label that is used if there is no answer in time, or any text if there are no options."},` + "\n          "
	schema = strings.Replace(schema, last, added+last, 1)
	return json.RawMessage(
		strings.Replace(schema, `"required": ["question"]`, `"required": ["question", "default"]`, 1),
	)
}
