package slack

import (
	"testing"

	"github.com/askback/askback/channel/slack/slacktest"
)

// The expected code is from an earlier release.
func TestCodeOfAnEarlierReleaseIsValid(t *testing.T) {
	const ask = "ask_01k6m3v7q8r9s0t1v2w3x4y5z6"
	c := Channel{options: Options{Team: "T0TEAM"}, key: []byte("xoxb-1-abc")}
	const code = "bH91172OhOYxKGT0lQALlg"
	if !c.isCode(code, ask, actApprove) || c.isCode(code, ask, actDeny) || c.isCode(code, "ask_1", actApprove) {
		t.Error("the code is not bound to its ask and its action")
	}
}

// An ask can be answered with the buttons and the options of a message that an earlier release sent.
func TestMessageOfAnEarlierReleaseIsAnswered(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(call(`{"command":"make deploy"}`))
	approve := slacktest.Element{
		Type: "button", ActionID: actApprove, Value: f.oldCode(a.ID, actApprove),
		Text: &slacktest.Text{Text: "Approve"},
	}
	f.slack.Act(slacktest.Ana, f.live(a), blockID(a.ID, actApprove), approve, nil)
	if f.working.Wait(); f.pending(a) {
		t.Error("the button did nothing")
	}

	a = f.ask(choice(numbered(6)...))
	given, err := f.chosen(a.ID, 0, a.Questions[0], []string{f.oldCode(a.ID, "option", ".0", ".2")})
	if err != nil || len(given.Selected) != 1 || given.Selected[0] != "choice 3" {
		t.Errorf("got %+v, %v", given, err)
	}
}
