package httpapi

import (
	"encoding/json"
	"math"
	"time"

	"github.com/askback/askback"
)

// wireAsk is the body of POST /asks that a client sends (docs/wire.md §2). The handler
// parses it with package decode; a test checks that both have the same fields.
type wireAsk struct {
	Questions    []wireQuestion    `json:"questions,omitempty"`
	Confirmation *wireConfirm      `json:"confirmation,omitempty"`
	SessionID    string            `json:"session_id,omitempty"`
	SessionKey   string            `json:"session_key,omitempty"`
	Agent        string            `json:"agent,omitempty"`
	Title        string            `json:"title,omitempty"`
	Context      json.RawMessage   `json:"context,omitempty"`
	To           []string          `json:"to,omitempty"`
	Tags         []string          `json:"tags,omitempty"`
	Timeout      string            `json:"timeout,omitempty"`
	Deadline     string            `json:"deadline,omitempty"`
	OnTimeout    askback.OnTimeout `json:"on_timeout,omitempty"`
	Warnings     []askback.Problem `json:"warnings,omitempty"`
}

type wireQuestion struct {
	Question    string           `json:"question"`
	Header      string           `json:"header,omitempty"`
	Options     []askback.Option `json:"options,omitempty"`
	MultiSelect bool             `json:"multiSelect,omitempty"`
	AllowCustom bool             `json:"allow_custom"`
	Required    bool             `json:"required"`
	Default     []string         `json:"default,omitempty"`
}

type wireConfirm struct {
	ToolName     string          `json:"tool_name"`
	Server       string          `json:"server,omitempty"`
	Description  string          `json:"description,omitempty"`
	Input        json.RawMessage `json:"input"`
	InputPreview string          `json:"input_preview,omitempty"`
	Dangerous    bool            `json:"dangerous,omitempty"`
	NoEdit       bool            `json:"no_edit,omitempty"`
	Context      string          `json:"context,omitempty"`
}

// wireRequest returns the body for a normalized request. The key is sent in a header.
func wireRequest(r askback.Request) wireAsk {
	out := wireAsk{
		SessionID: r.SessionID, SessionKey: r.SessionKey, Agent: r.Agent, Title: r.Title, Context: r.Context,
		To: r.To, Tags: r.Tags, Timeout: wireDuration(r.Timeout), OnTimeout: r.OnTimeout,
		Warnings: r.Warnings,
	}
	if !r.Deadline.IsZero() {
		out.Deadline = r.Deadline.UTC().Format(time.RFC3339Nano)
	}
	for _, q := range r.Questions {
		out.Questions = append(out.Questions, wireQuestion{
			Question: q.Text, Header: q.Header, Options: q.Options, MultiSelect: q.MultiSelect,
			AllowCustom: !q.NoOther, Required: !q.Optional, Default: q.Default,
		})
	}
	if c := r.Confirmation; c != nil {
		out.Confirmation = &wireConfirm{
			ToolName: c.ToolName, Server: c.Server, Description: c.Description, Input: c.Input,
			InputPreview: c.InputPreview, Dangerous: c.Dangerous, NoEdit: c.NoEdit, Context: c.Context,
		}
	}
	return out
}

// wireDuration formats d, rounded up to whole seconds so that no caller gets less time than it
// requested. It returns "" for 0.
func wireDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return time.Duration(math.Ceil(d.Seconds()) * float64(time.Second)).String()
}

type wireAnswered struct {
	Answers  []askback.QuestionAnswer `json:"answers,omitempty"`
	Comment  string                   `json:"comment,omitempty"`
	Decision askback.Decision         `json:"decision,omitempty"`
	Input    json.RawMessage          `json:"input,omitempty"`
	Reason   string                   `json:"reason,omitempty"`
	Grant    *wireGrant               `json:"grant,omitempty"`
}

type wireGrant struct {
	Scope     askback.Scope `json:"scope,omitempty"`
	ExpiresIn string        `json:"expires_in,omitempty"`
}

func wireAnswer(a askback.Answer) wireAnswered {
	out := wireAnswered{Answers: a.Answers, Comment: a.Comment, Decision: a.Decision, Input: a.Input, Reason: a.Reason}
	if a.Grant != nil {
		out.Grant = &wireGrant{a.Grant.Scope, wireDuration(a.Grant.ExpiresIn)}
	}
	return out
}

type wireReason struct {
	Reason string `json:"reason,omitempty"`
}

type wireDigest struct {
	Digest string `json:"digest"`
}

type wireToken struct {
	Kind      askback.Kind `json:"kind"`
	Name      string       `json:"name"`
	ExpiresIn string       `json:"expires_in,omitempty"`
}
