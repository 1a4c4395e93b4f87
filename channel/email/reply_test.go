package email_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
)

// A desk is a channel with a mailbox and asks.
type desk struct {
	*email.Channel
	s *emailtest.Server
	o *office
}

func newDesk(t testing.TB, set func(*email.Options), asks ...askback.Ask) desk {
	t.Helper()
	s := emailtest.Start(t, emailtest.Options{})
	o := options(t, s, emailtest.None)
	if set != nil {
		set(&o)
	}
	return desk{newChannel(t, o), s, newOffice(asks...)}
}

// plain is the simplest style of a reply.
const plain = "Content-Type: text/plain; charset=utf-8\n\n{ANSWER}\n"

// handled sends Ana the question. It delivers the messages that replies makes from the letter, and waits
// until the channel has handled them. It returns the letters that the channel sent after the question.
func (d desk) handled(t testing.TB, a askback.Ask, replies func(emailtest.Letter) []string) (back []emailtest.Letter) {
	t.Helper()
	asked := send(t, d.s, d.Channel, about(a, "ana"))
	before := len(d.s.Messages())
	for _, raw := range replies(asked) {
		d.s.Deliver(t, raw)
	}
	stop := run(t, d.Channel, d.o)
	waitUnseen(t, d.s, 0)
	stop()
	for _, m := range d.s.Messages()[before:] {
		if !slices.Equal(m.To, []string{ana}) {
			t.Errorf("a message went to %q", m.To)
		}
		back = append(back, m.Decode(t))
	}
	return back
}

func one(f func(emailtest.Letter) string) func(emailtest.Letter) []string {
	return func(l emailtest.Letter) []string { return []string{f(l)} }
}

var database = askback.Question{
	Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite"), NoOther: true,
}

// A message that is not from the person, or not authentic, answers nothing and gets no reply (T14).
func TestForgedRepliesAreRefused(t *testing.T) {
	good := func(l emailtest.Letter) string { return reply(l, plain, "SQLite") }
	other := func(from, to string) func(emailtest.Letter) string {
		return func(l emailtest.Letter) string { return strings.ReplaceAll(good(l), from, to) }
	}
	edit := func(at int) func(emailtest.Letter) string {
		return func(l emailtest.Letter) string {
			a := l.ReplyTo()
			i := strings.Index(a, "+") + 1 + at
			c := "b"
			if a[i] == 'b' {
				c = "c"
			}
			return strings.ReplaceAll(good(l), a, a[:i]+c+a[i+1:])
		}
	}
	field := func(name, value string) func(emailtest.Letter) string {
		return func(l emailtest.Letter) string { return name + ": " + value + "\n" + good(l) }
	}
	for name, raw := range map[string]func(emailtest.Letter) string{
		"another sender":         other("ana@example.com", "eve@example.com"),
		"another person":         other("ana@example.com", "ben@example.com"),
		"the name of the person": other("Ana Example <ana@example.com>", "ana@example.com <eve@example.com>"),
		"two authors": other("From: Ana Example <ana@example.com>",
			"From: Ana <ana@example.com>, Eve <eve@example.com>"),
		"two senders":               other("To: ", "From: Eve <eve@example.com>\nTo: "),
		"no sender":                 other("From: Ana Example <ana@example.com>", "Sender: ana@example.com"),
		"a changed id":              edit(20),
		"a changed counter":         edit(26),
		"a changed code":            edit(46),
		"auto-replied":              field("Auto-Submitted", "auto-replied (vacation)"),
		"auto-generated":            field("Auto-Submitted", "auto-generated"),
		"bulk":                      field("Precedence", "bulk"),
		"junk":                      field("Precedence", "junk"),
		"vacation of an old server": field("X-Autoreply", "yes"),
		"vacation of Exchange":      field("X-Auto-Response-Suppress", "All"),
		"a list":                    field("List-Id", "<x.example.com>"),
		"a bounce":                  other("Return-Path: <ana@example.com>", "Return-Path: <>"),
		"a report": other("Content-Type: text/plain; charset=utf-8",
			`Content-Type: multipart/report; report-type=delivery-status; boundary="x"`),
		"out of office":          other("Subject: Re:", "Subject: Automatic reply:"),
		"out of office, encoded": other("Subject: Re:", "Subject: =?utf-8?q?R=C3=A9ponse_automatique_:?="),
	} {
		t.Run(name, func(t *testing.T) {
			a := question(database)
			d := newDesk(t, nil, a)
			if back := d.handled(t, a, one(raw)); len(back) > 0 {
				t.Errorf("it got a reply:\n%s", back[0].Text)
			}
			if d.o.answerCalls() > 0 {
				t.Error("it answered")
			}
		})
	}
	a := question(database)
	d := newDesk(t, nil, a)
	d.handled(t, a, one(good))
	if got := d.o.ask(a.ID); !slices.Equal(labels(got), []string{"SQLite"}) || got.Outcome.Actor.Name != "ana" ||
		got.Outcome.Channel != askback.ChannelEmail {
		t.Errorf("the good reply gives %v", got.Outcome)
	}
}

// Unicode has letters that fold to k and s. Addresses with these letters belong to other mailboxes (T14).
func TestAddressWithLettersThatFoldIsRefused(t *testing.T) {
	for from, want := range map[string]bool{
		"ana.sk@example.com": true, "Ana.SK@Example.COM": true, "ana.\u017fk@example.com": false,
		"ana.s\u212a@example.com": false,
	} {
		a := question(database)
		d := newDesk(t, func(o *email.Options) {
			o.People = func() map[string]string { return map[string]string{"ana": "ana.sk@example.com"} }
		}, a)
		d.handled(t, a, one(func(l emailtest.Letter) string {
			return strings.ReplaceAll(reply(l, plain, "SQLite"), "<ana@example.com>", "<"+from+">")
		}))
		if got := d.o.ask(a.ID).Settled(); got != want {
			t.Errorf("%s: answered is %v", from, got)
		}
	}
}

// A server that only forwards puts the reply address into another field, and addresses may change case.
func TestReplyAddressIsFoundInEveryField(t *testing.T) {
	for _, field := range []string{"Delivered-To", "X-Original-To", "Envelope-To", "Cc", "To"} {
		for _, change := range []func(string) string{strings.ToLower, strings.ToUpper} {
			a := question(database)
			d := newDesk(t, nil, a)
			d.handled(t, a, one(func(l emailtest.Letter) string {
				address := l.ReplyTo()
				raw := strings.Replace(reply(l, plain, "SQLite"), "To: Askback <"+address+">", "To: team@example.com",
					1)
				return field + ": " + change(address) + "\n" + raw
			}))
			if got := labels(d.o.ask(a.ID)); !slices.Equal(got, []string{"SQLite"}) {
				t.Errorf("%s: the answer is %q", field, got)
			}
		}
	}
}

// With authserv_id, a reply counts only if the server with this id found that the reply is authentic (T14).
func TestAuthenticationIsRequired(t *testing.T) {
	const (
		spf   = "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.com\n"
		dkim  = "Authentication-Results: mx.example.com; dkim=pass header.d=example.com\n"
		pass  = "Authentication-Results: mx.example.com; dmarc=pass (p=reject) header.from=example.com\n"
		fail  = "Authentication-Results: mx.example.com; dmarc=fail header.from=example.com\n"
		other = "Authentication-Results: mail.evil.example; dmarc=pass header.from=example.com\n"
		// Results as Postfix, Dovecot and Gmail write them.
		entered = "Received: from mail.example.org (mail.example.org [192.0.2.7])\n\t(using TLSv1.3 with " +
			"cipher TLS_AES_256_GCM_SHA384 (256/256 bits))\n\tby mx.example.com (Postfix) with ESMTPS id 4F2B1\n" +
			"\tfor <ask@example.com>; Mon, 23 Nov 2026 14:10:02 +0000 (UTC)\n"
		toMailbox = "Received: from mx.example.com\n\tby mail.example.com with LMTP\n\tid aGk4Bw\n" +
			"\t(envelope-from <ana@example.com>)\n\tfor <ask@example.com>; Mon, 23 Nov 2026 14:10:03 +0000\n"
		withinGoogle = "Received: by 2002:a05:6a10:1234:b0:1 with SMTP id x1csp12345;\n        Mon, 23 Nov 2026 " +
			"06:10:04 -0800 (PST)\n"
	)
	for _, tt := range []struct {
		fields string
		want   bool
	}{
		{"Authentication-Results: mx.example.com; dkim=pass header.d=example.com; dmarc=pass (p=none) " +
			"header.from=example.com\n", true},
		{"Authentication-Results: mx.example.com 1;\n dmarc=pass header.from=example.com\n", true},
		{"", false},
		{"Authentication-Results: mx.example.com; dkim=pass header.d=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=fail header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=none header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=temperror header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=permerror header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=policy header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=neutral header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=softfail header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=bestguesspass header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc= header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.com; dkim=pass " +
			"header.d=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=pass header.from=evil.example\n", false},
		{"Authentication-Results: mx.evil.example; dmarc=pass header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; none\nAuthentication-Results: mx.example.com; dmarc=pass " +
			"header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; dmarc=(\nAuthentication-Results: mx.example.com; dmarc=pass " +
			"header.from=example.com\n", false},
		{"Authentication-Results: mx.example.com; x=y (dmarc=pass) reason=\"dmarc=pass\"\n", false},
		{"Authentication-Results: mx.example.com; dmarc=pass header.from=example.com; dmarc=fail " +
			"header.from=example.com\n", false},

		// One field for each method, above the field Received of the incoming hop.
		{spf + dkim + pass + entered, true},
		{pass + spf + entered, true},
		{spf + other + pass + entered, true},
		{toMailbox + spf + pass + entered, true},
		{withinGoogle + spf + pass + entered, true},
		{spf + entered + pass, false},
		{spf + toMailbox + entered + pass, false},
		{spf + fail + pass + entered, false},
		{pass + fail + entered, false},
		{spf + "Authentication-Results: mx.example.com; dmarc=(\n" + pass + entered, false},
		{spf + other + entered, false},

		// Fields below Received: the server wrote the first field, and the author may have written the next
		// field.
		{entered + pass, true},
		{entered + spf + pass, false},
		{withinGoogle + entered + pass + spf, true},
		{withinGoogle + entered + spf + pass + toMailbox, false},
		{entered + spf + pass + entered, false},

		// The author chooses a recipient and the name with which the sending server introduces itself.
		{strings.ReplaceAll(entered, "from mail.example.org", "from mx.example.com") + spf + pass + entered, false},
		{strings.ReplaceAll(entered, "<ask", "<\"a with lmtp b\"+ask") + spf + pass + entered, false},
		{spf + pass, false},

		// The author chooses the address of the envelope, which servers repeat in their results.
		{"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=\"a; dmarc=pass header.from=example.com; " +
			"b=c\"@evil.example\n" + entered, false},
		{"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=\"a\\\"; dmarc=pass " +
			"header.from=example.com; b=c\"@evil.example\n" + entered, false},
		{"Authentication-Results: mx.example.com; spf=pass (domain of \"(a; dmarc=pass ;\"@evil.example (and); " +
			"dmarc=pass ;) smtp.mailfrom=evil.example\n" + entered, false},
		{"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=\"a; dmarc=pass header.from=example.com\n" +
			entered, false},
		{"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=\"a; b\"@example.com; dmarc=pass (p=none; " +
			"sp=none) header.from=\"example.com\"\n" + entered, true},
	} {
		a := question(database)
		d := newDesk(t, func(o *email.Options) { o.AuthservID = "mx.example.com" }, a)
		d.handled(t, a, one(func(l emailtest.Letter) string { return tt.fields + reply(l, plain, "SQLite") }))
		if got := d.o.ask(a.ID).Settled(); got != tt.want {
			t.Errorf("%q: answered is %v", tt.fields, got)
		}
	}
}

func TestUnclearReplyIsAnsweredWithTheQuestion(t *testing.T) {
	several := []askback.Question{
		{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite"), NoOther: true},
		{Text: "What name?"},
		{Text: "Why?", Optional: true},
	}
	call := askback.Ask{
		ID: askID, Agent: "deployer", Kind: askback.Confirm, Status: askback.Pending,
		Confirmation: &askback.Confirmation{ToolName: "deploy", Input: []byte(`{"to":"prod"}`)},
	}
	danger := call
	danger.Confirmation = &askback.Confirmation{ToolName: "drop", Input: []byte(`{"table":"users"}`), Dangerous: true}
	hidden, twice := call, call
	hidden.Confirmation = &askback.Confirmation{ToolName: "deploy", Input: []byte("{\"to\":\"prod\u202e\"}")}
	twice.Confirmation = &askback.Confirmation{ToolName: "deploy", Input: []byte(`{"to":"prod","To":"test"}`)}
	numbers := askback.Question{Text: "How many?", Options: askback.Options("2", "3", "5"), NoOther: true}
	other := askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")}
	for _, tt := range []struct {
		ask    askback.Ask
		answer string
		want   []string // nil if the server replies with the question again
		reason string
	}{
		{question(database), "Postgres", nil, "not exactly one"},
		{question(database), "the second", nil, "not exactly one"},
		{question(database), "3", nil, "not exactly one"},
		{question(database), "1, 2", nil, "one answer"},
		{question(database), "SQLite\n\nBut only if Ben agrees.", nil, "has more text"},
		{question(database), "SQLite\n\nRegards\nAna\nPS: but only if Ben agrees.", nil, "has more text"},
		{question(database), "", nil, "no text of your own"},
		{question(database), "Sent from my iPhone", nil, "not exactly one"},
		{question(numbers), "2", nil, "read in two ways"},
		{question(numbers), "5", []string{"5"}, ""},
		{question(other), "7", nil, "not exactly one"},
		{question(other), "1\n\nand then SQLite", nil, "has more text"},
		{question(other), "Oracle", []string{"Oracle"}, ""},
		{question(other), "SQLite, but only on Mondays", []string{"SQLite, but only on Mondays"}, ""},
		{question(several...), "1: 2\n2: Aurora", []string{"SQLite", "Aurora"}, ""},
		{
			question(several...), "1. postgresql\n2) Aurora\nor Boreal\n3: because",
			[]string{"PostgreSQL", "Aurora\nor Boreal", "because"},
			"",
		},
		{question(several...), "SQLite\nAurora", nil, "begin each answer with the number"},
		{question(several...), "1: SQLite", nil, "begin each answer with the number"},
		{question(several...), "1: SQLite\n1: PostgreSQL\n2: x", nil, "begin each answer with the number"},
		{question(several...), "1: Oracle\n2: x", nil, "not exactly one"},
		{question(several...), "1: SQLite\n2: x\n4: y", nil, "begin each answer with the number"},
		{call, "approve", []string{"approved"}, ""},
		{call, "Deny", []string{"denied"}, ""},
		{call, "yes", nil, "one word approve or deny"},
		{call, "approve it", nil, "one word approve or deny"},
		{call, "approve\n\nbut only on staging", nil, "one word approve or deny"},
		{call, "approve_all", nil, "one word approve or deny"},
		{question(askback.Question{Text: "Which?", Options: []askback.Option{
			{Label: "a", Preview: strings.Repeat("long ", 30_000)}, {Label: "b"},
		}}), "b", nil, "only on its page"},
		{hidden, "approve", nil, "hard to see"},
		{hidden, "deny", nil, "hard to see"},
		{twice, "approve", nil, "hard to see"},
		{danger, "approve", nil, "cannot be decided by e-mail"},
		{danger, "deny", nil, "cannot be decided by e-mail"},
	} {
		t.Run(fmt.Sprintf("%s/%q", tt.ask.Kind, tt.answer), func(t *testing.T) {
			tt.ask.PageURL = "https://ask.example.com/asks/" + askID
			d := newDesk(t, nil, tt.ask)
			var sent string
			back := d.handled(t, tt.ask, one(func(l emailtest.Letter) string {
				sent = l.Header.Get("Message-Id")
				return reply(l, plain, tt.answer)
			}))
			if got := labels(d.o.ask(askID)); !slices.Equal(got, tt.want) {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
			if (len(back) > 0) != (tt.want == nil) {
				t.Fatalf("%d letters came back", len(back))
			}
			if tt.want != nil {
				return
			}
			l := back[0]
			link := publicA + "ana"
			if tt.ask.Confirmation != nil && tt.ask.Confirmation.Dangerous {
				link = tt.ask.PageURL
			}
			for _, want := range []string{tt.reason, "Nothing was decided", link} {
				if !strings.Contains(l.Text, want) {
					t.Errorf("the question back has no %q:\n%s", want, l.Text)
				}
			}
			if l.Header.Get("Auto-Submitted") != "auto-replied" ||
				!strings.Contains(l.Header.Get("References"), sent) || l.Header.Get("In-Reply-To") == sent {
				t.Errorf("the header is %v", l.Header)
			}
		})
	}
}

// Two programs that reply to each other stop after three letters. The limit does not depend on the address of
// the other program. It also holds after a restart of the server, and with an empty mailbox.
func TestPersonIsAskedAgainThreeTimes(t *testing.T) {
	for _, tt := range []struct{ toLatest, emptied bool }{{true, false}, {false, false}, {true, true}} {
		a := question(database)
		d := newDesk(t, nil, a)
		to := send(t, d.s, d.Channel, about(a, "ana"))
		for i := range 6 {
			raw := reply(to, plain, "perhaps")
			d.s.Deliver(t, strings.Replace(raw, "Message-ID: <reply-", fmt.Sprintf("Message-ID: <reply-%d-", i), 1))
			stop := run(t, d.Channel, d.o)
			waitUnseen(t, d.s, 0)
			stop()
			if all := d.s.Messages(); tt.toLatest {
				to = all[len(all)-1].Decode(t)
			}
			if tt.emptied {
				d.s.ReplaceMailbox(t)
			}
		}
		if n := len(d.s.Messages()); n != 4 {
			t.Errorf("%+v: %d letters, want the question and three more", tt, n)
		}
	}
}

// A returned letter of this server is ignored.
func TestOwnLettersAreIgnored(t *testing.T) {
	a := question(database)
	d := newDesk(t, nil, a)
	send(t, d.s, d.Channel, about(a, "ana"))
	own := d.s.Messages()[0]
	address := own.Decode(t).ReplyTo()
	if back := d.handled(t, a, one(func(emailtest.Letter) string {
		return "Delivered-To: " + address + "\n" + string(own.Raw)
	})); len(back) != 0 || d.o.answerCalls() != 0 {
		t.Errorf("%d letters came back", len(back))
	}
}

// The author of a late reply is told once who was first.
func TestLateReplyIsAnsweredWithTheOutcome(t *testing.T) {
	a := question(database)
	d := newDesk(t, nil, a)
	settled := a
	settled.Status = askback.Answered
	settled.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ben"},
		Channel: askback.ChannelWeb, At: clock,
		Answers: []askback.QuestionAnswer{{ID: "q1", Question: "Which database?", Selected: []string{"PostgreSQL"}}},
	}
	d.o.asks[a.ID] = &settled
	back := d.handled(t, a, one(func(l emailtest.Letter) string { return reply(l, plain, "SQLite") }))
	if len(back) != 1 || !strings.Contains(back[0].Text, "too late") || !strings.Contains(back[0].Text, "ben") {
		t.Errorf("got %d letters %v", len(back), back)
	}
	if !slices.Equal(labels(d.o.ask(a.ID)), []string{"PostgreSQL"}) {
		t.Error("the outcome has changed")
	}
}

// The answer is stored before the message is marked. After a crash in between, the message is handled again,
// without a second effect.
func TestMessageIsMarkedAfterTheAnswerIsStored(t *testing.T) {
	const quoting = "Content-Type: text/plain; charset=utf-8\n\n> Write an answer:\n{ANSWER}\n"
	a := question(askback.Question{Text: "Which database?"})
	d := newDesk(t, nil, a)
	d.o.errors = []error{askback.ErrBusy, errors.New("the process was killed")}
	asked := send(t, d.s, d.Channel, about(a, "ana"))
	d.s.Deliver(t, reply(asked, quoting, "SQLite"))
	for range 2 {
		stop := run(t, d.Channel, d.o)
		<-d.o.called
		stop()
		if d.s.Unseen(t) != 1 || d.o.ask(a.ID).Settled() {
			t.Fatal("the message is marked, but nothing was answered")
		}
	}
	stop := run(t, d.Channel, d.o)
	waitUnseen(t, d.s, 0)
	stop()
	if !slices.Equal(labels(d.o.ask(a.ID)), []string{"SQLite"}) {
		t.Error("the reply was lost")
	}
	d.s.Unmark(t)
	run(t, d.Channel, d.o)
	waitUnseen(t, d.s, 0)
	if n := len(d.s.Messages()); n != 1 {
		t.Errorf("handled twice, the reply got %d letters back", n-1)
	}
}
