package compat

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// AgentQuestions is the reply to GET /agent/questions.
type AgentQuestions struct {
	Questions []AgentQuestion `json:"questions"`
}

// AgentQuestion is one ask as one row. The text of several questions has one a
// line, as their answer has; options are those of a single question.
type AgentQuestion struct {
	ID        string             `json:"id"`
	SessionID string             `json:"session_id"`
	AgentName string             `json:"agent_name"`
	Question  string             `json:"question"`
	Options   []string           `json:"options"`
	Questions []askback.Question `json:"questions"`
	Context   json.RawMessage    `json:"context"`
}

// Rows returns the asks as rows, in their order.
func Rows(asks []askback.Ask) (AgentQuestions, error) {
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

func row(a askback.Ask) (AgentQuestion, error) {
	questions := a.Form()
	out := AgentQuestion{
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
	var err error
	out.Context, err = context(a)
	return out, err
}

// context is the asker's context with ours beside it. Where both have a word, or
// the asker's is a text, the asker's is kept whole under "context": an agent
// cannot say another tool, or another time, than the true one.
func context(a askback.Ask) (json.RawMessage, error) {
	asked, err := marshal(stamp{a.CreatedAt})
	if err != nil {
		return nil, err
	}
	ours := map[string]json.RawMessage{"asked_at": asked}
	if c := a.Confirmation; c != nil {
		tool, err := marshal(*c)
		if err != nil {
			return nil, err
		}
		ours["confirmation"] = tool
	}
	for name, value := range theirs(a.Context, ours) {
		ours[name] = value
	}
	return marshal(ours)
}

// theirs are the members of the asker's context that go beside ours.
func theirs(raw json.RawMessage, ours map[string]json.RawMessage) map[string]json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	v, err := jcs.Parse(raw)
	if err != nil || v.Kind != jcs.Object {
		return map[string]json.RawMessage{"context": raw}
	}
	out := map[string]json.RawMessage{}
	for _, m := range v.Members() {
		if _, taken := ours[m.Name]; taken {
			return map[string]json.RawMessage{"context": raw}
		}
		out[m.Name] = m.Value.Raw(raw)
	}
	return out
}

// QuestionStatus reads the filter of GET /agent/questions: pending, answered or
// all; pending unless said. The error is [askback.Invalid].
func QuestionStatus(said string) (askback.Status, error) {
	switch said {
	case "", "pending":
		return askback.Pending, nil
	case "answered":
		return askback.Answered, nil
	case "all":
		return askback.AnyStatus, nil
	}
	return "", askback.Invalid{{
		Pointer: "/status", Detail: "a status is pending, answered or all", Fix: "status=pending",
	}}
}

// AgentReply is the reply to POST /agent/answer/{session_id}.
type AgentReply struct {
	OK        bool   `json:"ok"`
	Status    string `json:"status"`
	SessionID string `json:"session_id,omitempty"`
}

// Resumed says that the answer counts and the agent goes on.
func Resumed(sessionID string) AgentReply { return AgentReply{true, "resumed", sessionID} }

// Late says what to reply to an answer that came after the outcome of an ask.
// Whoever answers a second time is told so and nothing else happens; a question
// that nobody can answer any more is [askback.ErrSettled], and once its session
// is over [askback.ErrNotFound].
func Late(ask askback.Ask, over bool) (AgentReply, error) {
	switch {
	case ask.Status == askback.Answered || ask.Status == askback.Declined:
		return AgentReply{OK: true, Status: "already_answered", SessionID: ask.SessionID}, nil
	case over:
		return AgentReply{}, askback.ErrNotFound
	}
	return AgentReply{}, askback.ErrSettled
}

// AgentSession is the reply to GET /agent/session/{session_id}.
type AgentSession struct {
	ID             string          `json:"id"`
	AgentName      string          `json:"agent_name"`
	Status         string          `json:"status"`
	Result         json.RawMessage `json:"result"`
	QuestionsAsked int             `json:"questions_asked"`
	CreatedAt      stamp           `json:"created_at"`
	CompletedAt    stamp           `json:"completed_at"`
}

// SessionRow returns the reply to GET /agent/session/{session_id}. last is what it came to,
// or what it said last.
func SessionRow(s askback.Session, last string) (AgentSession, error) {
	result, err := result(last)
	return AgentSession{
		s.ID, s.Agent, SessionStatus(s.Status), result, s.AsksTotal,
		stamp{s.CreatedAt},
		stamp{s.CompletedAt},
	}, err
}

// SessionStatus returns the word of the /agent routes for the status of a session.
// They have none for a cancelled one.
func SessionStatus(status askback.SessionStatus) string {
	switch status {
	case askback.SessionWaiting:
		return "pending_input"
	case askback.SessionCancelled:
		return "failed"
	}
	return string(status)
}

// result is the last message where it is a JSON object, else an object with its
// text. JSON that two readers could read differently counts as text.
func result(message string) (json.RawMessage, error) {
	if message == "" {
		return nil, nil
	}
	if v, err := jcs.Parse([]byte(message)); err == nil && v.Kind == jcs.Object {
		return json.RawMessage(message), nil
	}
	return marshal(map[string]string{"text": message})
}
