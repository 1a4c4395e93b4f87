package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// documentedDigest computes the digest with the formula in docs/api.md. It shares no code
// with Askback: the arguments here have neither numbers nor characters that encoding/json
// writes differently from RFC 8785.
func documentedDigest(t *testing.T, ask []byte, input json.RawMessage) string {
	t.Helper()
	var a struct {
		Agent        string `json:"agent"`
		Confirmation struct {
			ToolName string          `json:"tool_name"`
			Server   *string         `json:"server"`
			Input    json.RawMessage `json:"input"`
		} `json:"confirmation"`
	}
	if err := json.Unmarshal(ask, &a); err != nil {
		t.Fatal(err)
	}
	server := ""
	if a.Confirmation.Server != nil {
		server = *a.Confirmation.Server
	}
	if input == nil {
		input = a.Confirmation.Input
	}
	var arguments any
	if err := json.Unmarshal(input, &arguments); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // maps are encoded with sorted keys
	err := enc.Encode(map[string]any{
		"agent": a.Agent, "server": server, "tool_name": a.Confirmation.ToolName, "input": arguments,
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(bytes.TrimSpace(b.Bytes()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// The documented formula gives the digest that the server returns. This holds with and without a server, a
// label and edited arguments in the call.
func TestDigestsMatchDocumentedFormula(t *testing.T) {
	type digests struct {
		ID           string `json:"id"`
		Confirmation struct {
			Digest string `json:"digest"`
		} `json:"confirmation"`
		Outcome struct {
			Input  json.RawMessage `json:"input"`
			Digest string          `json:"digest"`
		} `json:"outcome"`
	}
	w := newFixture(t, nil)
	read := func(body string) (d digests) {
		t.Helper()
		if err := json.Unmarshal([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, body := range []string{
		`{"confirmation": {"tool_name": "deploy", "input": {"to": "prod"}}}`,
		`{"agent": "a label", "confirmation": {"tool_name": "deploy", "input": {"to": "prod"}}}`,
		`{"agent": "a label", "confirmation": {"tool_name": "deploy", "server": "files", "input": {"z": {"é": ["<b>", null, true]}, "a": "ü&"}}}`,
		`{"confirmation": {"tool_name": "deploy", "server": "", "input": {}}}`,
	} {
		asked := w.send("POST", "/api/v1/asks", w.token(bot), body)
		d := read(asked.body)
		if want := documentedDigest(t, []byte(asked.body), nil); d.Confirmation.Digest != want {
			t.Errorf("%s: got %s, want %s", body, d.Confirmation.Digest, want)
		}
		done := w.send("POST", "/api/v1/asks/"+d.ID+"/answer", w.token(ana),
			`{"decision": "approved", "input": {"to": "elsewhere"}}`)
		d = read(done.body)
		if want := documentedDigest(t, []byte(done.body), d.Outcome.Input); d.Outcome.Digest != want {
			t.Errorf("%s, edited: got %s, want %s", body, d.Outcome.Digest, want)
		}
	}
}
