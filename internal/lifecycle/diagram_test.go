package lifecycle_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/test/kit/golden"
)

//go:generate go test -run ^TestDiagramMatchesMachines$ . -update

const diagram = "../../docs/lifecycle.md"

// A namedEvent is an event with its name in the table of docs/lifecycle.md.
type namedEvent struct {
	name  string
	event lifecycle.Input
}

// statuses are the columns of the table. "" is the state before the first event.
var statuses = []askback.Status{
	"", askback.Pending, askback.Answered, askback.Declined, askback.Cancelled, askback.Expired,
}

// openingEvents returns the first events. They are asks of every kind with every OnTimeout that the kind
// allows.
func openingEvents() []namedEvent {
	var out []namedEvent
	for _, onTimeout := range []askback.OnTimeout{
		askback.OnTimeoutWait, askback.OnTimeoutFail, askback.OnTimeoutDefault, askback.OnTimeoutDecline,
	} {
		a := askback.Ask{
			ID: "ask_1", Kind: askback.Questions, Quorum: 1, OnTimeout: onTimeout, Deadline: nine.Add(time.Hour),
		}
		a.Questions = []askback.Question{
			{ID: "q1", Text: "Which?", Options: askback.Options("A", "B"), Default: []string{"A"}},
		}
		out = append(out, namedEvent{"`Asked`", lifecycle.Asked{Ask: a, Owner: "bot", At: nine}})
		if onTimeout == askback.OnTimeoutDefault {
			continue
		}
		a.Kind, a.Questions = askback.Confirm, nil
		a.Confirmation = &askback.Confirmation{
			ToolName: "drop", Input: json.RawMessage(`{}`), Tier: "confirm", Digest: "sha256:00",
		}
		a.FollowUps = []askback.FollowUp{{At: nine.Add(time.Second)}}
		out = append(out, namedEvent{"`Asked`", lifecycle.Asked{Ask: a, Owner: "bot", At: nine}})
	}
	return out
}

// laterEvents returns the events that can follow.
func laterEvents() []namedEvent {
	soon, late := nine.Add(time.Minute), nine.Add(2*time.Hour)
	answered := func(by string, a askback.Answer) lifecycle.Input {
		return lifecycle.Answered{By: by, Via: askback.ChannelWeb, Answer: a, At: soon}
	}
	return []namedEvent{
		{"`Answered`, with a label", answered("ana", askback.Choose("A"))},
		{"`Answered`, with two labels for one", answered("ana", askback.Choose("A", "B"))},
		{"`Answered`, approved", answered("ana", askback.Decide(askback.Approve, ""))},
		{"`Answered`, approved with other arguments", lifecycle.Answered{
			By: "ana", Via: askback.ChannelWeb,
			Answer: askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"a":1}`)},
			Digest: "sha256:01", At: soon,
		}},
		{"`Answered`, all approved", lifecycle.Answered{
			By: "ana", Via: askback.ChannelWeb, Answer: askback.Decide(askback.ApproveAll, ""), GrantID: "grt_1",
			At: soon,
		}},
		{"`Covered`", lifecycle.Covered{Grant: grant(nine.Add(time.Hour)), At: soon}},
		{"`Covered`, by a grant that is over", lifecycle.Covered{Grant: grant(soon), At: soon}},
		{"`Answered`, denied", answered("ana", askback.Decide(askback.Deny, ""))},
		{"`Answered` by another recipient", answered("ben", askback.Choose("B"))},
		{"`Declined`", lifecycle.Declined{By: "ana", Via: askback.ChannelWeb, At: soon}},
		{"`Held`, an answer", lifecycle.Held{
			Answered: answered("ana", askback.Choose("A")).(lifecycle.Answered), For: 5 * time.Second,
		}},
		{"`Held`, an approval", lifecycle.Held{
			Answered: answered("ana", askback.Decide(askback.Approve, "")).(lifecycle.Answered), For: 5 * time.Second,
		}},
		{"`Undone` by its author", lifecycle.Undone{By: "ana", Via: askback.ChannelWeb, At: soon}},
		{"`Cancelled`", lifecycle.Cancelled{
			By: askback.Actor{Kind: askback.ActorAgent, Name: "bot"}, Via: askback.ChannelAPI, At: soon,
		}},
		{"`Claimed`", lifecycle.Claimed{By: "ana", At: soon}},
		{"`Reassigned`", lifecycle.Reassigned{By: "ana", To: []string{"ben"}, People: []string{"ben"}, At: soon}},
		{"`FollowedUp`, a reminder or an escalation", lifecycle.FollowedUp{At: soon}},
		{"`Due`, before the deadline", lifecycle.Due{At: soon}},
		{"`Due`, when a held answer is sent", lifecycle.Due{At: soon.Add(5 * time.Second)}},
		{"`Due`, after it", lifecycle.Due{At: late}},
		{"`Consumed`, as approved", lifecycle.Consumed{Digest: "sha256:00", At: soon}},
		{"`Consumed`, other arguments", lifecycle.Consumed{Digest: "sha256:01", At: soon}},
		{"`Acked`", lifecycle.Acked{At: soon}},
		{"`Repeated`", lifecycle.Repeated{At: soon}},
	}
}

// grant returns a grant that covers the confirmations of openingEvents and expires at until.
func grant(until time.Time) askback.Grant {
	return askback.Grant{
		ID: "grt_9", Owner: "bot", ToolName: "drop", Scope: askback.ScopeTool, By: "cem", ExpiresAt: until,
	}
}

// A walk records the transitions that explore found.
type walk struct {
	rows  []string               // names of events, in order
	cells map[[2]string][]string // the texts of the results, keyed by the name of the event and the status
	edges []string               // the lines of the diagram
}

// explore applies every event to every state that at most four events reach.
func explore() walk {
	w := walk{cells: map[[2]string][]string{}}
	level := []lifecycle.AskState{{}}
	for range 5 {
		var next []lifecycle.AskState
		seen := map[string]bool{}
		for _, s := range level {
			for _, h := range slices.Concat(openingEvents(), laterEvents()) {
				after, history, err := step(s, h.event)
				w.addCell(h, s.Ask.Status, after.Ask.Status, history, err)
				fixed, _ := after.AppendFixed(nil)
				moving, _ := after.AppendMoving(nil)
				if key := string(after.Ask.Status) + string(fixed) + string(moving); len(history) > 0 && !seen[key] {
					seen[key] = true
					next = append(next, after)
				}
			}
		}
		level = next
	}
	return w
}

func (w *walk) addCell(h namedEvent, from, to askback.Status, history []lifecycle.Event, err error) {
	if !slices.Contains(w.rows, h.name) {
		w.rows = append(w.rows, h.name)
	}
	cell := [2]string{h.name, string(from)}
	if what := describeResult(from, to, history, err); !slices.Contains(w.cells[cell], what) {
		w.cells[cell] = append(w.cells[cell], what)
	}
	if len(history) == 0 {
		return
	}
	event, _, _ := strings.Cut(strings.Trim(h.name, "`"), "`")
	if err != nil {
		event += ", too late"
	}
	edge := fmt.Sprintf("    %s --> %s: %s", node(from), node(to), event)
	if !slices.Contains(w.edges, edge) {
		w.edges = append(w.edges, edge)
	}
}

func node(s askback.Status) string {
	if s == "" {
		return "[*]"
	}
	return string(s)
}

// describeResult returns the text for the result of one event.
func describeResult(from, to askback.Status, history []lifecycle.Event, err error) string {
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrSettled) && len(history) > 0:
		return "*rejected: " + err.Error() + "*, kept: `" + string(history[0].Type) + "`"
	case errors.As(err, &invalid):
		return "*rejected: `Invalid`*"
	case errors.Is(err, askback.ErrSettled), errors.Is(err, askback.ErrConsumed), errors.Is(err, askback.ErrDigest),
		errors.Is(err, askback.ErrNotApproved), errors.Is(err, askback.ErrPending):
		return "*rejected: " + err.Error() + "*"
	case err != nil:
		return "*an error*"
	case len(history) == 0:
		return "–"
	case from == to:
		return "kept: `" + string(history[0].Type) + "`"
	}
	return "**" + string(to) + "**"
}

// markdown returns docs/lifecycle.md.
func (w *walk) markdown() string {
	var b strings.Builder
	b.WriteString(`# The machines of asks, grants and endpoints

*Generated from the machines, package ` + "`lifecycle`" + `: do not edit. Write the page anew with ` + "`make generate`" + `, or
` + "`go test ./internal/lifecycle -run TestDiagramMatchesMachines -update`" + `. The same test fails while this page and the
machines differ.*

For contributors, and for authors of clients who need every change of status.
[State machines](design/machines.md) has the reasons.

## An ask

The outcome is final, but the ask is not frozen: a late answer is still recorded.

` + "```mermaid\nstateDiagram-v2\n")
	slices.SortStableFunc(w.edges, func(a, c string) int { return rank(a) - rank(c) })
	b.WriteString(strings.Join(w.edges, "\n"))
	b.WriteString("\n```\n\n" +
		`The result of every input in every status. If a cell has several results, they depend on the ask: its kind, its
deadline, who answered before. "–" is no change, no history and no error.

| |`)
	for _, s := range statuses {
		b.WriteString(" " + cmp.Or(string(s), "not asked") + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(statuses)) + "\n")
	for _, row := range w.rows {
		b.WriteString("| " + row + " |")
		for _, s := range statuses {
			what := slices.Sorted(slices.Values(w.cells[[2]string{row, string(s)}]))
			b.WriteString(" " + strings.Join(what, "; ") + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## A grant\n\n```mermaid\nstateDiagram-v2\n" + strings.Join(grantEdges(), "\n") + "\n```\n")
	b.WriteString("\n## An endpoint\n\n```mermaid\nstateDiagram-v2\n" + strings.Join(endpointEdges(), "\n") + "\n```\n")
	return b.String()
}

// grantEdges returns the lines of the diagram of a grant.
func grantEdges() []string {
	soon, late := nine.Add(time.Minute), nine.Add(2*time.Hour)
	ask := askback.Ask{
		Owner: "bot", Kind: askback.Confirm, Quorum: 1, Confirmation: &askback.Confirmation{ToolName: "drop"},
	}
	inputs := []lifecycle.Input{
		lifecycle.GrantMade{Grant: grant(nine.Add(time.Hour)), At: nine},
		lifecycle.GrantUsed{Ask: ask, At: soon},
		lifecycle.GrantExamined{At: soon},
		lifecycle.GrantRequired{MakerValid: true, At: soon},
		lifecycle.GrantRevoked{By: "ana", At: soon},
		lifecycle.GrantExpired{At: late},
	}
	return machineEdges(inputs, func(s lifecycle.GrantState) bool { return s.Grant.ID != "" })
}

// endpointEdges returns the lines of the diagram of an endpoint.
func endpointEdges() []string {
	inputs := []lifecycle.Input{
		lifecycle.EndpointMade{Endpoint: askback.Endpoint{ID: "whe_1"}, At: nine},
		lifecycle.EndpointPaused{By: "ana", At: nine},
		lifecycle.EndpointResumed{By: "ana", At: nine},
		lifecycle.EndpointRotated{Secret: "A", At: nine},
		lifecycle.EndpointAccepted{At: nine},
		lifecycle.EndpointFailed{At: nine},
		lifecycle.EndpointFailed{Gone: true, At: nine},
	}
	return machineEdges(inputs, func(s lifecycle.EndpointState) bool { return s.Endpoint.ID != "" })
}

// machineEdges returns the lines of the diagram of a machine, found with at most four inputs. The function
// begun reports whether a state has had its first input.
func machineEdges[S interface {
	Step(lifecycle.Input) (lifecycle.Result[S], error)
	Columns() lifecycle.Columns
}](inputs []lifecycle.Input, begun func(S) bool) (edges []string) {
	states := make([]S, 1)
	for range 4 {
		var next []S
		for _, s := range states {
			for _, in := range inputs {
				r, err := s.Step(in)
				if err != nil || r.Unchanged {
					continue
				}
				next = append(next, r.State)
				from := "[*]"
				if begun(s) {
					from = s.Columns().Status
				}
				edge := fmt.Sprintf("    %s --> %s: %s", from, r.State.Columns().Status,
					strings.TrimPrefix(fmt.Sprintf("%T", in), "lifecycle."))
				if !slices.Contains(edges, edge) {
					edges = append(edges, edge)
				}
			}
		}
		states = next
	}
	return edges
}

// rank orders the lines of the diagram by their first status.
func rank(edge string) int {
	from := strings.Fields(edge)[0]
	return slices.IndexFunc(statuses, func(s askback.Status) bool { return node(s) == from })
}

// docs/lifecycle.md is generated from the machines of asks, grants and endpoints.
func TestDiagramMatchesMachines(t *testing.T) {
	w := explore()
	got := w.markdown()
	golden.Check(t, diagram, got)
}

// The walk that generates docs/lifecycle.md reaches every status, and every event changes some state. If the
// walk missed a status or an event, [TestDiagramMatchesMachines] would not detect it.
func TestWalkReachesEveryStatusAndEvent(t *testing.T) {
	w := explore()
	for _, s := range statuses {
		if len(w.cells[[2]string{w.rows[0], string(s)}]) == 0 {
			t.Errorf("the walk never reaches %q", s)
		}
	}
	for _, ev := range []lifecycle.Input{
		lifecycle.Asked{},
		lifecycle.Covered{},
		lifecycle.Answered{},
		lifecycle.Declined{},
		lifecycle.Cancelled{},
		lifecycle.Claimed{},
		lifecycle.Reassigned{},
		lifecycle.FollowedUp{},
		lifecycle.Held{},
		lifecycle.Undone{},
		lifecycle.Due{},
		lifecycle.Consumed{},
		lifecycle.Acked{},
		lifecycle.Repeated{},
	} {
		name := strings.TrimPrefix(fmt.Sprintf("%T", ev), "lifecycle.")
		if !slices.ContainsFunc(w.edges, func(e string) bool { return strings.HasSuffix(e, ": "+name) }) {
			t.Errorf("%s changes nothing anywhere", name)
		}
	}
}
