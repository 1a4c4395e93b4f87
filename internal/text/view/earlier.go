package view

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// earlierTime is how long before a call is asked for an earlier approval of the call is looked for.
const earlierTime = 24 * time.Hour

// An Earlier is an approval of a call with changed arguments, after which the agent asks for the call with the
// original arguments again.
type Earlier struct {
	By      safetext.Text // the person who changed the arguments; "" is the reader
	At      time.Time
	Changes []DiffLine // from the original arguments to the arguments that were approved
}

// A Lister lists the asks that a person may see.
type Lister interface {
	List(ctx context.Context, q askback.Query) (askback.Page, error)
}

// FindEarlier returns the last approval with changed arguments of the call of a pending ask, among the newest 50
// approvals of the agent and the tool in the day before the ask. An agent of another token with the same label is
// another agent. FindEarlier returns nil if there is no such approval, or if the asks cannot be listed. reader is
// the name of the person who reads the ask, or "".
func FindEarlier(ctx context.Context, from Lister, a askback.Ask, reader string) *Earlier {
	if a.Confirmation == nil || a.Settled() {
		return nil
	}
	page, err := from.List(ctx, askback.Query{
		Status: askback.SettledStatus, Agent: a.Agent, Tool: a.Confirmation.ToolName, Decision: askback.Approve,
		Since: a.CreatedAt.Add(-earlierTime), Until: a.CreatedAt.Add(time.Millisecond),
	})
	if err != nil {
		return nil
	}
	for _, one := range page.Items {
		c, o := one.Confirmation, one.Outcome
		if c == nil || o == nil || one.Owner != a.Owner || c.Server != a.Confirmation.Server ||
			c.Digest != a.Confirmation.Digest {
			continue
		}
		if len(o.Input) == 0 || bytes.Equal(o.Input, c.Input) {
			return nil // the last approval changed nothing
		}
		e := &Earlier{At: o.At, Changes: Of(one).Outcome.Changes}
		if o.Actor.Name != reader {
			e.By = RawText(o.Actor.Name).Text()
		}
		return e
	}
	return nil
}

// Sentence says who changed the call. when is the time, such as "1 minute ago".
func (e Earlier) Sentence(when string) safetext.Text {
	by := "You"
	if name := e.By.String(); name != "" {
		by = "“" + name + "”"
	}
	return safetext.Line(fmt.Sprintf(
		"%s changed this call before approving it, %s. The agent asks for the original again.",
		by, when))
}
