package decode

import (
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleAnswer = `{"answers": [{"id": "q1", "selected": ["SQLite"]}]}`

// Answer parses the body of POST /asks/{id}/answer (wire.md §3): a list of answers, an
// object with the answers by question, the answer to a single question, or a decision.
func Answer(raw []byte) (askback.Answer, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.Answer{}, err
	}
	var out askback.Answer
	var one []string
	r.fields(n, exampleAnswer, map[string]func(node){
		"answers":  func(n node) { out.Answers = r.answers(n) },
		"answer":   r.stringOrList(&one),
		"comment":  r.text(&out.Comment),
		"decision": r.text((*string)(&out.Decision)),
		"input":    r.raw(&out.Input, "{}", jcs.Object),
		"reason":   r.text(&out.Reason),
		"grant":    func(n node) { out.Grant = r.grant(n) },
	})
	if one != nil {
		if out.Answers != nil {
			r.problem("/answer", "send either answers or answer, not both", exampleAnswer)
		}
		out.Answers = askback.Choose(one...).Answers
	}
	return out, r.err()
}

func (r *reader) answers(n node) []askback.QuestionAnswer {
	out := []askback.QuestionAnswer{}
	if n.Kind == jcs.Object {
		for _, m := range n.Members() {
			a := questionRef(m.Name)
			r.stringOrList(&a.Selected)(n.in(m.Name, m.Value))
			out = append(out, a)
		}
		return out
	}
	r.elements(n, `[{"id": "q1", "selected": ["SQLite"]}]`, func(n node) {
		var a askback.QuestionAnswer
		r.fields(n, `{"id": "q1", "selected": ["SQLite"]}`, map[string]func(node){
			"id":       r.text(&a.ID),
			"question": r.text(&a.Question),
			"selected": r.stringOrList(&a.Selected),
			"other":    r.text(&a.Other),
			"notes":    r.text(&a.Notes),
		})
		out = append(out, a)
	})
	return out
}

// grant reads the grant that the decision approve_all requests: {"scope", "expires_in"}.
func (r *reader) grant(n node) *askback.GrantRequest {
	var out askback.GrantRequest
	r.fields(n, `{"scope": "tool_and_input", "expires_in": "24h"}`, map[string]func(node){
		"scope":      r.text((*string)(&out.Scope)),
		"expires_in": r.duration(&out.ExpiresIn),
	})
	return &out
}

// questionRef returns an answer without values to the question with this key: an id from q1
// to q4, or the text of the question.
func questionRef(key string) askback.QuestionAnswer {
	if len(key) == 2 && key[0] == 'q' && strings.Contains("1234", key[1:]) {
		return askback.QuestionAnswer{ID: key}
	}
	return askback.QuestionAnswer{Question: key}
}

// Reason parses the body of a request to decline or cancel an ask: {"reason"}, or no body.
func Reason(raw []byte) (string, error) {
	var reason string
	err := optional(raw, `{"reason": "…"}`, func(r *reader) map[string]func(node) {
		return map[string]func(node){"reason": r.text(&reason)}
	})
	return reason, err
}

// Nothing parses the body of a request without parameters: {}, or no body.
func Nothing(raw []byte) error {
	return optional(raw, "{}", func(*reader) map[string]func(node) { return nil })
}

// Digest parses the body of POST /asks/{id}/consume: {"digest"}, which is required.
func Digest(raw []byte) (string, error) {
	r, n, err := parse(raw)
	if err != nil {
		return "", err
	}
	var digest string
	found := false
	r.fields(n, `{"digest": "sha256:…"}`, map[string]func(node){"digest": func(n node) {
		found = true
		r.text(&digest)(n)
	}})
	if !found && r.err() == nil {
		r.problem("/digest", "digest is missing", `send the digest of the arguments that you are about to run: "digest": "sha256:…"`)
	}
	return digest, r.err()
}

// TokenRequest parses the body of POST /tokens: {"kind", "name", "expires_in"}.
func TokenRequest(raw []byte) (askback.TokenRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.TokenRequest{}, err
	}
	var out askback.TokenRequest
	r.fields(n, `{"kind": "agent", "name": "deploy-bot"}`, map[string]func(node){
		"kind":       r.text((*string)(&out.Kind)),
		"name":       r.text(&out.Name),
		"expires_in": r.duration(&out.ExpiresIn),
	})
	return out, r.err()
}
