package email_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
)

// The mailbox is read with each encryption, and also from a server that does not report new
// messages.
func TestMailboxIsReadWithEachEncryption(t *testing.T) {
	for _, o := range []emailtest.Options{
		{}, {Encryption: emailtest.TLS}, {Encryption: emailtest.StartTLS}, {NoIdle: true},
	} {
		s := emailtest.Start(t, o)
		settings := options(t, s, o.Encryption)
		if o.NoIdle {
			settings.Poll = 20 * time.Millisecond
		}
		a := question(database)
		e, c := newOffice(a), newChannel(t, settings)
		asked := send(t, s, c, about(a, "ana"))
		stop := run(t, c, e)
		s.Deliver(t, reply(asked, plain, "SQLite"))
		waitUnseen(t, s, 0)
		stop()
		if got := labels(e.ask(a.ID)); !slices.Equal(got, []string{"SQLite"}) {
			t.Errorf("%+v: the answer is %q", o, got)
		}
	}
}

// In a mailbox with other mail, only the replies are changed.
func TestOtherMailIsLeftAlone(t *testing.T) {
	a := question(database)
	d := newDesk(t, nil, a)
	asked := send(t, d.s, d.Channel, about(a, "ana"))
	for range 120 {
		d.s.Deliver(t, "From: ben@example.com\nTo: ask@example.com\nSubject: lunch\n\nSQLite?\n")
	}
	d.s.Deliver(t, "not a message")
	d.s.Deliver(t, reply(asked, plain, "SQLite"))
	run(t, d.Channel, d.o)
	waitUnseen(t, d.s, 121)
	if !d.o.ask(a.ID).Settled() {
		t.Error("the reply was not read")
	}
}

// State is stored for messages that wait, not for messages that were handled.
func TestHandledMessagesAreForgotten(t *testing.T) {
	a := question(askback.Question{Text: "Which database?"})
	d := newDesk(t, nil, a)
	asked := send(t, d.s, d.Channel, about(a, "ana"))
	d.s.Deliver(t, "From: ben@example.com\nTo: ask@example.com\nSubject: lunch\n\nSQLite?\n")
	b := d.Connect(t, d.o)
	for i := range 5 {
		d.s.Deliver(t, reply(asked, plain, "SQLite"))
		if n := b.Sweep(t); n != 2 {
			t.Errorf("after %d replies: %d messages are remembered, want this message and the message of ben", i+1, n)
		}
	}
	if n := b.Sweep(t); n != 1 || d.s.Unseen(t) != 1 {
		t.Errorf("at the end: %d messages are remembered, %d not seen; want the message of ben", n, d.s.Unseen(t))
	}
}

// After the connection breaks, or the mailbox gets other UIDs, replies are read again.
func TestReplyIsReadAfterAReconnect(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		first, second := question(database), question(database)
		second.ID = numbered(2)
		d := newDesk(t, func(o *email.Options) { o.Poll, o.Retry = 20*time.Millisecond, time.Millisecond }, first,
			second)
		run(t, d.Channel, d.o)
		d.s.Deliver(t, reply(send(t, d.s, d.Channel, about(first, "ana")), plain, "SQLite"))
		waitUnseen(t, d.s, 0)
		address := d.s.IMAPAddress
		d.s.StopIMAP()
		if replaced {
			d.s.ReplaceMailbox(t)
		}
		d.s.Deliver(t, reply(send(t, d.s, d.Channel, about(second, "ana")), plain, "PostgreSQL"))
		d.s.StartIMAP(t, address)
		waitUnseen(t, d.s, 0)
		if got := labels(d.o.ask(second.ID)); !slices.Equal(got, []string{"PostgreSQL"}) {
			t.Errorf("replaced %v: the answer is %q", replaced, got)
		}
	}
}

// A reply that the engine cannot record now is handled later, on the same connection.
func TestReplyIsHandledAfterAnError(t *testing.T) {
	a := question(database)
	d := newDesk(t, func(o *email.Options) { o.Retry = time.Millisecond }, a)
	d.o.errors = []error{askback.ErrBusy, askback.ErrDiskFull, askback.ErrFull}
	back := d.handled(t, a, one(func(l emailtest.Letter) string { return reply(l, plain, "SQLite") }))
	if got := labels(d.o.ask(a.ID)); !slices.Equal(got, []string{"SQLite"}) || len(back) > 0 {
		t.Errorf("the answer is %q, and %d letters came back", got, len(back))
	}
}

// A message that is too large to read counts as a reply, but answers nothing. A message with a large
// attachment after its text is an answer.
func TestOversizedReplyIsNotAnAnswer(t *testing.T) {
	big := strings.Repeat("a long line of a long text\n", 60_000)
	almost := strings.Repeat("x", 72) + "\n"
	almost = strings.Repeat(almost, (1<<20-2500)/(len(almost)+1))
	for _, tt := range []struct {
		template string
		want     bool
	}{
		{
			"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: image/png\nContent-Disposition: " +
				"attachment\n\n" + almost + "--x\nContent-Type: text/plain\n\n{ANSWER}\n" + big[:27*300] + "--x--\n",
			false,
		},
		{"Content-Type: text/plain\n\n{ANSWER}\n" + big, false},
		{"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n{ANSWER}\n--x\n" +
			"Content-Type: image/png\nContent-Disposition: attachment\n\n" + big + "--x--\n", true},
	} {
		a := question(askback.Question{Text: "Which database?"})
		d := newDesk(t, nil, a)
		back := d.handled(t, a, one(func(l emailtest.Letter) string { return reply(l, tt.template, "SQLite") }))
		if got := d.o.ask(a.ID).Settled(); got != tt.want || len(back) == 1 == tt.want {
			t.Errorf("answered is %v, want %v; %d letters came back", got, tt.want, len(back))
		}
	}
}

// A large header is not read as a whole. A message with such a header answers nothing, because the rest of
// the header could contain another sender.
func TestHugeHeaderIsNotRead(t *testing.T) {
	a := question(database)
	d := newDesk(t, nil, a)
	asked := send(t, d.s, d.Channel, about(a, "ana"))
	good := reply(asked, plain, "SQLite")
	d.s.Deliver(t, strings.Repeat("X-Filler: "+strings.Repeat("x", 60)+"\n", 4<<10)+good)
	d.s.Deliver(t, strings.Replace(good, "\n\n",
		"\n"+strings.Repeat("X-Filler: "+strings.Repeat("x", 60)+"\n", 4<<10)+"From: ben@example.com\n\n", 1))
	d.s.Deliver(t, strings.Replace(good, "SQLite", "Neither is a way to answer", 1))
	stop := run(t, d.Channel, d.o)
	waitUnseen(t, d.s, 2)
	stop()
	if d.o.ask(a.ID).Settled() {
		t.Error("a message with a huge header answered")
	}
}
