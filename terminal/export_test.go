package terminal

import (
	"bytes"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback/internal/view"
)

// A TestPanel is a panel without a terminal. Tests press its keys and read what it draws.
type TestPanel struct {
	p   *picker
	out bytes.Buffer
}

// OpenTestPanel draws the panel of an ask. Its keys that answer are not armed.
func OpenTestPanel(a view.Ask, o Options) *TestPanel {
	t := &TestPanel{p: newPicker(context.Background(), a, o)}
	t.p.painter.out = &t.out
	t.p.Init()
	t.p.draw()
	return t
}

// Arm does what the panel does when its keys have been ignored for long enough.
func (t *TestPanel) Arm() { t.p.Update(armedMsg{}) }

// Press presses keys by their names. A name of several letters without a meaning is typed.
func (t *TestPanel) Press(keys ...string) {
	for _, key := range keys {
		for _, m := range keyMessages(key) {
			if t.p.result == nil && t.p.err == nil {
				t.p.Update(m)
			}
		}
	}
}

// Paste pastes text.
func (t *TestPanel) Paste(text string) { t.p.Update(tea.PasteMsg{Content: text}) }

// Resize changes the size of the terminal.
func (t *TestPanel) Resize(width, height int) {
	t.p.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// Edited does what the panel does when the editor has saved a text.
func (t *TestPanel) Edited(text string) { t.p.Update(editedMsg{text: text}) }

// Paged does what the panel does when the pager has ended.
func (t *TestPanel) Paged() { t.p.Update(pagedMsg{}) }

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
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "space": {Code: ' ', Text: " "},
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
