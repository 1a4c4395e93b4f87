package main

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// askback confirm asks for the same digest as the tool confirm_action, so that an approval given to either is
// valid for the other (C1).
func TestConfirmAndConfirmActionHaveTheSameDigest(t *testing.T) {
	t.Parallel()
	const action, details = "Delete <old> & start anew", "It is \"in use\".\nÉtienne said so."
	env, _ := sandbox(t)
	p := launch(t, env, "confirm", action, "--details", details)
	p.waitForStderr(t, "ask_")
	var got askback.Ask
	if err := json.Unmarshal([]byte(mustRun(t, env, "show", "--json", askID.FindString(p.err.String()))),
		&got); err != nil {
		t.Fatal(err)
	}
	agent := engine.New(memstore.New(), nil).As(askback.Principal{Kind: askback.Agent, Name: askback.LocalAgent})
	want, err := agent.Ask(t.Context(), asktool.Action(action, details))
	if err != nil {
		t.Fatal(err)
	}
	if got.Confirmation.Digest != want.Confirmation.Digest {
		t.Errorf("got %s of %s, want %s of %s", got.Confirmation.Digest, got.Confirmation.Input,
			want.Confirmation.Digest, want.Confirmation.Input)
	}
}
