package email_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email/emailtest"
)

// Replies are read in the encodings and character sets of mail programs.
func TestRepliesInOtherCharacterSetsAreRead(t *testing.T) {
	const b64 = "Content-Transfer-Encoding: base64\n\n"
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, tt := range []struct{ message, want string }{
		{"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe " +
			"aus M=FCnch=\nen\n", "Grüße aus München"},
		{"Content-Type: text/plain; charset=\"windows-1252\"\nContent-Transfer-Encoding: 8bit\n\n" +
			"\x93Gr\xfc\xdfe\x94 \x80\n", "“Grüße” €"},
		{"Content-Type: text/plain; charset=utf-8\n" + b64 + encode("日本語 ✓\n"), "日本語 ✓"},
		{"Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B;E;v\x1b(B\n", "仕事"},
		{"Content-Type: text/plain; charset=gb2312\n\n\xb9\xa4\xd7\xf7\n", "工作"},
		{"Content-Type: text/plain; charset=koi8-r\n" + b64 + encode("\xd2\xc1\xc2\xcf\xd4\xc1"), "работа"},
		{
			"Content-Type: text/plain; charset=utf-8; format=flowed\n\na line that the \nprogram broke\n",
			"a line that the program broke",
		},
		{"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\n\n日本 \n語\n", "日本語"},
		{
			"Content-Type: TEXT/PLAIN; CHARSET=UTF-8\nContent-Transfer-Encoding: BASE64\n\n" + encode("yes, שלום"),
			"yes, שלום",
		},
		{"Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n" +
			"<p>Gr=FC=DFe&nbsp;&amp; &lt;b&gt;</p>\n", "Grüße & <b>"},
		{"Content-Type: text/plain; charset=x-unknown\n\nplain words\n", "plain words"},
		{"Content-Type: text/plain; charset=utf-8\n\n\xef\xbb\xbfwith a mark\n", "with a mark"},
		{"Content-Type: text/plain; charset=utf-8\n\nbroken \xff byte\n", "broken \uFFFD byte"},
	} {
		a := question(askback.Question{Text: "What?"})
		d := newDesk(t, nil, a)
		d.handled(t, a, one(func(l emailtest.Letter) string { return reply(l, tt.message, "") }))
		if got := labels(d.o.ask(a.ID)); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%q: the answer is %q, want %q", tt.message, got, tt.want)
		}
	}
}

// Text of an agent never gets into the header, and no line of the header is long.
func TestHeaderCannotBeInjected(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	for _, text := range []string{
		"x\r\nBcc: eve@evil.example\r\n\r\nbody", "x\nBcc: eve@evil.example", "x\rBcc: eve@evil.example", "x\x00y",
		"x\u2028Bcc: eve@evil.example", "x\u0085Bcc: eve@evil.example", "=?utf-8?q?=0D=0ABcc:_eve=40evil.example?=",
		"=?utf-8?b?DQpCY2M6IGV2ZUBldmlsLmV4YW1wbGU=?=", "\"\r\n", "<eve@evil.example>",
		"ü\r\nBcc: eve@evil.example", strings.Repeat("long ", 40), strings.Repeat("é", 200), strings.Repeat("界", 40),
		"\u202etxt", "a\x1b[2Jb", "x\v\fBcc: y", ",;:<>@\"\\",
	} {
		a := question(askback.Question{Text: text, Header: text})
		a.Agent, a.Title = text, text
		got := send(t, s, c, about(a, "ana"))
		for name := range got.Header {
			if !slices.Contains([]string{
				"From", "To", "Reply-To", "Subject", "Date", "Message-Id", "Auto-Submitted",
				"X-Auto-Response-Suppress", "User-Agent", "Mime-Version", "Content-Type",
			}, name) {
				t.Errorf("%q: the header has the field %s", text, name)
			}
		}
		for name, values := range got.Header {
			if len(values) != 1 || name != "Subject" && strings.Contains(values[0], "evil") {
				t.Errorf("%q: %s is %q", text, name, values)
			}
		}
		subject := got.Field("Subject")
		if n := len([]rune(subject)); n > 78 || strings.ContainsAny(subject, "\r\n\x00\x1b\u2028\u0085\u202e") {
			t.Errorf("%q: the subject has %d characters: %q", text, n, subject)
		}
		all := s.Messages()
		last := all[len(all)-1]
		if !slices.Equal(last.To, []string{ana}) || last.From != "ask@example.com" {
			t.Errorf("%q: from %q to %q", text, last.From, last.To)
		}
		head, _, _ := strings.Cut(string(last.Raw), "\r\n\r\n")
		for line := range strings.SplitSeq(string(last.Raw), "\r\n") {
			if len(line) > 998 || strings.ContainsAny(line, "\r\n") || strings.Contains(head, line) && len(line) > 200 {
				t.Errorf("%q: a line of %d bytes", text, len(line))
			}
		}
	}
}

// Text of an agent can neither end nor imitate the part above which people write their replies.
func TestReplyToAHostileLetterIsRead(t *testing.T) {
	for _, text := range []string{
		"-=- Reply above this line -=-", "On Mon, Nov 23, 2026 at 3:03 PM ana <ana@example.com> wrote:\n> 1",
		"-- \nsignature", "________________________________\nFrom: x\nSent: 1\nTo: y", "> > quoted\n>", "--x--",
		"</blockquote></div>1", "<!--", "Sent from my iPhone",
	} {
		for _, st := range styles(t) {
			q := askback.Question{Text: text, Options: askback.Options("SQLite", "PostgreSQL"), NoOther: true}
			a := question(q)
			d := newDesk(t, nil, a)
			d.handled(t, a, one(func(l emailtest.Letter) string { return reply(l, st.template, "2") }))
			if got := labels(d.o.ask(a.ID)); got != nil && !slices.Equal(got, []string{"PostgreSQL"}) {
				t.Errorf("%s, %q: the answer is %q", st.name, text, got)
			}
		}
	}
}

// FuzzIncoming checks that no message stops the reading of the mailbox, and that a message without a valid
// token answers nothing.
func FuzzIncoming(f *testing.F) {
	for _, st := range styles(f) {
		f.Add([]byte("From: ana@example.com\nTo: ask+x@example.com\n" + st.template))
	}
	f.Add([]byte(
		"Content-Type: multipart/mixed; boundary=\"a\"\n\n--a\nContent-Type: multipart/mixed; boundary=\"a\"\n\n--a\n",
	))
	f.Add([]byte("Content-Type: text/html\n\n" + strings.Repeat("<div>", 2000)))
	s := emailtest.Start(f, emailtest.Options{})
	c := newChannel(f, options(f, s, emailtest.None))
	a := question(askback.Question{Text: "What?"})
	asked := send(f, s, c, about(a, "ana"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := newOffice(a)
		if err := c.Handle(t.Context(), e, raw); err != nil {
			t.Fatal(err)
		}
		if e.answerCalls() > 0 && !strings.Contains(strings.ToLower(string(raw)), strings.ToLower(asked.ReplyTo())) {
			t.Errorf("it answered without the address")
		}
		authentic := "From: ana@example.com\r\nTo: " + asked.ReplyTo() + "\r\n" + string(raw)
		if err := c.Handle(t.Context(), e, []byte(authentic)); err != nil {
			t.Fatal(err)
		}
	})
}
