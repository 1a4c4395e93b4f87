package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
)

// want lists the allowed actions, each as kind, action and relation (E10, F4). All other actions are
// forbidden.
const want = `
agent ask owner
agent ask recipient
agent ask unrelated
agent ask starter
agent get owner
agent list owner
agent cancel owner
agent consume owner
agent ack owner
agent deliveries owner
responder get recipient
responder list recipient
responder answer recipient
responder decline recipient
responder claim recipient
responder draft recipient
responder snooze recipient
responder seen recipient
responder login owner
responder contacts owner
admin directory owner
admin directory recipient
admin directory unrelated
admin directory starter
admin contacts owner
admin contacts recipient
admin contacts unrelated
admin contacts starter
operator login owner
admin draft recipient
admin snooze recipient
admin seen recipient
admin login owner
admin tokens owner
admin tokens recipient
responder grants owner
responder grants recipient
responder grants unrelated
responder grants starter
responder revoke owner
responder revoke recipient
responder revoke unrelated
responder revoke starter
admin grants owner
admin grants recipient
admin grants unrelated
admin grants starter
admin revoke owner
admin revoke recipient
admin revoke unrelated
admin revoke starter
agent run owner
agent run recipient
agent run unrelated
agent run starter
responder run owner
responder run recipient
responder run unrelated
responder run starter
admin run owner
admin run recipient
admin run unrelated
admin run starter
agent start owner
agent start recipient
agent start unrelated
agent start starter
agent follow owner
agent report owner
agent end owner
agent resume owner
responder follow recipient
responder message recipient
responder end recipient
responder resume recipient
responder events owner
responder events recipient
responder events unrelated
responder events starter
admin follow recipient
admin message recipient
admin end recipient
admin resume recipient
admin events owner
admin events recipient
admin events unrelated
admin events starter
responder people owner
responder people recipient
responder people unrelated
responder people starter
admin people owner
admin people recipient
admin people unrelated
admin people starter
admin tokens unrelated
admin tokens starter
operator sessions owner
operator sessions recipient
operator sessions unrelated
operator sessions starter
operator people owner
operator people recipient
operator people unrelated
operator people starter
operator grants owner
operator grants recipient
operator grants unrelated
operator grants starter
operator token_list owner
operator token_list recipient
operator token_list unrelated
operator token_list starter
operator deliveries owner
operator deliveries recipient
operator deliveries unrelated
operator deliveries starter
operator retry owner
operator retry recipient
operator retry unrelated
operator retry starter
agent endpoints owner
operator endpoints owner
operator endpoints recipient
operator endpoints unrelated
operator endpoints starter
admin endpoints owner
admin endpoints recipient
admin endpoints unrelated
admin endpoints starter
admin deliveries owner
admin deliveries recipient
admin deliveries unrelated
admin deliveries starter
admin retry owner
admin retry recipient
admin retry unrelated
admin retry starter
admin sessions owner
admin sessions recipient
admin sessions unrelated
admin sessions starter
admin token_list owner
admin token_list recipient
admin token_list unrelated
admin token_list starter
admin yield owner
admin yield recipient
admin yield unrelated
admin yield starter
operator metrics owner
operator metrics recipient
operator metrics unrelated
operator metrics starter
responder get starter
responder list starter
responder snooze starter
responder seen starter
responder reassign recipient
operator reassign owner
operator reassign recipient
operator reassign unrelated
operator reassign starter
admin get starter
admin list starter
admin snooze starter
admin seen starter
admin reassign owner
admin reassign recipient
admin reassign unrelated
admin reassign starter
admin metrics owner
admin metrics recipient
admin metrics unrelated
admin metrics starter
admin get recipient
admin list recipient
admin answer recipient
admin decline recipient
admin claim recipient
agent ask viewer
agent start viewer
agent run viewer
responder get viewer
responder list viewer
responder snooze viewer
responder grants viewer
responder revoke viewer
responder run viewer
responder events viewer
responder people viewer
responder hand_over recipient
responder seen viewer
operator grants viewer
operator sessions viewer
operator people viewer
operator token_list viewer
operator deliveries viewer
operator retry viewer
operator endpoints viewer
operator metrics viewer
operator reassign viewer
admin get viewer
admin list viewer
admin snooze viewer
admin grants viewer
admin revoke viewer
admin run viewer
admin sessions viewer
admin events viewer
admin people viewer
admin tokens viewer
admin token_list viewer
admin yield viewer
admin deliveries viewer
admin retry viewer
admin endpoints viewer
admin metrics viewer
admin contacts viewer
admin reassign viewer
admin hand_over owner
admin hand_over recipient
admin hand_over unrelated
admin hand_over starter
admin hand_over viewer
admin seen viewer
admin directory viewer
`

func TestOnlyListedActionsAreAllowed(t *testing.T) {
	allowed := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		allowed[line] = true
	}
	for _, kind := range append(askback.Kinds, "", "stranger") {
		for _, action := range append(access.Actions, "", "else") {
			ever := false
			for _, relation := range append(access.Relations, "", "else") {
				cell := fmt.Sprintf("%s %s %s", kind, action, relation)
				got := access.Allowed(kind, action, relation)
				if got != allowed[cell] {
					t.Errorf("%s: got %v, want %v", cell, got, allowed[cell])
				}
				delete(allowed, cell)
				ever = ever || got
			}
			if got := access.Ever(kind, action); got != ever {
				t.Errorf("%s %s ever: got %v, want %v", kind, action, got, ever)
			}
		}
	}
	for cell := range allowed {
		t.Errorf("%s: no such kind, action or relation", cell)
	}
}

func TestNoAgentMayAnswer(t *testing.T) {
	for _, action := range []access.Action{
		access.ActAnswer, access.ActDecline, access.ActClaim, access.ActDraft, access.ActSnooze, access.ActReassign,
		access.ActSeen,
	} {
		if access.Ever(askback.Agent, action) {
			t.Errorf("an agent may %s", action)
		}
	}
}
