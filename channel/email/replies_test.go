package email_test

import (
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email/emailtest"
)

// A style is the way in which a mail program writes a reply.
type style struct{ name, template string }

func styles(t testing.TB) (all []style) {
	t.Helper()
	files, err := filepath.Glob("testdata/replies/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d styles, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, style{strings.TrimSuffix(filepath.Base(f), ".txt"), string(raw)})
	}
	return all
}

// reply returns a message of Ana that replies to a letter in a style.
func reply(to emailtest.Letter, template, answer string) string {
	markup := func(s string) string {
		return strings.ReplaceAll(html.EscapeString(s), "\n", "<br>\n")
	}
	quoted := "> " + strings.ReplaceAll(strings.TrimRight(to.Text, "\n"), "\n", "\n> ")
	address := to.ReplyTo()
	body := strings.NewReplacer("{ANSWER}", answer, "{HTML}", markup(answer), "{QUOTED}", quoted, "{QUOTE}", to.Text,
		"{QUOTEHTML}", to.Markup, "{TO}", address).Replace(template)
	return "Return-Path: <ana@example.com>\nFrom: Ana Example <ana@example.com>\nTo: Askback <" + address +
		">\nSubject: Re: " + to.Header.Get("Subject") +
		"\nIn-Reply-To: " + to.Header.Get("Message-Id") + "\nMessage-ID: <reply-" +
		strings.Trim(to.Header.Get("Message-Id"), "<>") + ">\nDate: Mon, 23 Nov 2026 14:10:00 +0000\n" + body
}

// withoutMark returns a letter as quoted by a mail program that omits its first line.
func withoutMark(l emailtest.Letter) emailtest.Letter {
	_, l.Text, _ = strings.Cut(l.Text, "\n")
	l.Markup = strings.ReplaceAll(l.Markup, "Reply above this line", "")
	return l
}

// Every style of reply gives the same answer, whichever way the person writes it.
func TestRepliesOfMailProgramsAreRead(t *testing.T) {
	database := askback.Question{
		Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite", "MySQL, or a fork"),
	}
	closed := database
	closed.NoOther = true
	multi := closed
	multi.MultiSelect = true
	open := askback.Question{
		Text: "What should the release be called?\n\nOn Monday it was 1: nothing.\n1. It needs a name.",
	}
	cases := []struct {
		q      askback.Question
		answer string
		want   []string
	}{
		{database, "SQLite", []string{"SQLite"}},
		{closed, "2", []string{"SQLite"}},
		{closed, "mysql, or a fork", []string{"MySQL, or a fork"}},
		{multi, "1, 3", []string{"PostgreSQL", "MySQL, or a fork"}},
		{closed, "2\n\nBest regards,\nAna Example\nExample Inc.\n+49 123 456", []string{"SQLite"}},
		{open, "Aurora.\n\n> a quotation of Ana\n\nOr, if that is taken: Über 3 > 2", []string{
			"Aurora.\n\n> a quotation of Ana\n\nOr, if that is taken: Über 3 > 2",
		}},
		{database, "None of them, ask me tomorrow", []string{"None of them, ask me tomorrow"}},
	}
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	e := newOffice()
	type expected struct {
		style, id string
		want      []string
	}
	var all []expected
	add := func(st style, asked emailtest.Letter, id, answer string, want []string) {
		s.Deliver(t, reply(asked, st.template, answer))
		all = append(all, expected{st.name, id, want})
	}
	for _, st := range styles(t) {
		for _, tt := range cases {
			a := question(tt.q)
			a.ID = numbered(len(all))
			e.asks[a.ID] = &a
			add(st, send(t, s, c, about(a, "ana")), a.ID, tt.answer, tt.want)
			if st.name == "unmarked-quote" {
				continue
			}
			b := a
			b.ID = numbered(len(all))
			e.asks[b.ID] = &b
			add(st, withoutMark(send(t, s, c, about(b, "ana"))), b.ID, tt.answer, tt.want)
		}
	}
	sent := len(s.Messages())
	run(t, c, e)
	waitUnseen(t, s, 0)
	for _, want := range all {
		if got := labels(e.ask(want.id)); !slices.Equal(got, want.want) {
			t.Errorf("%s: the answer is %q, want %q", want.style, got, want.want)
		}
	}
	if back := s.Messages()[sent:]; len(back) > 0 {
		t.Errorf("%d replies got a question back, the first:\n%s", len(back), back[0].Decode(t).Text)
	}
}
