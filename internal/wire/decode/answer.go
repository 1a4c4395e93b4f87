package decode

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleAnswer = `{"answers": [{"id": "q1", "selected": ["SQLite"]}]}`

var replyNames = slices.Concat(answerNames, []string{"answer", "hold"})

// Answer parses the body of POST /asks/{id}/answer (wire.md §3): a list of answers, an object with the
// answers keyed by question, the answer to a single question, or a decision. It rejects "hold": true.
func Answer(raw []byte) (askback.Answer, error) {
	out, hold, err := AnswerOrHold(raw)
	if err == nil && hold {
		err = askback.Invalid{{
			Pointer: "/hold", Detail: "hold is not supported here: the answer is sent immediately", Fix: "leave it out",
		}}
	}
	return out, err
}

// AnswerOrHold is like [Answer], but also accepts the member "hold". hold is set if the person can undo the
// answer for a moment.
func AnswerOrHold(raw []byte) (out askback.Answer, hold bool, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return out, false, err
	}
	var one []string
	r.members(n, exampleAnswer, replyNames, func(name string, n node) bool {
		switch name {
		case "hold":
			r.flag(n, &hold)
		case "answers":
			out.Answers = r.answers(n)
		case "answer":
			r.stringOrList(n, &one)
		default:
			return r.answerMember(&out, name, n)
		}
		return true
	})
	if one != nil {
		if out.Answers != nil {
			r.problemAt("/answer", "send either answers or answer, not both", exampleAnswer)
		}
		out.Answers = askback.Choose(one...).Answers
	}
	return out, hold, r.err()
}

func (r *reader) answers(n node) []askback.QuestionAnswer {
	if n.Kind == jcs.Object {
		out := make([]askback.QuestionAnswer, 0, len(n.Members()))
		for _, m := range n.Members() {
			a := questionRef(m.Name)
			r.enter(m.Name)
			r.stringOrList(n.in(m.Value), &a.Selected)
			r.leave()
			out = append(out, a)
		}
		return out
	}
	out := make([]askback.QuestionAnswer, 0, len(n.Elements()))
	r.elements(n, `[{"id": "q1", "selected": ["SQLite"]}]`, func(n node) {
		var a askback.QuestionAnswer
		r.members(n, `{"id": "q1", "selected": ["SQLite"]}`, questionAnswerNames, func(name string, n node) bool {
			return r.questionAnswerMember(&a, name, n)
		})
		out = append(out, a)
	})
	return out
}

// grantRequest reads the grant that the decision approve_all requests: {"scope",
// "expires_in"}.
func (r *reader) grantRequest(n node) *askback.GrantRequest {
	var g askback.GrantRequest
	r.members(n, `{"scope": "tool_and_input", "expires_in": "24h"}`, grantRequestNames, func(name string, n node) bool {
		return r.grantRequestMember(&g, name, n)
	})
	return &g
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
	err := optional(raw, `{"reason": "…"}`, []string{"reason"}, func(r *reader, name string, n node) bool {
		return r.only("reason", name, n, &reason)
	})
	return reason, err
}

// ReasonOrHold parses the body of a request to decline an ask: {"reason", "hold"}, or no body.
func ReasonOrHold(raw []byte) (reason string, hold bool, err error) {
	err = optional(raw, `{"reason": "…"}`, []string{"reason", "hold"}, func(r *reader, name string, n node) bool {
		if name == "hold" {
			r.flag(n, &hold)
			return true
		}
		return r.only("reason", name, n, &reason)
	})
	return reason, hold, err
}

// Nothing parses the body of a request without parameters: {}, or no body.
func Nothing(raw []byte) error {
	return optional(raw, "{}", nil, func(*reader, string, node) bool { return false })
}

// Digest parses the body of POST /asks/{id}/consume: {"digest"}, which is required.
func Digest(raw []byte) (string, error) {
	r, n, err := parse(raw)
	if err != nil {
		return "", err
	}
	var digest string
	found := false
	r.members(n, `{"digest": "sha256:…"}`, []string{"digest"}, func(name string, n node) bool {
		found = found || name == "digest"
		return r.only("digest", name, n, &digest)
	})
	if !found && r.err() == nil {
		r.problemAt("/digest", "digest is missing",
			`send the digest of the arguments that you are about to run: "digest": "sha256:…"`)
	}
	return digest, r.err()
}

// Snooze parses the body of PUT /asks/{id}/snooze and returns its required member "until".
func Snooze(raw []byte) (until time.Time, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return until, err
	}
	found := false
	r.members(n, `{"until": "2026-01-31T09:00:00Z"}`, []string{"until"}, func(name string, n node) bool {
		if name == "until" {
			found = true
			r.timestamp(n, &until)
		}
		return name == "until"
	})
	if (!found || until.IsZero()) && r.err() == nil {
		r.problemAt("/until", "until is missing",
			`send the time when the ask comes back: "until": "2026-01-31T09:00:00Z"`)
	}
	return until, r.err()
}

// Reassignment parses the body of POST /asks/{id}/reassign: {"to", "delegate"}.
func Reassignment(raw []byte) (to askback.Reassignment, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return to, err
	}
	r.members(n, `{"to": ["ben"]}`, []string{"to", "delegate"}, func(name string, n node) bool {
		switch name {
		case "to":
			r.stringList(n, &to.To)
		case "delegate":
			r.flag(n, &to.Delegate)
		default:
			return false
		}
		return true
	})
	return to, r.err()
}

// only reads a string if name is the wanted name. It reports whether name is the wanted name.
func (r *reader) only(wanted, name string, n node, into *string) bool {
	if name != wanted {
		return false
	}
	r.text(n, into)
	return true
}

// TokenRequest parses the body of POST /tokens: {"kind", "name", "expires_in"}.
func TokenRequest(raw []byte) (askback.TokenRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.TokenRequest{}, err
	}
	var out askback.TokenRequest
	r.members(n, `{"kind": "agent", "name": "deploy-bot"}`, tokenRequestNames, func(name string, n node) bool {
		return r.tokenRequestMember(&out, name, n)
	})
	return out, r.err()
}

// EndpointRequest parses the body of POST /endpoints: {"url", "owner"}.
func EndpointRequest(raw []byte) (askback.EndpointRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.EndpointRequest{}, err
	}
	var out askback.EndpointRequest
	r.members(n, `{"url": "https://agents.example.com/answers"}`, endpointRequestNames, func(name string, n node) bool {
		return r.endpointRequestMember(&out, name, n)
	})
	return out, r.err()
}

// ContactRequest parses the body of POST /contacts: {"channel", "label", "address"}.
func ContactRequest(raw []byte) (askback.ContactRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.ContactRequest{}, err
	}
	var out askback.ContactRequest
	r.members(n, `{"channel": "webpush", "address": "{…}"}`, contactRequestNames, func(name string, n node) bool {
		return r.contactRequestMember(&out, name, n)
	})
	return out, r.err()
}

// ContactCode parses the body of POST /contact-codes: {"channel"}.
func ContactCode(raw []byte) (channel string, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return "", err
	}
	r.members(n, `{"channel": "telegram"}`, []string{"channel"}, func(name string, n node) bool {
		return r.only("channel", name, n, &channel)
	})
	if channel == "" && r.err() == nil {
		r.problemAt("/channel", "channel is missing", `"channel": "telegram"`)
	}
	return channel, r.err()
}

// Resend parses the body of POST /endpoints/{id}/resend: {"since"}, or no body. Without "since", the time is
// zero.
func Resend(raw []byte) (since time.Time, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return since, nil
	}
	r, n, err := parse(raw)
	if err != nil {
		return since, err
	}
	r.members(n, `{"since": "2026-01-31T09:00:00Z"}`, []string{"since"}, func(name string, n node) bool {
		if name == "since" {
			r.timestamp(n, &since)
		}
		return name == "since"
	})
	return since, r.err()
}
