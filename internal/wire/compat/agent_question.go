package compat

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

// AgentQuestions is the reply to GET /agent/questions.
type AgentQuestions struct {
	Questions []AgentQuestion `json:"questions"`
}

// An AgentQuestion is an ask in [AgentQuestions]. Question contains the texts of all questions, separated by
// newlines. Options contains the labels if there is only one question, and is otherwise empty.
type AgentQuestion struct {
	ID        string             `json:"id"`
	SessionID string             `json:"session_id"`
	AgentName string             `json:"agent_name"`
	Question  string             `json:"question"`
	Options   []string           `json:"options"`
	Questions []askback.Question `json:"questions"`
	Context   json.RawMessage    `json:"context"`
}

// QuestionRows returns the asks as [AgentQuestions], in the same order.
func QuestionRows(asks []askback.Ask) (AgentQuestions, error) {
	out := AgentQuestions{Questions: []AgentQuestion{}}
	for _, a := range asks {
		row, err := row(a)
		if err != nil {
			return AgentQuestions{}, err
		}
		out.Questions = append(out.Questions, row)
	}
	return out, nil
}

func row(a askback.Ask) (out AgentQuestion, err error) {
	questions := a.Form()
	out = AgentQuestion{
		ID: a.ID, SessionID: a.SessionID, AgentName: a.Agent, Options: []string{}, Questions: questions,
	}
	var texts []string
	for _, q := range questions {
		texts = append(texts, q.Text)
	}
	out.Question = strings.Join(texts, "\n")
	if len(questions) == 1 {
		for _, o := range questions[0].Options {
			out.Options = append(out.Options, o.Label)
		}
	}
	out.Context, err = contextOf(a)
	return out, err
}

// contextOf returns the context of an ask, with the time and any confirmation added. If the context is not an
// object, or contains an added name, the whole context becomes the member "context". This keeps an agent from
// replacing the time or the confirmation.
func contextOf(a askback.Ask) (json.RawMessage, error) {
	fields := map[string]any{"asked_at": timestamp{a.CreatedAt}}
	if a.Confirmation != nil {
		fields["confirmation"] = *a.Confirmation
	}
	maps.Copy(fields, askerFields(a.Context, fields))
	return jcs.Marshal(fields)
}

// askerFields returns the members of raw, the context of an ask, to be added to fields. It
// returns nil if raw is empty. If the members cannot be added, the only member is
// "context", with all of raw.
func askerFields(raw json.RawMessage, fields map[string]any) map[string]any {
	if len(raw) == 0 {
		return nil
	}
	v, err := jcs.Parse(raw)
	if err != nil || v.Kind != jcs.Object {
		return map[string]any{"context": raw}
	}
	out := map[string]any{}
	for _, m := range v.Members() {
		if _, taken := fields[m.Name]; taken {
			return map[string]any{"context": raw}
		}
		out[m.Name] = json.RawMessage(m.Value.Raw(raw))
	}
	return out
}

// QuestionStatus parses the filter of GET /agent/questions: pending (the default),
// answered or all. The error is [askback.Invalid].
func QuestionStatus(text string) (askback.Status, error) {
	switch text {
	case "", "pending":
		return askback.Pending, nil
	case "answered":
		return askback.Answered, nil
	case "all":
		return askback.AnyStatus, nil
	}
	return "", askback.Invalid{{
		Pointer: "/status", Detail: "status must be pending, answered or all", Fix: "status=pending",
	}}
}

// An AgentReply is the reply to POST /agent/answer/{session_id}.
type AgentReply struct {
	OK        bool   `json:"ok"`
	Status    string `json:"status"`
	SessionID string `json:"session_id,omitempty"`
}

// ResumedReply returns the reply to an accepted answer.
func ResumedReply(sessionID string) AgentReply { return AgentReply{true, "resumed", sessionID} }

// LateReply returns the reply to an answer for an ask that is already settled. If a person has answered or
// declined, the error is nil. Otherwise the error is [askback.ErrSettled], or [askback.ErrNotFound] if over
// is set, because the session has ended.
func LateReply(ask askback.Ask, over bool) (AgentReply, error) {
	switch {
	case ask.Status == askback.Answered || ask.Status == askback.Declined:
		return AgentReply{OK: true, Status: "already_answered", SessionID: ask.SessionID}, nil
	case over:
		return AgentReply{}, askback.ErrNotFound
	}
	return AgentReply{}, askback.ErrSettled
}

// An AgentSession is the reply to GET /agent/session/{session_id}.
type AgentSession struct {
	ID             string          `json:"id"`
	AgentName      string          `json:"agent_name"`
	Status         string          `json:"status"`
	Result         json.RawMessage `json:"result"`
	QuestionsAsked int             `json:"questions_asked"`
	CreatedAt      timestamp       `json:"created_at"`
	CompletedAt    timestamp       `json:"completed_at"`
}

// SessionRow returns the reply to GET /agent/session/{session_id}. last is the result of
// the session, or its last message.
func SessionRow(s askback.Session, last string) (AgentSession, error) {
	result, err := result(last)
	return AgentSession{
		ID: s.ID, AgentName: s.Agent, Status: SessionStatus(s.Status), Result: result, QuestionsAsked: s.AsksTotal,
		CreatedAt: timestamp{s.CreatedAt}, CompletedAt: timestamp{s.CompletedAt},
	}, err
}

// SessionStatus returns the status of a session in the /agent routes. There, a waiting session is
// "pending_input", and a cancelled session is "failed". Every other status is the same.
func SessionStatus(status askback.SessionStatus) string {
	switch status {
	case askback.SessionWaiting:
		return "pending_input"
	case askback.SessionCancelled:
		return "failed"
	}
	return string(status)
}

// result returns message if it is a strict JSON object. Otherwise it returns an object that contains the
// message as "text". For an empty message, it returns nil.
func result(message string) (json.RawMessage, error) {
	if message == "" {
		return nil, nil
	}
	if v, err := jcs.Parse([]byte(message)); err == nil && v.Kind == jcs.Object {
		return json.RawMessage(message), nil
	}
	return jcs.Marshal(map[string]string{"text": message})
}
