package httpapi

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/codec"
)

// requestBody is the body of POST /asks that a client sends for a normalized request
// (docs/wire.md §2). The key is sent in a header. The handler parses the body with package
// decode; a test checks that both have the same fields.
type requestBody askback.Request

// AppendJSON appends the body to b.
func (r requestBody) AppendJSON(b []byte) (_ []byte, err error) {
	b = append(b, '{')
	if b, err = appendList(b, "questions", r.Questions, appendQuestion); err != nil {
		return b, err
	}
	if r.Confirmation != nil {
		if b, err = appendConfirmation(codec.AppendName(b, "confirmation"), r.Confirmation); err != nil {
			return b, err
		}
	}
	b = appendString(b, "session_id", r.SessionID)
	b = appendString(b, "session_key", r.SessionKey)
	b = appendString(b, "agent", r.Agent)
	b = appendString(b, "title", r.Title)
	if b, err = appendRaw(b, "context", r.Context); err != nil {
		return b, err
	}
	b = appendStrings(b, "to", r.To)
	b = appendStrings(b, "tags", r.Tags)
	b = appendString(b, "timeout", wireDuration(r.Timeout))
	if !r.Deadline.IsZero() {
		b = appendString(b, "deadline", r.Deadline.UTC().Format(time.RFC3339Nano))
	}
	b = appendString(b, "on_timeout", r.OnTimeout)
	if b, err = appendList(b, "warnings", r.Warnings, askback.Problem.AppendJSON); err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

func appendQuestion(q askback.Question, b []byte) (_ []byte, err error) {
	b = codec.AppendString(append(b, `{"question":`...), q.Text)
	b = appendString(b, "header", q.Header)
	if b, err = appendList(b, "options", q.Options, askback.Option.AppendJSON); err != nil {
		return b, err
	}
	b = appendTrue(b, "multiSelect", q.MultiSelect)
	b = strconv.AppendBool(codec.AppendName(b, "allow_custom"), !q.NoOther)
	b = strconv.AppendBool(codec.AppendName(b, "required"), !q.Optional)
	return append(appendStrings(b, "default", q.Default), '}'), nil
}

func appendConfirmation(b []byte, c *askback.Confirmation) (_ []byte, err error) {
	b = codec.AppendString(append(b, `{"tool_name":`...), c.ToolName)
	b = appendString(b, "server", c.Server)
	b = appendString(b, "description", c.Description)
	if b, err = codec.AppendRaw(codec.AppendName(b, "input"), c.Input, "null"); err != nil {
		return b, err
	}
	b = appendString(b, "input_preview", c.InputPreview)
	b = appendTrue(b, "dangerous", c.Dangerous)
	b = appendTrue(b, "no_edit", c.NoEdit)
	return append(appendString(b, "context", c.Context), '}'), nil
}

// The functions below append a member of an object, unless its value is empty.

func appendString[T ~string](b []byte, name string, s T) []byte {
	if s == "" {
		return b
	}
	return codec.AppendString(codec.AppendName(b, name), s)
}

func appendStrings(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	return codec.AppendStrings(codec.AppendName(b, name), list)
}

func appendTrue(b []byte, name string, v bool) []byte {
	if !v {
		return b
	}
	return append(codec.AppendName(b, name), "true"...)
}

func appendRaw(b []byte, name string, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return b, nil
	}
	return codec.AppendRaw(codec.AppendName(b, name), raw, "")
}

func appendList[T any](b []byte, name string, list []T, one func(T, []byte) ([]byte, error)) ([]byte, error) {
	if len(list) == 0 {
		return b, nil
	}
	return codec.AppendList(codec.AppendName(b, name), list, one)
}

// wireDuration formats d, rounded up to whole seconds so that no caller gets less time than it
// requested. It returns "" for 0.
func wireDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return time.Duration(math.Ceil(d.Seconds()) * float64(time.Second)).String()
}

// answerBody is the body of a request that answers an ask.
type answerBody askback.Answer

// AppendJSON appends the body to b.
func (a answerBody) AppendJSON(b []byte) (_ []byte, err error) {
	if b, err = appendList(append(b, '{'), "answers", a.Answers, askback.QuestionAnswer.AppendJSON); err != nil {
		return b, err
	}
	b = appendString(b, "comment", a.Comment)
	b = appendString(b, "decision", a.Decision)
	if b, err = appendRaw(b, "input", a.Input); err != nil {
		return b, err
	}
	b = appendString(b, "reason", a.Reason)
	if a.Grant != nil {
		b = append(codec.AppendName(b, "grant"), '{')
		b = appendString(b, "scope", a.Grant.Scope)
		b = append(appendString(b, "expires_in", wireDuration(a.Grant.ExpiresIn)), '}')
	}
	return append(b, '}'), nil
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
