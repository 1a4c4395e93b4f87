package askback

import (
	"context"
	"encoding/json"
	"time"
)

// A Held is an answer that a person has given and can still undo. The ask stays pending until the answer is
// sent at SendsAt. People can read held answers, but agents cannot.
type Held struct {
	Name     string           `api:"name" store:"name,keep"`         // the person who gave the answer, and may undo it
	Yours    bool             `api:"yours,omitempty" store:"-"`      // set if the reader gave the answer
	Channel  Channel          `api:"via" store:"via"`                // the channel of the answer
	Declines bool             `api:"declines" store:"declines"`      // the person declines to answer
	Answers  []QuestionAnswer `api:"answers" store:"answers"`        // one answer per question, in order
	Comment  string           `api:"comment,null" store:"comment"`   // a remark on the whole form
	Decision Decision         `api:"decision,null" store:"decision"` // if the ask is a confirmation
	// the arguments as edited by the person; null if unchanged
	Input  json.RawMessage `api:"input" store:"input"`
	Reason string          `api:"reason,null" store:"reason"` // the reason, as its author wrote it
	// Scope is the scope of the grant that approve_all will make.
	Scope Scope `api:"grant_scope,omitempty" store:"scope"`
	// Until is the end of the grant if it were made at At.
	Until   time.Time `api:"grant_expires_at,omitempty" store:"until"`
	At      time.Time `api:"at" store:"at,keep"`          // when it was given
	SendsAt time.Time `api:"sends_at" store:"sends,keep"` // when it is sent

	// Digest is the digest of Input. GrantID is the id of the grant that will be made. Token is the root of
	// the token or of the sign-in of the person. They are not part of the JSON.
	Digest  string `api:"-" store:"digest"`
	GrantID string `api:"-" store:"grant"`
	Token   string `api:"-" store:"token"`
}

// Answer returns the answer as the person gave it. If the person declines, only Reason is set.
func (h Held) Answer() Answer {
	a := Answer{Answers: h.Answers, Comment: h.Comment, Decision: h.Decision, Input: h.Input, Reason: h.Reason}
	if h.Scope != "" {
		a.Grant = &GrantRequest{Scope: h.Scope, ExpiresIn: h.Until.Sub(h.At)}
	}
	return a
}

// Holder is the interface to held answers, which people can undo for a moment before they are sent. The
// server sends a held answer at its time, even if the person has left.
//
// The first answer that is sent settles the ask. The other held answers are dropped, and kept in the history
// like late answers. A held answer is also dropped if the ask is withdrawn or given to other people, or if
// the person may no longer answer. When the deadline of the ask passes, held answers are sent without further
// delay.
type Holder interface {
	// Hold gives an answer to a pending ask, to be sent a moment later. It replaces an earlier held answer of
	// this person; the same answer again changes nothing. The returned ask has the answer in Held. If the
	// settings turn holding off, or if the call is dangerous, the answer is sent without delay, as by Answer.
	Hold(ctx context.Context, id string, a Answer) (Ask, error)
	// HoldDecline is like Hold for [Inbox.Decline].
	HoldDecline(ctx context.Context, id, reason string) (Ask, error)
	// Undo deletes the held answer of this person. Without a held answer it changes nothing. If the answer was
	// already sent, the error is [ErrSettled] with the ask, or [ErrSent] if more people must approve the ask.
	Undo(ctx context.Context, id string) (Ask, error)
}

// HeldBy returns the held answer of a person, and whether there is one.
func (a *Ask) HeldBy(name string) (Held, bool) {
	for _, h := range a.Held {
		if h.Name == name {
			return h, true
		}
	}
	return Held{}, false
}
