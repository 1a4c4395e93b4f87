package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback/internal/text/view"
)

// A TestPanel is a panel without a terminal. Tests press its keys and read what it draws.
type TestPanel struct {
	p      *picker
	out    bytes.Buffer
	passed time.Duration
}

// OpenTestPanel draws the panel of an ask. Keys that answer are ignored until [TestPanel.Arm].
func OpenTestPanel(a view.Ask, o Options) *TestPanel { return OpenTestPanelAfter(a, o, false) }

// OpenTestPanelAfter is like OpenTestPanel. If typedAhead is true, the panel acts as if keys had been typed
// before it was drawn.
func OpenTestPanelAfter(a view.Ask, o Options, typedAhead bool) *TestPanel {
	t := &TestPanel{}
	o.Now = func() time.Time { return time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC).Add(t.passed) }
	t.p = newPicker(context.Background(), a, o)
	t.p.painter.out = &t.out
	if typedAhead {
		t.p.typedAhead()
	}
	t.p.Init()
	t.p.draw()
	return t
}

// Arm advances the clock until keys that answer work.
func (t *TestPanel) Arm() { t.Pass(typingTime) }

// Pass advances the clock, and handles the messages that a panel gets after such a time.
func (t *TestPanel) Pass(d time.Duration) {
	t.passed += d
	if d >= decideTime {
		t.update(decideMsg{t.p, t.p.presses})
	}
	t.update(armedMsg{})
}

func (t *TestPanel) update(m tea.Msg) {
	if t.p.result == nil && t.p.err == nil {
		t.p.Update(m)
	}
}

// Press presses keys by their names, and advances the clock by a second after each. Other names are typed
// letter by letter.
func (t *TestPanel) Press(keys ...string) {
	for _, key := range keys {
		for _, m := range keyMessages(key) {
			t.update(m)
		}
		t.Pass(time.Second)
	}
}

// Result returns the result, or nil while the panel is open.
func (t *TestPanel) Result() Result { return t.p.result }

// Type types the characters of a text, and advances the clock by gap after each.
func (t *TestPanel) Type(gap time.Duration, text string) {
	for _, r := range text {
		name := string(r)
		if r == '\n' {
			name = "enter"
		}
		t.update(keyMessages(name)[0])
		t.Pass(gap)
	}
}

// Paste pastes text.
func (t *TestPanel) Paste(text string) { t.p.Update(tea.PasteMsg{Content: text}) }

// Resize changes the size of the terminal.
func (t *TestPanel) Resize(width, height int) {
	t.p.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// Edited sends the panel the message that the editor has saved a text.
func (t *TestPanel) Edited(text string) { t.p.Update(editedMsg{text: text}) }

// Paged sends the panel the message that the pager has ended. Keys that answer then work.
func (t *TestPanel) Paged() {
	t.p.Update(pagedMsg{})
	t.Arm()
}

// Drawn returns everything that was drawn.
func (t *TestPanel) Drawn() string { return t.out.String() }

// Finish ends the panel. The result is nil if nothing was answered.
func (t *TestPanel) Finish() (Result, error) {
	t.p.open = true
	return t.p.finish(nil)
}

var namedKeys = map[string]tea.Key{
	"enter": {Code: 'j', Mod: tea.ModCtrl}, // as a terminal in cbreak mode sends it
	"esc":   {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp},
	"pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"space":     {Code: ' ', Text: " "},
	"alt+enter": {Code: 'j', Mod: tea.ModCtrl | tea.ModAlt},
}

func keyMessages(name string) (all []tea.Msg) {
	if key, ok := namedKeys[name]; ok {
		return []tea.Msg{tea.KeyPressMsg(key)}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return []tea.Msg{tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}}
	}
	for _, r := range name {
		all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return all
}

// A TestInbox is an inbox without a terminal. It uses the clock of its options.
type TestInbox struct {
	i    *inbox
	load *loader
	out  bytes.Buffer
	due  []dueMessage
}

type dueMessage struct {
	at time.Time
	m  tea.Msg
}

// OpenTestInbox draws the open asks of a client.
func OpenTestInbox(client InboxClient, o InboxOptions) *TestInbox {
	t := &TestInbox{i: newInbox(context.Background(), client, o)}
	t.load = newLoader(client, func(tea.Msg) {})
	t.i.search.changed, t.i.loadMore = t.load.find, t.load.atLeast
	t.i.after = func(d time.Duration, m tea.Msg) tea.Cmd {
		t.due = append(t.due, dueMessage{o.now().Add(d), m})
		return nil
	}
	t.i.painter.out, t.i.open = &t.out, true
	t.Load()
	return t
}

// Load reads the list, as after an event.
func (t *TestInbox) Load() {
	m, err := t.load.load(context.Background())
	if err != nil {
		t.update(failedMsg{err})
		return
	}
	t.update(m)
}

// update handles a message, and then the messages of the commands that it causes.
func (t *TestInbox) update(m tea.Msg) {
	if _, cmd := t.i.Update(m); cmd != nil && t.i.err == nil {
		t.run(cmd())
	}
	select {
	case <-t.load.wake:
		t.Load()
	default:
	}
}

func (t *TestInbox) run(m tea.Msg) {
	switch m := m.(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range m {
			t.run(cmd())
		}
	default:
		t.update(m)
	}
}

// Tick handles the messages that are due.
func (t *TestInbox) Tick() {
	due := t.due
	t.due = nil
	for _, d := range due {
		if d.at.After(t.i.options.now()) {
			t.due = append(t.due, d)
			continue
		}
		t.update(d.m)
	}
}

// Press presses keys by their names, as [TestPanel.Press] does, but the clock stays. It calls Decide after
// each.
func (t *TestInbox) Press(keys ...string) {
	for _, key := range keys {
		for _, m := range keyMessages(key) {
			if t.i.err == nil {
				t.update(m)
			}
		}
		t.Decide()
	}
}

// Type types a character.
func (t *TestInbox) Type(r rune) {
	name := string(r)
	if r == '\n' {
		name = "enter"
	}
	t.update(keyMessages(name)[0])
}

// Decide ends the wait after a letter that decides, as if no key had followed.
func (t *TestInbox) Decide() {
	if p := t.i.pickers[t.i.current]; p != nil && p.letter != "" && t.i.err == nil {
		t.update(decideMsg{p, p.presses})
	}
}

// Paste pastes text.
func (t *TestInbox) Paste(text string) { t.update(tea.PasteMsg{Content: text}) }

// Edited sends the selected ask the message that the editor has saved a text.
func (t *TestInbox) Edited(text string) { t.update(editedMsg{by: t.i.picker(), text: text}) }

// Lose sends the inbox the message that a reply took too long.
func (t *TestInbox) Lose() { t.update(lostMsg{}) }

// Resize changes the size of the terminal.
func (t *TestInbox) Resize(width, height int) {
	t.update(tea.WindowSizeMsg{Width: width, Height: height})
}

// Drawn returns the last drawing.
func (t *TestInbox) Drawn() string {
	all := t.out.String()
	return all[strings.LastIndex(all, beginDrawing):]
}

// WaitClaims waits until all claims were made.
func (t *TestInbox) WaitClaims() {
	for _, p := range t.i.pickers {
		p.claims.Wait()
	}
}

// Close saves typed text that is not saved yet, as the inbox does after the person has left it.
func (t *TestInbox) Close() error { return t.i.flush() }

// Current returns the id of the selected ask.
func (t *TestInbox) Current() string { return t.i.current }

// IDs returns the ids of the asks in the list.
func (t *TestInbox) IDs() (all []string) {
	for _, it := range t.i.items {
		all = append(all, it.ask.ID)
	}
	return all
}

// Left reports whether the person has left the inbox.
func (t *TestInbox) Left() bool { return errors.Is(t.i.err, errLeft) }

// RunTestLoader starts a loader that reads the list of a client until ctx ends. The function messages returns
// the names of the loader's messages since its last call, without ticks.
func RunTestLoader(ctx context.Context, client InboxClient) (messages func() []string) {
	var mu sync.Mutex
	var names []string
	l := newLoader(client, func(m tea.Msg) {
		mu.Lock()
		defer mu.Unlock()
		name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", m), "terminal."), "Msg")
		if name != "tick" {
			names = append(names, name)
		}
	})
	go l.run(ctx)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := names
		names = nil
		return all
	}
}
