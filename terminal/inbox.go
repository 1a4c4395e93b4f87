package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// An InboxClient has the methods of a person's client that an [Inbox] uses.
type InboxClient interface {
	askback.Inbox
	askback.Drafts
	askback.Snoozer
	askback.Holder
	askback.Events
}

// InboxOptions are the options of a [Panel] and of the list.
type InboxOptions struct {
	Options

	// Name is the name of the person, whose own claims are not shown. It is "" if the name is not known.
	Name string

	// Open opens the page of an ask in a browser, and returns the address of the page. If it returns an
	// error, the inbox shows the address, unless the address is "".
	Open func(ctx context.Context, a askback.Ask) (address string, err error)
}

// An Inbox shows the open asks of a person at a terminal, keeps the list up to date, and lets
// the person answer each in a [Panel].
//
// It follows the rules of a Panel, and these:
//
//   - A key decides only a call that is on the screen, and has been there for half a second.
//     A call with rows that were not shown yet needs a typed word, like a dangerous call.
//   - Several calls are decided after all their arguments were shown, each with a separate
//     answer. Dangerous calls are never among them.
//   - New asks do not move the selected ask, and do not change typed text. An ask that was
//     settled elsewhere stays for a moment, with its outcome.
//   - An answer is for the call that was shown: its digest is compared before it is sent.
//   - An answer can be undone for a moment, as in the browser. Then the server sends it, even
//     if the person has left the inbox.
//   - Text of an agent is right of a gutter. A terminal could reorder a row with right-to-left text,
//     so the list and the selected ask share no row with such text, and an ask with such text is
//     opened on the whole screen.
type Inbox struct {
	tty     *TTY
	client  InboxClient
	options InboxOptions
}

// NewInbox returns an inbox on a terminal for which [TTY.ShowsPanels] is true.
func NewInbox(tty *TTY, client InboxClient, o *InboxOptions) *Inbox {
	return &Inbox{tty, client, *o}
}

// sendTime is the time limit for sending an answer after the inbox was left.
const sendTime = 3 * time.Second

// Run shows the inbox until the person leaves it or ctx is done. It returns nil if the person left, and
// ctx.Err() if ctx is done. It returns an error if the terminal fails, or if an answer or a draft was not
// saved. For a client that has no inbox, it returns [askback.ErrUnauthorized] or [askback.ErrForbidden].
func (b *Inbox) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, err := openKeyboard()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoTerminal, err)
	}
	defer keys.Close()
	m := newInbox(ctx, b.client, b.options)
	if b.tty.typedAhead() {
		m.guard.typedAhead(b.options.now())
	}
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	m.sending, m.tty, m.painter.out = sending, b.tty, b.tty
	program := newProgram(ctx, m, keys, m.width, m.height)
	if err := b.tty.Discard(); err != nil {
		return err
	}
	load := newLoader(b.client, program.Send)
	m.search.changed, m.loadMore = load.find, load.atLeast
	m.enter()
	defer m.leave()
	signals := watchSignals(program, b.tty)
	defer signals.close()
	m.stop = signals.stopProcess
	var loading sync.WaitGroup
	defer loading.Wait()
	defer cancel()
	loading.Go(func() { load.run(ctx) })
	_, err = program.Run()
	m.done = true
	time.AfterFunc(sendTime, stopSending)
	m.sends.Wait()
	if err := errors.Join(m.checkSent(), m.flush()); err != nil {
		return err
	}
	switch {
	case m.err != nil && !errors.Is(m.err, errLeft):
		return m.err
	case m.err == nil && ctx.Err() != nil:
		return ctx.Err()
	case m.err == nil:
		return err
	}
	return nil
}

// errLeft ends an inbox that the person has left.
var errLeft = errors.New("the person left the inbox")

// An inbox is the state of an [Inbox].
type inbox struct {
	options InboxOptions
	client  InboxClient
	ctx     context.Context
	sending context.Context // context of calls that send; it ends after ctx
	sends   sync.WaitGroup
	after   func(time.Duration, tea.Msg) tea.Cmd
	painter painter
	tty     *TTY
	stop    func()
	open    bool
	done    bool
	width   int
	height  int
	crowded bool // whether too few rows of the list can have a row of the selected ask beside them

	items    []*item
	more     bool // whether there are further pages that were not read
	loadMore func(asks int)
	loaded   bool
	first    int    // first row of the list on the screen
	current  string // id of the selected ask, or ""
	selected map[string]bool
	pickers  map[string]*picker // panels of asks that were shown, with the typed text
	inDetail bool               // whether keys go to the selected ask
	reading  string             // id of the ask whose draft will be read, or ""
	onScreen string             // id of the ask that is on the screen, or ""

	guard    guard // ignores keys that were not meant for the ask, or the calls, on the screen
	mode     inboxMode
	search   searchField
	when     field // text of a time until which to snooze
	batch    batch
	handover handover
	help     scroller
	status   string // last event, as a sentence of Askback
	lost     bool   // whether the connection was lost
	leaving  bool   // whether q was pressed once
	err      error
}

// An inboxMode is the meaning of keys.
type inboxMode uint8

const (
	listing      inboxMode = iota // keys are commands, or go to the selected ask
	helping                       // the keys are listed
	searching                     // text selects asks
	snoozing                      // a key chooses a time
	typingSnooze                  // text is that time
	reassigning                   // text is the names of people and groups
	batching                      // the selected calls are shown, and Enter decides them
	decided                       // the results are shown
)

// A searchField is the text that all asks in the list contain.
type searchField struct {
	field
	changed func(string)
}

// newInbox returns an inbox without asks.
func newInbox(ctx context.Context, client InboxClient, o InboxOptions) *inbox {
	i := &inbox{
		options: o, client: client, ctx: ctx, sending: ctx, width: o.width(), height: o.height(),
		selected: map[string]bool{}, pickers: map[string]*picker{}, painter: painter{full: true}, after: after,
	}
	i.search.changed, i.loadMore = func(string) {}, func(int) {}
	return i
}

// Init implements [tea.Model].
func (i *inbox) Init() tea.Cmd { return nil }

// View implements [tea.Model]. The inbox draws itself.
func (i *inbox) View() tea.View { return tea.View{} }

// Update implements [tea.Model].
func (i *inbox) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, ok := handleDraft(msg)
	if !ok {
		cmd = i.handle(msg)
	}
	if i.err = cmp.Or(i.err, i.painter.err); i.err != nil {
		i.done = true
		return i, tea.Quit
	}
	i.loadAhead()
	return i, tea.Batch(cmd, i.draw(), i.keep())
}

// aheadAsks is the number of asks below the selected ask at which the next page is read.
const aheadAsks = askback.MaxLimit / 2

// loadAhead reads the next page of the list before the person reaches the end of the list.
func (i *inbox) loadAhead() {
	if i.more && len(i.items)-i.index() <= aheadAsks {
		i.loadMore(len(i.items) + 1)
	}
}

func (i *inbox) handle(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		if m.Width > 0 && m.Height > 0 && (m.Width != i.width || m.Height != i.height) {
			i.width, i.height = m.Width, m.Height
			i.guard.appear(i.options.now())
			return i.after(i.guard.pause, armedMsg{})
		}
	case armedMsg:
		if rest := i.guard.check(i.options.now()); !i.guard.live {
			return i.after(rest, armedMsg{})
		}
	case decideMsg:
		return i.decideNow(m)
	case loadedMsg:
		i.lost = false
		return i.takeList(m)
	case lostMsg:
		i.lost = true
	case failedMsg:
		i.failed(m.err)
	case followsMsg:
		i.failed(m.err)
	case leaveMsg:
		i.dropSettled()
	case selectedMsg:
		return i.wasSelected(m.id)
	case sentMsg:
		return i.sent(m)
	case undoneMsg:
		return i.undone(m)
	case heldTickMsg:
		return i.heldTick()
	case snoozedMsg:
		i.snoozed(m)
	case reassignedMsg:
		i.reassigned(m)
	case openedMsg:
		i.opened(m)
	case decidedMsg:
		return i.takeDecided(m)
	case pagedMsg:
		m.by.paged(m.err)
		return m.by.arm()
	case editedMsg:
		return m.by.edited(m.text, m.err)
	case tea.PasteMsg:
		i.paste(m.Content)
	case tea.KeyPressMsg:
		return i.pressKey(m)
	case stopMsg:
		return tea.Exec(&external{i, i.ctx, func() error { return stopProcess(i.stop, i.tty) }},
			func(err error) tea.Msg { return stoppedMsg{err} })
	case stoppedMsg:
		i.err = m.err
		i.guard.appear(i.options.now())
		return i.after(i.guard.pause, armedMsg{})
	}
	return nil
}

// pressKey handles a key.
func (i *inbox) pressKey(m tea.KeyPressMsg) tea.Cmd {
	i.status = ""
	key, text := keyName(m)
	i.guard.press(i.options.now(), text)
	i.batch.armed = i.guard.live
	i.leaving = i.leaving && key == "q"
	before, ignored := i.current, i.guard.ignored
	cmd := i.press(key, text)
	if !(i.mode == listing && i.inDetail && i.isEditing()) && i.guard.ignored == ignored {
		i.guard.meant() // a command is not a part of a text
	}
	if it := i.find(i.current); i.inDetail && i.current == before && it.open() {
		i.picker().claim() // a person who presses keys here is reading the ask
	}
	return cmd
}

// failed shows an error of reading the list. It ends the inbox if no list was read, or if the person may not
// read the list any more.
func (i *inbox) failed(err error) {
	if !i.loaded || errors.Is(err, askback.ErrUnauthorized) || errors.Is(err, askback.ErrForbidden) {
		i.err = err
		return
	}
	i.status = "The list cannot be read: " + err.Error() + "."
}

// picker returns the panel of the selected ask, or nil.
func (i *inbox) picker() *picker {
	it := i.find(i.current)
	if it == nil {
		return nil
	}
	p := i.pickers[i.current]
	if p == nil {
		id := i.current
		o := i.options.Options
		o.Drafts = i.client
		o.Claim = func(ctx context.Context) { _, _ = i.client.Claim(ctx, id) } // repeated, so an error is ignored
		ask := it.ask
		o.earlier = func(ctx context.Context) *view.Earlier {
			return view.FindEarlier(ctx, i.client, ask, i.options.Name)
		}
		p = newPicker(i.ctx, view.For(ask, i.options.Name), o)
		p.host, p.after, p.embedded, p.watchers, p.guard = i, i.after, true, it.watchers, &i.guard
		i.pickers[id] = p
	}
	return p
}

// hasTyped reports whether the person has entered a text or an answer for an ask, and not sent it.
func (i *inbox) hasTyped(id string) bool {
	p := i.pickers[id]
	return p != nil && len(p.typed()) > 0
}

// arrive arms the guard when another ask appears on the screen, so that keys decide only after a moment. It
// also reads the draft of that ask.
func (i *inbox) arrive() (cmd tea.Cmd) {
	id := ""
	if i.isBeside() || i.inDetail {
		id = i.current
	}
	if i.mode == helping || i.mode == batching || i.mode == decided {
		id = ""
	}
	if id == i.onScreen {
		return nil
	}
	if old := i.pickers[i.onScreen]; old != nil {
		old.letter = ""
	}
	i.onScreen = id
	if p := i.picker(); p != nil && id != "" {
		cmd = tea.Batch(p.arm(), p.readDraft(), p.readEarlier())
	}
	return cmd
}

// decideNow decides the selected call by the letter that was pressed, and sends the decision.
func (i *inbox) decideNow(m decideMsg) tea.Cmd {
	it := i.find(i.current)
	if it == nil || !it.open() || i.pickers[i.current] != m.by {
		return nil
	}
	if m.by.decideNow(m); m.by.result != nil {
		return i.send(it, m.by)
	}
	i.inDetail = i.inDetail || m.by.editing != nil
	return nil
}

// arm makes the keys that decide work if there was a pause without keys.
func (i *inbox) arm() {
	i.guard.check(i.options.now())
	i.batch.armed = i.guard.live
}

// enter prepares the terminal, and draws the inbox on an alternate screen.
func (i *inbox) enter() {
	i.tty.Prepare()
	i.painter.write(ownScreen + markPaste)
	i.open = true
	i.draw()
}

// leave restores the terminal and its screen.
func (i *inbox) leave() {
	if !i.open {
		return
	}
	i.open = false
	i.painter.write(dontMark + wrap + showCursor + firstScreen)
	i.tty.pause()
}

// suspend implements [host].
func (i *inbox) suspend() { i.leave() }

// resume implements [host].
func (i *inbox) resume() {
	i.width, i.height = i.options.width(), i.options.height()
	i.enter()
}
