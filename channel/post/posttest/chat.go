package posttest

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// render returns text with backslashes as a chat shows it. It also returns the text that the chat would act
// on, and the addresses that become links. The function escapable reports whether a backslash makes a
// character plain. The expression live matches text that is markup without a backslash.
//
// A block of code is shown as it is.
func render(text string, escapable func(rune) bool, live *regexp.Regexp) (shown string, markup, links []string) {
	var parts, prose []string
	fence := ""
	show := func() {
		if len(prose) == 0 {
			return
		}
		part, acts, found := renderProse(strings.Join(prose, "\n"), escapable, live)
		parts, markup, links, prose = append(parts, part), append(markup, acts...), append(links, found...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		isFence := len(line) >= 3 && strings.Trim(line, "`") == ""
		switch {
		case fence == "" && isFence:
			show()
			fence = line
		case fence != "" && isFence && len(line) >= len(fence):
			fence = ""
		case fence != "":
			parts = append(parts, line)
		default:
			prose = append(prose, line)
		}
	}
	show()
	if fence != "" {
		markup = append(markup, "a block of code without an end")
	}
	return strings.Join(parts, "\n"), markup, links
}

// renderProse renders text outside of blocks of code.
func renderProse(
	text string, escapable func(rune) bool, live *regexp.Regexp,
) (shown string, markup, links []string) {
	const hidden = "\x00" // replaces a character that follows a backslash, because such a character is not markup
	var plain, rest strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		if runes[i] == '\\' && i+1 < len(runes) && escapable(runes[i+1]) {
			i++
			plain.WriteRune(runes[i])
			rest.WriteString(hidden)
			continue
		}
		plain.WriteRune(runes[i])
		rest.WriteRune(runes[i])
	}
	links = Links(rest.String())
	return strings.ReplaceAll(plain.String(), "\u200b",
		""), live.FindAllString(address.ReplaceAllString(rest.String(), ""), -1), links
}

// split returns the bold title and the rest of a message. A message without a bold title is an error.
func split(text string) (title, rest string, err error) {
	first, rest, ok := strings.Cut(text, "\n")
	title, bold := strings.CutPrefix(first, "**")
	title, bold2 := strings.CutSuffix(title, "**")
	if !ok || !bold || !bold2 {
		return "", "", errors.New("this test expects a bold title")
	}
	return title, rest, nil
}

var discordMarkup = regexp.MustCompile("<[@#:/at]|@everyone|@here|\\[[^\\]]*\\]\\(|[*_~`|]|:\\w+:|(?m)^(#|>|-#)")

func parseDiscord(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Content         string
		Flags           int
		AllowedMentions *struct{ Parse []string } `json:"allowed_mentions"`
	}
	if err := requireJSON(r); err != nil {
		return Message{}, err
	}
	if err := decode(body, true, &in); err != nil {
		return Message{}, err
	}
	switch {
	case in.Content == "":
		return Message{}, errors.New("50006: Cannot send an empty message")
	case utf8.RuneCountInString(in.Content) > 2000:
		return Message{}, errors.New("50035: Must be 2000 or fewer in length")
	case in.Flags&^(1<<2|1<<12) != 0:
		return Message{}, errors.New("50035: webhooks cannot set these flags")
	}
	title, text, err := split(in.Content)
	if err != nil {
		return Message{}, err
	}
	escapable := func(r rune) bool { return r > ' ' && !strings.ContainsRune("0123456789", r) && !letter(r) }
	m := Message{Quiet: in.Flags&(1<<12) != 0}
	var more []string
	m.Title, m.Markup, _ = render(title, escapable, discordMarkup)
	m.Text, more, m.Links = render(text, escapable, discordMarkup)
	m.Markup = append(m.Markup, more...)
	if in.AllowedMentions == nil || in.AllowedMentions.Parse == nil || len(in.AllowedMentions.Parse) > 0 {
		m.Markup = append(m.Markup, "mentions")
	}
	if in.Flags&(1<<2) == 0 {
		m.Markup = append(m.Markup, "pictures of pages")
	}
	return m, nil
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

var mattermostMarkup = regexp.MustCompile("@\\w|\\[[^\\]]*\\]\\(|[*_~`|]|:\\w+:|#\\w|&#?\\w+;|(?m)^(#|>)")

func parseMattermost(r *http.Request, body []byte) (Message, error) {
	var in struct{ Text string }
	if err := requireJSON(r); err != nil {
		return Message{}, err
	}
	if err := decode(body, true, &in); err != nil {
		return Message{}, err
	}
	if in.Text == "" {
		return Message{}, errors.New("no text specified")
	}
	title, text, err := split(in.Text)
	if err != nil {
		return Message{}, err
	}
	escapable := func(r rune) bool { return strings.ContainsRune("\\`*{}[]()#+-.!_>~|", r) }
	var m Message
	var more []string
	m.Title, m.Markup, _ = render(title, escapable, mattermostMarkup)
	m.Text, more, m.Links = render(text, escapable, mattermostMarkup)
	m.Markup = append(m.Markup, more...)
	if utf8.RuneCountInString(in.Text) > 16_383 {
		m.Damage = append(m.Damage, "Mattermost splits it")
	}
	return m, nil
}

type teamsCard struct {
	Schema  string `json:"$schema"`
	Type    string `json:"type"`
	Version string `json:"version"`
	Body    []struct {
		Type, Spacing string
		Inlines       []struct{ Type, Text, Weight string }
	}
	Actions []struct{ Type, Title, URL string }
}

func parseTeams(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Type        string
		Attachments []struct {
			ContentType string
			ContentURL  json.RawMessage
			Content     teamsCard
		}
	}
	if err := requireJSON(r); err != nil {
		return Message{}, err
	}
	if len(body) > 28*1024 {
		return Message{}, problem{http.StatusRequestEntityTooLarge, "Request Entity too large"}
	}
	if err := decode(body, true, &in); err != nil {
		return Message{}, err
	}
	if in.Type != "message" || len(in.Attachments) != 1 ||
		in.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" {
		return Message{}, errors.New("the workflow needs one adaptive card in attachments")
	}
	card := in.Attachments[0].Content
	if card.Type != "AdaptiveCard" || len(card.Body) == 0 {
		return Message{}, errors.New("the attachment is not an adaptive card")
	}
	var m Message
	var lines []string
	for _, block := range card.Body {
		if block.Type != "RichTextBlock" || len(block.Inlines) == 0 {
			return Message{}, errors.New("this test expects blocks without Markdown")
		}
		text := ""
		for _, run := range block.Inlines {
			if run.Type != "TextRun" || run.Text == "" {
				return Message{}, errors.New("a TextRun needs its type and text")
			}
			if strings.Contains(run.Text, "{{DATE(") || strings.Contains(run.Text, "{{TIME(") {
				m.Markup = append(m.Markup, "a date")
			}
			text += run.Text
		}
		lines = append(lines, strings.ReplaceAll(text, "\u200b", ""))
	}
	m.Title, m.Text = lines[0], strings.Join(lines[1:], "\n")
	for _, a := range card.Actions {
		if a.Type != "Action.OpenUrl" || a.Title == "" || a.URL == "" {
			return Message{}, errors.New("an action is not complete")
		}
		m.Link = a.URL
	}
	return m, nil
}
