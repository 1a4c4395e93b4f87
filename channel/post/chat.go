package post

import (
	"strings"
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
		Content: "**" + escapeDiscord(m.Title.String()) + "**\n" + m.Text(escapeDiscord),
		Flags:   discordSuppressEmbeds, AllowedMentions: discordMentions{Parse: []string{}},
	}
	if m.Quiet {
		out.Flags |= discordSuppressNotifications
	}
	return content{url: r.URL, body: out}, len(utf16.Encode([]rune(out.Content))) <= discordMaxContent
}

// escapeDiscord puts a backslash before all markup of Discord. In Discord, a backslash makes any punctuation
// plain.
func escapeDiscord(s string) string { return escape(s, "\\*_~`|<>#[]():@-.", "") }

// mattermostMaxText is the maximum number of characters of a post (docs.mattermost.com, "Incoming webhooks").
const mattermostMaxText = 16_383

// drawMattermost draws a message for an incoming webhook of Mattermost, and reports whether the message fits.
// A webhook cannot change an earlier message, whose id is unknown.
func drawMattermost(r Receiver, m notice.Message) (content, bool) {
	text := "**" + escapeMattermost(m.Title.String()) + "**\n" + m.Text(escapeMattermost)
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

// escapeTeams separates the braces in {{, so that Teams does not replace {{DATE(…)}} and {{TIME(…)}}.
func escapeTeams(s string) string { return strings.ReplaceAll(s, "{{", "{"+zeroWidthSpace+"{") }
