package askbacktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// ErrUnscripted ends the Wait of an agent whose ask nobody at the desk will
// answer: it fits no line that is left, and all who may answer go by a script.
var ErrUnscripted = errors.New("nobody's script answers this ask")

// A Person sits at the desk: by script, or moved by the test itself through
// the seat.
type Person struct {
	askback.Client
	Name string

	desk   *Instance
	script []*prompt
	seen   map[string]bool // asks that Next returned
}

// prompt is a line of a script, and how often it was used.
type prompt struct {
	Reply
	used int
}

// Person seats a person who answers asks by a script. An ask goes to the first
// line that fits it and is left, of the first person who may answer; asks that
// were made before are looked at, too. Without lines the person does nothing
// alone: the test answers through the seat, and [Person.Next] tells what to.
func (d *Instance) Person(name string, script ...Reply) *Person {
	p := &Person{
		Client: d.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelAPI}),
		Name:   name, desk: d, seen: map[string]bool{},
	}
	for _, l := range script {
		if l.say == nil {
			panic("askbacktest: " + name + " has an empty line; make lines with Answer, Approve, Deny, Decline, Ignore or Give")
		}
		p.script = append(p.script, &prompt{Reply: l})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.people = append(d.people, p)
	for _, a := range d.open() {
		if !a.taken {
			d.next = append(d.next, a.ID)
		}
	}
	d.awake.Signal()
	return p
}

// Next returns the next pending ask that this person may answer and was not
// given before. It waits for one until ctx ends.
func (p *Person) Next(ctx context.Context) (askback.Ask, error) {
	for {
		a, changed := p.look()
		if a.ID != "" {
			return a, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return askback.Ask{}, context.Cause(ctx)
		}
	}
}

// look returns the ask for Next, or what tells that something has changed.
func (p *Person) look() (askback.Ask, <-chan struct{}) {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	for _, a := range p.desk.open() {
		if p.may(a.Ask) && !p.seen[a.ID] {
			p.seen[a.ID] = true
			return a.Clone(), nil
		}
	}
	return askback.Ask{}, p.desk.changed
}

func (p *Person) may(a askback.Ask) bool { return len(a.To) == 0 || slices.Contains(a.To, p.Name) }

// serve lets the people answer, one ask after another, until the desk closes
// and everything is answered that can be.
func (d *Instance) serve() {
	defer close(d.done)
	for {
		d.mu.Lock()
		d.busy = false
		d.touch()
		for len(d.next) == 0 && !d.closing {
			d.awake.Wait()
		}
		if len(d.next) == 0 {
			d.mu.Unlock()
			return
		}
		a := d.asks[d.next[0]]
		d.next, d.busy = d.next[1:], true
		if a.taken || a.Settled() {
			d.mu.Unlock()
			continue
		}
		who, line := d.cast(a)
		seen := a.Clone()
		d.mu.Unlock()
		if line != nil {
			d.speak(who, line, seen)
		}
	}
}

// cast finds who says what to an ask. The caller holds the lock.
func (d *Instance) cast(a *asked) (*Person, *prompt) {
	for _, p := range d.people {
		if !p.may(a.Ask) {
			continue
		}
		for _, l := range p.script {
			if (l.times == 0 || l.used < l.times) && l.fits(a.Ask) {
				l.used++
				a.taken, a.vain = true, nil
				return p, l
			}
		}
	}
	if d.hopeless(a.Ask) {
		a.giveUp(fmt.Errorf("askbacktest: %w: %s\n%s", ErrUnscripted, describe(a.Ask), d.scripts(a.Ask)))
	}
	return nil, nil
}

// speak has a person say a line. An ask that somebody else settled meanwhile
// does not use it up.
func (d *Instance) speak(p *Person, l *prompt, a askback.Ask) {
	err := l.say(context.Background(), p.Client, a)
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, askback.ErrSettled) {
		l.used--
		return
	}
	d.t.Errorf("askbacktest: %s says %s to %s: %v", p.Name, l, describe(a), err)
	d.asks[a.ID].giveUp(fmt.Errorf("askbacktest: %s said %s: %w", p.Name, l, err))
}

// hopeless says whether nothing at this desk will settle an ask: no deadline,
// and nobody who may answer but by a script. The caller holds the lock.
func (d *Instance) hopeless(a askback.Ask) bool {
	return a.Deadline.IsZero() && d.scripted() &&
		!slices.ContainsFunc(d.people, func(p *Person) bool { return len(p.script) == 0 && p.may(a) })
}

// scripted says whether there is any script at all; without one the test
// itself answers. The caller holds the lock.
func (d *Instance) scripted() bool {
	return slices.ContainsFunc(d.people, func(p *Person) bool { return len(p.script) > 0 })
}

// giveUp tells those who wait for an ask that they wait in vain.
func (a *asked) giveUp(why error) {
	a.vain = why
	for _, tell := range a.tell {
		tell(why)
	}
}

// agent is an agent's seat that does not wait in vain.
type agent struct {
	askback.Client
	desk *Instance
}

// Wait implements askback.Asker.
func (s agent) Wait(ctx context.Context, id string) (askback.Ask, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.desk.mu.Lock()
	if a := s.desk.asks[id]; a != nil {
		a.tell = append(a.tell, cancel)
		if a.vain != nil {
			cancel(a.vain)
		}
	}
	s.desk.mu.Unlock()
	a, err := s.Client.Wait(ctx, id)
	if a.Settled() {
		s.desk.learn(a)
	}
	return a, err
}

// learn notes how an ask ended. Who waits may know before the observer is told,
// and the desk must not know less than the test.
func (d *Instance) learn(a askback.Ask) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.asks[a.ID]; known != nil && !known.Settled() {
		known.Ask = a.Clone()
		d.touch()
	}
}

// reportUnanswered names the asks that are pending because nobody had a line
// for them. The caller holds the lock.
func (d *Instance) reportUnanswered() {
	d.t.Helper()
	for _, a := range d.open() {
		byHand := slices.ContainsFunc(d.people, func(p *Person) bool { return len(p.script) == 0 && p.may(a.Ask) })
		if d.scripted() && !a.taken && !byHand {
			d.t.Errorf("askbacktest: %v: %s\n%s", ErrUnscripted, describe(a.Ask), d.scripts(a.Ask))
		}
	}
}

func (p *Person) reportUnused(t testing.TB) {
	t.Helper()
	for _, l := range p.script {
		switch {
		case l.used == 0:
			t.Errorf("askbacktest: %s was never asked what %s answers", p.Name, l)
		case l.used < l.times:
			t.Errorf("askbacktest: %s was asked what %s answers %d times, not %d", p.Name, l, l.used, l.times)
		}
	}
}

// describe says what is asked, in one line.
func describe(a askback.Ask) string {
	if a.Kind == askback.Confirm {
		return fmt.Sprintf("%s asks to run %s with %s", a.Agent, a.Confirmation.ToolName, a.Confirmation.Input)
	}
	texts := make([]string, len(a.Questions))
	for i, q := range a.Questions {
		labels := make([]string, len(q.Options))
		for j, o := range q.Options {
			labels[j] = fmt.Sprintf("%q", o.Label)
		}
		texts[i] = strings.TrimSuffix(fmt.Sprintf("%q %s", q.Text, strings.Join(labels, ", ")), " ")
	}
	return a.Agent + " asks " + strings.Join(texts, "; ")
}

// scripts says what each person could still have said. The caller holds the
// lock.
func (d *Instance) scripts(a askback.Ask) string {
	var b strings.Builder
	for _, p := range d.people {
		var left []string
		for _, l := range p.script {
			if l.times == 0 || l.used < l.times {
				left = append(left, l.String())
			}
		}
		switch {
		case !p.may(a):
			fmt.Fprintf(&b, "\t%s is not asked: it is put to %s\n", p.Name, strings.Join(a.To, ", "))
		case len(left) == 0:
			fmt.Fprintf(&b, "\t%s has nothing left to say\n", p.Name)
		default:
			fmt.Fprintf(&b, "\t%s could say %s\n", p.Name, strings.Join(left, ", "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
