package main

import (
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
)

// A violation is something that must never happen.
type violation struct {
	fault fault
	what  string
}

func (v violation) String() string { return string(v.fault) + ": " + v.what }

// A fault is a kind of violation.
type fault string

const (
	lost    fault = "lost"    // acknowledged, and not there
	doubled fault = "doubled" // there twice, or in two ways
	torn    fault = "torn"    // a part of a change, or history that does not fit
	failed  fault = "failed"  // a call that ought to have worked

	accepted fault = "accepted" // what nobody approved
	rejected fault = "rejected" // what somebody approved
)

var faults = []fault{lost, doubled, torn, failed, accepted, rejected}

func violated(f fault, format string, args ...any) violation {
	return violation{f, fmt.Sprintf(format, args...)}
}

// An ack is one acknowledgement: something that somebody was told, after which
// it must be so for ever.
type ack struct {
	Op   op     `json:"op"`
	Key  string `json:"key,omitempty"` // of the request, as the store has it
	ID   string `json:"id,omitempty"`  // "" when only the key is known
	Said string `json:"said,omitempty"`
}

// An op says what was acknowledged.
type op string

const (
	opReady    op = "ready"    // nothing: the child has opened the database
	opAsked    op = "asked"    // the ask is kept
	opSettled  op = "settled"  // it has this outcome, whoever gave it
	opConsumed op = "consumed" // its approval was spent, just now
	opFailed   op = "failed"   // a call failed in a way no kill explains
)

// said is all of an outcome that whoever gave it knows: everything but when.
func said(o *askback.Outcome) string {
	values := make([][]string, len(o.Answers))
	for i, a := range o.Answers {
		values[i] = append(a.Values(), a.Notes)
	}
	text, err := json.Marshal([]any{o.Status, o.Actor.Kind, o.Actor.Name, o.Channel, o.Decision, o.Reason, o.Comment, values, o.Defaulted})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A ledger is everything that was ever acknowledged.
type ledger struct {
	acks     int
	ids      map[string]string // by key
	outcomes map[string]string // by id, as said
	consumed map[string]bool   // by id

	// What was acknowledged since the database was last looked at.
	freshKeys map[string]bool
	freshIDs  map[string]bool
}

func newLedger() *ledger {
	return &ledger{
		ids: map[string]string{}, outcomes: map[string]string{}, consumed: map[string]bool{},
		freshKeys: map[string]bool{}, freshIDs: map[string]bool{},
	}
}

// note writes an acknowledgement down, and says whether it contradicts an
// earlier one.
func (l *ledger) note(a ack) []violation {
	switch a.Op {
	case opReady:
		return nil
	case opFailed:
		return []violation{violated(failed, "%s", a.Said)}
	}
	l.acks++
	if a.ID != "" {
		l.freshIDs[a.ID] = true
	}
	var bad []violation
	if a.Key != "" {
		bad = l.noteKey(a.Key, a.ID)
	}
	switch a.Op {
	case opSettled:
		if before, ok := l.outcomes[a.ID]; ok && before != a.Said {
			bad = append(bad, violated(doubled, "%s was acknowledged as %s and then as %s", a.ID, before, a.Said))
		}
		l.outcomes[a.ID] = a.Said
	case opConsumed:
		if l.consumed[a.ID] {
			bad = append(bad, violated(doubled, "the approval %s was spent twice", a.ID))
		}
		l.consumed[a.ID] = true
	}
	return bad
}

// noteKey writes down which ask a key gave; "" is not known.
func (l *ledger) noteKey(key, id string) []violation {
	l.freshKeys[key] = true
	before := l.ids[key]
	if id == "" {
		return nil
	}
	l.ids[key] = id
	if before != "" && before != id {
		return []violation{violated(doubled, "the key %s gave %s and then %s", key, before, id)}
	}
	return nil
}

// looked says that everything acknowledged so far has been compared.
func (l *ledger) looked() {
	clear(l.freshKeys)
	clear(l.freshIDs)
}
