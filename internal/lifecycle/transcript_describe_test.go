package lifecycle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

func describe(before lifecycle.AskState, r lifecycle.Result[lifecycle.AskState], err error) string {
	s := r.State
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrSettled):
		return fmt.Sprintf("rejected: %v, %s by %s\n", err, s.Ask.Status,
			s.Ask.Outcome.Actor) + describeHistory(r.History, r.Effects)
	case errors.As(err, &invalid):
		var b strings.Builder
		b.WriteString("rejected:\n")
		for _, p := range invalid {
			fmt.Fprintf(&b, "  %s %s; %s\n", p.Pointer, p.Detail, p.Fix)
		}
		return b.String()
	case err != nil:
		return fmt.Sprintf("rejected: %v\n", err)
	case r.Unchanged:
		return "nothing changes\n"
	}
	var b strings.Builder
	fmt.Fprint(&b, s.Ask.Status)
	switch due := s.Due(); {
	case s.Ask.Settled():
	case due.IsZero():
		b.WriteString(", never due")
	default:
		fmt.Fprintf(&b, ", due %s", readTime(due))
	}
	b.WriteString("\n")
	if s.Ask.Settled() && !before.Ask.Settled() {
		describeOutcome(&b, s.Ask)
	}
	if s.Ask.ConsumedAt != before.Ask.ConsumedAt {
		fmt.Fprintf(&b, "  the approval was spent at %s\n", readTime(s.Ask.ConsumedAt))
	}
	if at := s.Ask.AckedAt; !at.Equal(before.Ask.AckedAt) && !at.Equal(s.Ask.ConsumedAt) {
		fmt.Fprintf(&b, "  the agent has it since %s\n", readTime(at))
	}
	if at := s.Ask.AskedAgainAt; !at.Equal(before.Ask.AskedAgainAt) {
		fmt.Fprintf(&b, "  asked again at %s\n", readTime(at))
	}
	if len(s.Ask.Votes) != len(before.Ask.Votes) {
		fmt.Fprintf(&b, "  approved by %d of %d\n", len(s.Ask.Votes), s.Ask.Quorum)
	}
	if people := s.Ask.People(); before.Ask.ID != "" && !slices.Equal(people, before.Ask.People()) {
		fmt.Fprintf(&b, "  may be answered by %s\n", strings.Join(people, ", "))
	}
	describeHeld(&b, before.Held, s.Held)
	describeApprovers(&b, before.Ask, s.Ask)
	describeDeliveries(&b, before.Deliveries, s.Deliveries)
	b.WriteString(describeHistory(r.History, r.Effects))
	return b.String()
}

// describeDeliveries writes to b the deliveries that a step added or changed.
func describeDeliveries(b *strings.Builder, before, after []askback.Delivery) {
	for i, d := range after {
		if i >= len(before) || d != before[i] {
			fmt.Fprintf(b, "  delivery %d to %s: %s, %s", i+1, d.Target, d.Event, d.Status)
			if d.Attempts > 0 {
				fmt.Fprintf(b, ", attempts %d", d.Attempts)
			}
			if d.Error != "" {
				fmt.Fprintf(b, ", %s", d.Error)
			}
			if !d.RetryAt.IsZero() {
				fmt.Fprintf(b, ", again %s", readTime(d.RetryAt))
			}
			if !d.SeenAt.IsZero() {
				fmt.Fprintf(b, ", seen %s", readTime(d.SeenAt))
			}
			b.WriteString("\n")
		}
	}
}

// describeHistory returns the text for the history and the effects of a step.
func describeHistory(history []lifecycle.Event, effects []lifecycle.Effect) string {
	var b strings.Builder
	for _, h := range history {
		b.WriteString("  history: " + describeEntry(h) + "\n")
	}
	for _, f := range effects {
		b.WriteString("  effect: " + describeEffect(f) + "\n")
	}
	return b.String()
}

func describeEffect(effect lifecycle.Effect) string {
	switch f := effect.(type) {
	case lifecycle.MakeGrant:
		return fmt.Sprintf("make grant %s in %s", f.Grant.ID, f.SessionID)
	case lifecycle.UseGrant:
		return fmt.Sprintf("use grant %s for %s", f.ID, f.Ask.ID)
	case lifecycle.RequireGrant:
		return fmt.Sprintf("require grant %s", f.ID)
	case lifecycle.NotifySession:
		switch in := f.Input.(type) {
		case lifecycle.AskOpened:
			return fmt.Sprintf("notify %s that %s is open", f.ID, in.ID)
		case lifecycle.AskClosed:
			fails := strings.Repeat(", which fails it", strings.Count(fmt.Sprint(in.Fails), "true"))
			return fmt.Sprintf("notify %s that %s is settled%s", f.ID, in.ID, fails)
		}
	case lifecycle.Send:
		if !f.Due.IsZero() {
			return "send a delivery at " + readTime(f.Due)
		}
		return "send a delivery"
	case lifecycle.CancelOpenAsks:
		return fmt.Sprintf("cancel the open asks of %s, by %s: %s", f.SessionID, f.Input.By, f.Input.Reason)
	}
	return fmt.Sprintf("%+v", effect)
}

// describeEntry returns the text of a record of the history.
func describeEntry(h lifecycle.Event) string {
	s := string(h.Type)
	for _, part := range []struct{ before, text string }{
		{" by ", h.By},
		{" on ", string(h.Via)},
		{" to ", strings.Join(h.To, ", ")},
		{", ", h.Why},
		{", decision ", string(h.Decision)},
		{", reason ", h.Reason},
		{", comment ", h.Comment},
		{", for ", h.Digest},
	} {
		if part.text != "" {
			s += part.before + part.text
		}
	}
	if g := h.Grant; g != nil {
		s += fmt.Sprintf(", %s of %s for %s of %s, %s", g.ID, g.By, g.ToolName, g.Agent, g.Scope)
		if g.Digest != "" {
			s += " " + g.Digest
		}
		if g.Input != nil {
			s += ", made on " + string(g.Input) + " of " + g.AskID
		}
		s += fmt.Sprintf(", until %s, used %d×", readTime(g.ExpiresAt), g.Uses)
	}
	for _, a := range h.Answers {
		s += fmt.Sprintf(", %s %q", a.ID, a.String())
	}
	return s
}

func describeOutcome(b *strings.Builder, a askback.Ask) {
	o := a.Outcome
	fmt.Fprintf(b, "  by %s", o.Actor)
	if o.Channel != "" {
		fmt.Fprintf(b, " on %s", o.Channel)
	}
	fmt.Fprintf(b, " at %s\n", readTime(o.At))
	if o.Decision != "" {
		fmt.Fprintf(b, "  decision: %s\n", o.Decision)
	}
	if a.Kind == askback.Confirm {
		fmt.Fprintf(b, "  may it run: %v\n", o.Approved())
	}
	if len(o.Input) > 0 {
		fmt.Fprintf(b, "  and only so: %s\n", o.Digest)
	}
	if o.Defaulted {
		b.WriteString("  these are the asker's defaults:\n")
	}
	for _, q := range o.Answers {
		fmt.Fprintf(b, "  %s", q.Question)
		for i, label := range q.Selected {
			fmt.Fprintf(b, " %s%q", strings.Repeat("+ ", min(i, 1)), label)
		}
		if q.Other != "" {
			fmt.Fprintf(b, " in own words %q", q.Other)
		}
		if len(q.Values()) == 0 {
			b.WriteString(" (left open)")
		}
		if q.Notes != "" {
			fmt.Fprintf(b, ", notes %q", q.Notes)
		}
		b.WriteString("\n")
	}
	if o.Comment != "" {
		fmt.Fprintf(b, "  comment: %s\n", o.Comment)
	}
	if o.Reason != "" {
		fmt.Fprintf(b, "  reason: %s\n", o.Reason)
	}
}
