package main

import (
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
)

// A violation is a result that must never occur.
type violation struct {
	fault fault
	what  string
}

func (v violation) String() string { return string(v.fault) + ": " + v.what }

// A fault is the kind of a violation.
type fault string

const (
	lost         fault = "lost"         // acknowledged, but missing
	duplicated   fault = "duplicated"   // stored twice, or with two values
	inconsistent fault = "inconsistent" // stored in part, or with a wrong history
	failed       fault = "failed"       // a call that should have succeeded

	accepted fault = "accepted" // a call that was not approved
	rejected fault = "rejected" // a call that was approved
)

var faults = []fault{lost, duplicated, inconsistent, failed, accepted, rejected}

func violated(f fault, format string, args ...any) violation {
	return violation{f, fmt.Sprintf(format, args...)}
}

// An ack is an acknowledgement that a client received. The acknowledged change must be stored from then on.
// With opReady or opFailed, an ack reports the state of the child or a failed call instead.
type ack struct {
	Op   op     `json:"op"`
	Key  string `json:"key,omitempty"` // the key of the request, as it is stored
	ID   string `json:"id,omitempty"`  // "" if only the key is known
	Text string `json:"text,omitempty"`
}

// An op is the kind of an [ack].
type op string

const (
	opReady    op = "ready"    // the child has opened the database
	opAsked    op = "asked"    // the ask is stored
	opSettled  op = "settled"  // the ask has this outcome
	opConsumed op = "consumed" // this call spent the approval
	opFailed   op = "failed"   // a call failed for a reason other than a kill
)

// outcomeText returns as JSON the parts of an outcome that the tests compare, such as its status, actor,
// texts and answers. It leaves out the time, because the caller of Answer does not know it.
func outcomeText(o *askback.Outcome) string {
	values := make([][]string, len(o.Answers))
	for i, a := range o.Answers {
		values[i] = append(a.Values(), a.Notes)
	}
	text, err := json.Marshal([]any{
		o.Status, o.Actor.Kind, o.Actor.Name, o.Channel, o.Decision, o.Reason, o.Comment, values, o.Defaulted,
	})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// An ackLog contains all acknowledgements.
type ackLog struct {
	acks     int
	ids      map[string]string // the ids of asks, keyed by their key
	outcomes map[string]string // the outcomeText of asks, keyed by id
	consumed map[string]bool   // the asks whose approval was spent, keyed by id

	// Acknowledgements since the last check of the database.
	newKeys map[string]bool
	newIDs  map[string]bool
}

func newAckLog() *ackLog {
	return &ackLog{
		ids: map[string]string{}, outcomes: map[string]string{}, consumed: map[string]bool{},
		newKeys: map[string]bool{}, newIDs: map[string]bool{},
	}
}

// add records an acknowledgement. It returns violations if the ack reports a failed call or contradicts an
// earlier ack.
func (l *ackLog) add(a ack) []violation {
	switch a.Op {
	case opReady:
		return nil
	case opFailed:
		return []violation{violated(failed, "%s", a.Text)}
	}
	l.acks++
	if a.ID != "" {
		l.newIDs[a.ID] = true
	}
	var bad []violation
	if a.Key != "" {
		bad = l.addKey(a.Key, a.ID)
	}
	switch a.Op {
	case opSettled:
		if before, ok := l.outcomes[a.ID]; ok && before != a.Text {
			bad = append(bad, violated(duplicated, "%s was acknowledged as %s and then as %s", a.ID, before, a.Text))
		}
		l.outcomes[a.ID] = a.Text
	case opConsumed:
		if l.consumed[a.ID] {
			bad = append(bad, violated(duplicated, "the approval %s was spent twice", a.ID))
		}
		l.consumed[a.ID] = true
	}
	return bad
}

// addKey records that the ask with this key has this id, or only the key if id is "". It
// returns a violation if the key had another id before.
func (l *ackLog) addKey(key, id string) []violation {
	l.newKeys[key] = true
	before := l.ids[key]
	if id == "" {
		return nil
	}
	l.ids[key] = id
	if before != "" && before != id {
		return []violation{violated(duplicated, "the key %s gave %s and then %s", key, before, id)}
	}
	return nil
}

// markChecked marks all acknowledgements as compared with the database.
func (l *ackLog) markChecked() {
	clear(l.newKeys)
	clear(l.newIDs)
}
