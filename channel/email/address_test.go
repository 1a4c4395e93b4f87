package email

import (
	"bytes"
	"testing"
)

// Sent mails contain these values, so the values must not change. Otherwise a reply would not be recognized
// after an upgrade, and a later mail would begin a new thread.
func TestReplyAddressesAreStableAcrossReleases(t *testing.T) {
	const ask = "ask_01k6m3v7q8r9s0t1v2w3x4y5z6"
	c := Channel{key: bytes.Repeat([]byte{1}, 32), domain: "example.org"}
	if got, want := c.replyToken(ask, "ana", 1), "01k6m3v7q8r9s0t1v2w3x4y5z61ayrogqtmlfaybrdxyko6"; got != want {
		t.Errorf("the token is %s, want %s", got, want)
	}
	if got, want := c.questionID(ask, "ana"), "<askback.4smu52ri6bv5htxrp32p@example.org>"; got != want {
		t.Errorf("the id of the message is %s, want %s", got, want)
	}
}
