package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A where is a conversation in Slack, and the id of the member who acts in it.
type where struct{ channel, thread, user string }

// An interaction is an action of a member, which must be handled within the time limit of Slack.
type interaction struct {
	*Channel
	slack.InteractionCallback
	engine Engine
	where  where
	name   string // name of the person who is the member
	client askback.PersonClient
}

// Texts for people.
const (
	textForged    = "This button is not valid any more. Use the page of the ask."
	textForgedBox = "This form is not valid any more. Press the button in the message again."
	textLate      = "Askback did not record this in time. Please try again, unless the message already shows " +
		"your answer."
	textFailed    = "Not recorded: Askback has a problem. Please try again later."
	textMoreVotes = "Recorded. Another person must answer as well."
	textNoChoice  = "Mark an option first, then press Send."
	textTrigger   = "Slack did not open the form in time. Press the button again."
	textLost      = "Your answer was not recorded, because the ask is settled:"
)

// interact performs the interaction in payload. It returns when the result is committed, or when the time is
// up. The result is the reply in the acknowledgement to Slack, and may be nil.
func (c *Channel) interact(ctx context.Context, engine Engine, payload []byte) (reply any) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Budget)
	defer cancel()
	in := &interaction{Channel: c, engine: engine}
	if err := json.Unmarshal(payload, &in.InteractionCallback); err != nil {
		c.options.Log.Warn("Slack sent a payload that cannot be read", "error", err)
		return nil
	}
	in.where = where{in.InteractionCallback.Channel.ID, in.Container.ThreadTs, in.User.ID}
	if in.where.channel == "" {
		in.where.channel = in.Container.ChannelID
	}
	switch in.Type {
	case slack.InteractionTypeBlockActions:
		for _, action := range in.ActionCallback.BlockActions {
			if action.Type == slack.ActionType(slack.METButton) {
				in.press(ctx, *action)
			}
		}
	case slack.InteractionTypeViewSubmission:
		if in.View.CallbackID != callbackNote {
			return in.submit(ctx)
		}
	}
	return nil
}

// identify sets the person and the client of the member. If the member may not answer, it returns a text for
// the member.
func (in *interaction) identify(ctx context.Context) (refusal string) {
	member := in.User.ID
	if in.Team.ID != in.options.Team || in.User.TeamID != in.options.Team {
		in.options.Log.Warn("Slack: an account of another workspace tried to answer", "member", member, "team",
			in.User.TeamID)
		return "Only members of the workspace of Askback can answer here."
	}
	name, ok := in.options.Person(member)
	if !ok {
		in.options.Log.Warn("Slack: a member who is no person of the settings tried to answer", "member", member)
		return fmt.Sprintf("You cannot answer yet: Askback does not know who you are. Ask its operator to write "+
			"slack: %s under your name in people, in the settings.", member)
	}
	client, err := in.engine.Person(ctx, name, askback.ChannelSlack)
	if err != nil {
		return in.explain(err, askback.Ask{}, name)
	}
	in.name, in.client = name, client
	return ""
}

// explain returns the text for a person whose answer was not recorded because of err.
func (in *interaction) explain(err error, a askback.Ask, name string) string {
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrSettled) && a.Settled():
		return lost(a)
	case errors.As(err, &invalid) && len(invalid) > 0:
		return "Not recorded. " + sentence(invalid[0].Detail)
	case errors.Is(err, askback.ErrNotApprover):
		other, _ := errors.AsType[askback.NotApproverError](err)
		return "Not recorded: " + other.Error() + "."
	case errors.Is(err, askback.ErrSelfApproval):
		return "Not recorded: " + askback.ErrSelfApproval.Error() + "."
	case errors.Is(err, askback.ErrForbidden), errors.Is(err, askback.ErrNotFound):
		in.options.Log.Warn("Slack: a person who may not answer tried to", "person", name)
		return "Not recorded: " + name + " may not answer this."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, askback.ErrUnknown):
		return textLate
	}
	in.options.Log.Error("Slack: an answer was not recorded", "person", name, "error", err)
	return textFailed
}

// lost returns the text for a person whose answer was late. The text names who settled the ask, and how.
func lost(a askback.Ask) string {
	lines := []string{textLost}
	for _, l := range notice.Settled(a, true, false).Lines {
		lines = append(lines, l.Own+l.Foreign)
	}
	return strings.Join(lines, "\n")
}

// record answers an ask with send. It returns when the answer is committed, or when the time is up.
func (in *interaction) record(ctx context.Context, send func() (askback.Ask, error)) (askback.Ask, error) {
	type result struct {
		ask askback.Ask
		err error
	}
	done := make(chan result, 1)
	go func() {
		a, err := send()
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		return r.ask, r.err
	case <-ctx.Done():
		return askback.Ask{}, ctx.Err()
	}
}

// press performs the action of a button.
func (in *interaction) press(ctx context.Context, b slack.BlockAction) {
	id, _, _ := strings.Cut(b.BlockID, ".")
	if !in.isCode(b.Value, id, b.ActionID) {
		in.options.Log.Warn("Slack: a forged button was refused", "member", in.User.ID, "ask", code(id))
		in.tell(in.where, textForged)
		return
	}
	if refusal := in.identify(ctx); refusal != "" {
		in.tell(in.where, refusal)
		return
	}
	a, err := in.client.Get(ctx, id)
	if err != nil {
		in.tell(in.where, in.explain(err, a, in.name))
		return
	}
	if b.ActionID == actForm || b.ActionID == actReason || b.ActionID == actDecline {
		in.open(ctx, a, b.ActionID)
		return
	}
	answer, problem := in.pressed(a, b.ActionID)
	if problem != "" {
		if problem == textNoChoice {
			in.working.Go(func() { in.seen(ctx, a) })
		}
		in.tell(in.where, problem)
		return
	}
	a, err = in.record(ctx, func() (askback.Ask, error) { return in.client.Answer(ctx, id, answer) })
	switch {
	case err != nil:
		in.tell(in.where, in.explain(err, a, in.name))
	case !a.Settled():
		in.tell(in.where, textMoreVotes)
	}
}

// pressed returns the answer of a button, or a problem as a text for the member.
func (in *interaction) pressed(a askback.Ask, action string) (answer askback.Answer, problem string) {
	if !a.Settled() && !answerable(a) {
		return answer, textForged
	}
	name, index, _ := strings.Cut(action, ".")
	switch {
	case a.Confirmation != nil && name == actApprove:
		return askback.Decide(askback.Approve, ""), ""
	case a.Confirmation != nil && name == actDeny:
		return askback.Decide(askback.Deny, ""), ""
	case a.Confirmation != nil || len(a.Questions) != 1:
		return answer, textForged
	}
	q := a.Questions[0]
	if name == actChoose {
		for i, o := range q.Options {
			if indexed("", i) == "."+index {
				return askback.Answer{Answers: []askback.QuestionAnswer{{ID: q.ID, Selected: []string{o.Label}}}}, ""
			}
		}
		return answer, textForged
	}
	var codes []string
	if in.BlockActionState != nil {
		codes = state(in.BlockActionState.Values).picked(blockID(a.ID, actPick))
	}
	given, err := in.chosen(a.ID, 0, q, codes)
	switch {
	case err != nil:
		in.options.Log.Warn("Slack: a forged option was refused", "member", in.User.ID, "ask", a.ID)
		return answer, textForged
	case len(codes) == 0 && !q.Optional:
		return answer, textNoChoice
	}
	return askback.Answer{Answers: []askback.QuestionAnswer{given}}, ""
}

// open opens the form for an ask, and records that the person has begun to answer.
func (in *interaction) open(ctx context.Context, a askback.Ask, action string) {
	if a.Settled() {
		in.tell(in.where, lost(a))
		return
	}
	view, ok := in.form(a, in.User.ID)
	switch action {
	case actReason:
		view, ok = in.denial(a, in.User.ID), a.Confirmation != nil
	case actDecline:
		view, ok = in.declining(a, in.User.ID), a.Confirmation == nil
	}
	if !ok || !answerable(a) {
		in.tell(in.where, textForged)
		return
	}
	if _, err := in.api.OpenViewContext(ctx, in.TriggerID, view); err != nil {
		in.options.Log.Warn("Slack did not open a form", "ask", a.ID, "error", in.failed("views.open", err))
		in.tell(in.where, textTrigger)
		return
	}
	in.working.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
		defer cancel()
		if _, err := in.client.Claim(ctx, a.ID); err != nil && !errors.Is(err, askback.ErrSettled) {
			in.options.Log.Warn("Slack: a claim was not recorded", "ask", a.ID, "error", err)
		}
	})
}

// seen records that the person has an ask on the screen. This may take longer than Slack waits.
func (in *interaction) seen(ctx context.Context, a askback.Ask) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	if err := in.client.Seen(ctx, a.ID); err != nil && !errors.Is(err, askback.ErrNotFound) {
		in.options.Log.Warn("Slack: could not record that a message was seen", "ask", a.ID, "error", err)
	}
}

// submit performs the submission of a form, and returns the reply for Slack.
func (in *interaction) submit(ctx context.Context) any {
	id, ok := in.askOf(in.View.PrivateMetadata, in.View.CallbackID, in.User.ID)
	if !ok || in.View.State == nil {
		in.options.Log.Warn("Slack: a forged form was refused", "member", in.User.ID, "ask", code(id))
		return replaced(textForgedBox)
	}
	if refusal := in.identify(ctx); refusal != "" {
		return replaced(refusal)
	}
	a, err := in.client.Get(ctx, id)
	switch {
	case err != nil:
		return replaced(in.explain(err, a, in.name))
	case !a.Settled() && !answerable(a):
		return replaced(textForged)
	}
	if in.View.CallbackID == callbackDecline {
		reason := state(in.View.State.Values).typed(partReason)
		a, err = in.record(ctx, func() (askback.Ask, error) { return in.client.Decline(ctx, id, reason) })
		return in.submission(a, err)
	}
	given, problems, err := in.submitted(a)
	switch {
	case err != nil:
		in.options.Log.Warn("Slack: a forged option was refused", "member", in.User.ID, "ask", a.ID)
		return replaced(textForgedBox)
	case len(problems) > 0 && !a.Settled():
		return slack.NewErrorsViewSubmissionResponse(problems)
	}
	a, err = in.record(ctx, func() (askback.Ask, error) { return in.client.Answer(ctx, id, given) })
	return in.submission(a, err)
}

// submitted returns the answer in a form, or its problems, keyed by block. The error is errForged if the form
// has an option that was not offered.
func (in *interaction) submitted(a askback.Ask) (askback.Answer, map[string]string, error) {
	s := state(in.View.State.Values)
	if in.View.CallbackID == callbackDeny {
		return askback.Decide(askback.Deny, s.typed(partReason)), nil, nil
	}
	return in.answer(a, s)
}

// submission returns the reply to a submitted form, whether or not its answer was recorded.
func (in *interaction) submission(a askback.Ask, err error) any {
	var invalid askback.Invalid
	switch {
	case err == nil && a.Settled():
		return slack.NewClearViewSubmissionResponse()
	case err == nil:
		return replaced(textMoreVotes)
	case errors.As(err, &invalid) && in.View.CallbackID == callbackAnswer:
		if a, err := in.client.Get(context.Background(), askIDOf(in.View.PrivateMetadata)); err == nil {
			return slack.NewErrorsViewSubmissionResponse(explain(a, invalid))
		}
	}
	text := in.explain(err, a, in.name)
	if text == textLate || text == textFailed { // the form stays open, with the typed text
		block := partReason
		if in.View.CallbackID == callbackAnswer {
			block = part(0, partNotes)
		}
		return slack.NewErrorsViewSubmissionResponse(map[string]string{block: text})
	}
	return replaced(text)
}

func askIDOf(metadata string) string {
	id, _, _ := strings.Cut(metadata, ".")
	return id
}

// replaced returns the reply that shows a text instead of a form.
func replaced(text string) any {
	v := noteView(text)
	return slack.NewUpdateViewSubmissionResponse(&v)
}

// age is the maximum age of a request from Slack.
const age = 5 * time.Minute
