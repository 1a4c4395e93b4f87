package post

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback/internal/message/notice"
)

// This file draws messages for services that show them in rooms of a chat, where text is markup.

// discordMaxContent is the maximum number of characters of a message. Askback counts UTF-16 code units, which
// are never fewer than the characters that Discord counts (discord.com/developers/docs/resources/webhook,
// "Execute Webhook").
const discordMaxContent = 2000

// Flags of a message in Discord.
const (
	discordSuppressEmbeds        = 1 << 2  // suppresses previews of pages
	discordSuppressNotifications = 1 << 12 // silent
)

type discordMessage struct {
	Content         string          `json:"content"`
	Flags           int             `json:"flags"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

// discordMentions has an empty list, so that no text mentions anyone.
type discordMentions struct {
	Parse []string `json:"parse"`
}

// drawDiscord draws a message for a webhook of Discord, and reports whether the message fits. A webhook
// cannot change an earlier message, whose id is unknown. So a notice is a second, silent message.
func drawDiscord(r Receiver, m notice.Message) (content, bool) {
	out := discordMessage{
		Content: "**" + escapeDiscord(m.Title.String()) + "**\n" + chatText(m, escapeDiscord, discordCode),
		Flags:   discordSuppressEmbeds, AllowedMentions: discordMentions{Parse: []string{}},
	}
	if m.Quiet {
		out.Flags |= discordSuppressNotifications
	}
	return content{url: r.URL, body: out}, len(utf16.Encode([]rune(out.Content))) <= discordMaxContent
}

// chatText returns the lines of a message. Lines of exact text become a block of code, in which no character is
// escaped, so that a person can copy it. If code returns "", the text cannot be such a block.
func chatText(m notice.Message, escape func(string) string, code func(text string) string) string {
	var blocks []string
	lines := m.All()
	for len(lines) > 0 {
		n := 0
		var exact []string
		for n < len(lines) && lines[n].Exact {
			exact = append(exact, lines[n].Foreign)
			n++
		}
		block := ""
		if n > 0 {
			block = code(strings.Join(exact, "\n"))
		}
		if block == "" {
			n = max(n, 1)
			block = notice.Message{Lines: lines[:n]}.Text(escape)
		}
		blocks, lines = append(blocks, block), lines[n:]
	}
	return strings.Join(blocks, "\n")
}

// discordCode returns text as a block of code. In Discord, a longer fence does not help a text with a fence.
func discordCode(text string) string {
	if strings.Contains(text, "```") {
		return ""
	}
	return "```\n" + text + "\n```"
}

// mattermostCode returns text as a block of code, between fences that text does not have.
func mattermostCode(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// escapeDiscord puts a backslash before all markup of Discord. In Discord, a backslash makes any punctuation
// plain.
func escapeDiscord(s string) string { return escape(s, "\\*_~`|<>#[]():@-.", "") }

// mattermostMaxText is the maximum number of characters of a post (docs.mattermost.com, "Incoming webhooks").
const mattermostMaxText = 16_383

// drawMattermost draws a message for an incoming webhook of Mattermost, and reports whether the message fits.
// A webhook cannot change an earlier message, whose id is unknown.
func drawMattermost(r Receiver, m notice.Message) (content, bool) {
	text := "**" + escapeMattermost(m.Title.String()) + "**\n" + chatText(m, escapeMattermost, mattermostCode)
	return content{url: r.URL, body: map[string]any{"text": text}}, utf8.RuneCountInString(text) <= mattermostMaxText
}

// escapeMattermost makes markup of Mattermost plain. A backslash does not stop mentions, emoji, hashtags,
// links and entities. So escapeMattermost inserts an invisible space after their first character.
func escapeMattermost(s string) string { return escape(s, "\\*_~`|>#[]().", "@&:#~") }

// zeroWidthSpace separates characters that together would be markup.
const zeroWidthSpace = "\u200b"

// escape puts a backslash before each character in before, and an invisible space after each character in
// after.
func escape(s, before, after string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(before, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if strings.ContainsRune(after, r) {
			b.WriteString(zeroWidthSpace)
		}
	}
	return b.String()
}

// teamsMaxBody is less than the 28 KB that Teams documents, because Teams measures the message after
// converting it.
const teamsMaxBody = 20_000

type teamsBlock struct {
	Type    string     `json:"type"`
	Spacing string     `json:"spacing"`
	Inlines []teamsRun `json:"inlines"`
}

// A teamsRun is text without Markdown. The text of a TextBlock would be Markdown.
type teamsRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
}

// drawTeams draws a message as an adaptive card for the webhook of a workflow. The webhook cannot change an
// earlier message. The size is checked later, by maxBody.
func drawTeams(r Receiver, m notice.Message) (content, bool) {
	run := func(text, weight string) teamsRun { return teamsRun{"TextRun", escapeTeams(text), weight} }
	blocks := []teamsBlock{{"RichTextBlock", "None", []teamsRun{run(m.Title.String(), "Bolder")}}}
	for _, l := range withoutLink(m).All() {
		if l.Exact && replacedByTeams().MatchString(l.Foreign) {
			return content{}, false // a break would change the text
		}
		if text := l.Own + l.Foreign; text != "" {
			blocks = append(blocks, teamsBlock{"RichTextBlock", "None", []teamsRun{run(text, "")}})
		}
	}
	card := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": blocks,
	}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": m.Link}}
	}
	body := map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card,
	}}}
	return content{url: r.URL, body: body, maxBody: teamsMaxBody}, true
}

// replacedByTeams matches text that Teams replaces by a date or a time.
var replacedByTeams = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\{(\{(?:DATE|TIME)\()`) })

// escapeTeams separates the braces of text that Teams would replace.
func escapeTeams(s string) string {
	return replacedByTeams().ReplaceAllString(s, "{"+zeroWidthSpace+"$1")
}
