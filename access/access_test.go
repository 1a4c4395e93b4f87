package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
)

// want lists what is allowed, as kind, action and relation (E10, F4). Everything
// else is forbidden.
const want = `
agent ask own
agent ask addressed
agent ask bystander
agent ask starter
agent get own
agent list own
agent cancel own
agent consume own
agent receive own
responder get addressed
responder list addressed
responder answer addressed
responder decline addressed
responder claim addressed
responder draft addressed
responder login own
operator login own
admin draft addressed
admin login own
admin tokens own
admin tokens addressed
responder grants own
responder grants addressed
responder grants bystander
responder grants starter
responder revoke own
responder revoke addressed
responder revoke bystander
responder revoke starter
admin grants own
admin grants addressed
admin grants bystander
admin grants starter
admin revoke own
admin revoke addressed
admin revoke bystander
admin revoke starter
agent start own
agent start addressed
agent start bystander
agent start starter
agent follow own
agent report own
agent end own
agent resume own
responder follow addressed
responder message addressed
responder end addressed
responder resume addressed
responder feed own
responder feed addressed
responder feed bystander
responder feed starter
admin follow addressed
admin message addressed
admin end addressed
admin resume addressed
admin feed own
admin feed addressed
admin feed bystander
admin feed starter
responder people own
responder people addressed
responder people bystander
responder people starter
admin people own
admin people addressed
admin people bystander
admin people starter
admin tokens bystander
admin tokens starter
operator sessions own
operator sessions addressed
operator sessions bystander
operator sessions starter
operator people own
operator people addressed
operator people bystander
operator people starter
operator grants own
operator grants addressed
operator grants bystander
operator grants starter
operator token_list own
operator token_list addressed
operator token_list bystander
operator token_list starter
admin sessions own
admin sessions addressed
admin sessions bystander
admin sessions starter
admin token_list own
admin token_list addressed
admin token_list bystander
admin token_list starter
admin yield own
admin yield addressed
admin yield bystander
admin yield starter
admin get addressed
admin list addressed
admin answer addressed
admin decline addressed
admin claim addressed
`

func TestPermissionTable(t *testing.T) {
	allowed := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		allowed[line] = true
	}
	for _, kind := range append(askback.Kinds, "", "stranger") {
		for _, action := range append(askback.Actions, "", "else") {
			ever := false
			for _, relation := range append(askback.Relations, "", "else") {
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
	for _, action := range []askback.Action{askback.ActAnswer, askback.ActDecline, askback.ActClaim, askback.ActDraft} {
		if access.Ever(askback.Agent, action) {
			t.Errorf("an agent may %s", action)
		}
	}
}
