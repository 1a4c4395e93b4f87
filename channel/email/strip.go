package email

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// answerAbove is the first line of each message that explains how to reply. In a reply, this line and all
// text below are a quotation, even without another mark.
const answerAbove = "-=- Reply above this line -=-"

// written returns the text that a person has written in a reply. It omits quotations, the lines before them,
// the signature and the footer of a phone. The argument original is the text of the letter to which the
// person replies. If the line before a quotation contains one of the addresses, it is recognized in any
// language.
func written(text, original string, addresses ...string) string {
	lines := strings.Split(normalizeLines(text), "\n")
	original = squeeze(original)
	var kept []string
	introduced := false // whether the last line was the line before a quotation
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		if n := quotation(lines[i:]); n > 0 {
			if !introduced && !quotes(lines[i:i+n], original) {
				kept = append(kept, lines[i:i+n]...)
			}
			introduced = false
			i += n - 1
			continue
		}
		if line == "-- " || trimmed == "--" || strings.Contains(trimmed, answerAbove) || isSeparator(trimmed) ||
			isHeaderBlock(lines[i:]) {
			break
		}
		if n := attribution(lines[i:], addresses); n > 0 {
			if !quoteFollows(lines[i+n:]) {
				break
			}
			introduced = true
			i += n - 1
			continue
		}
		kept = append(kept, strings.TrimRightFunc(line, unicode.IsSpace))
	}
	return strings.Trim(strings.Join(withoutFooter(kept), "\n"), "\n")
}

// quotation returns the number of leading lines that begin with ">".
func quotation(lines []string) (n int) {
	for n < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[n]), ">") {
		n++
	}
	return n
}

// minQuoted is the minimum length in bytes of a line whose repetition shows a quotation. A shorter line may
// be in a letter by chance.
const minQuoted = 8

// quotes reports whether lines that begin with ">" contain a line of original. Otherwise the person has
// written these lines.
func quotes(lines []string, original string) bool {
	for _, l := range lines {
		l = squeeze(strings.TrimLeft(l, "> "))
		if len(l) >= minQuoted && strings.Contains(original, l) {
			return true
		}
	}
	return false
}

// squeeze returns a text without white space, because mail programs break lines at other places.
func squeeze(s string) string { return strings.Join(strings.Fields(normalizeLines(s)), "") }

// normalizeLines returns a text with plain line ends and spaces. It removes invisible characters that mail
// programs insert.
func normalizeLines(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u00a0', '\u202f', '\u2007':
			return ' '
		case '\u200b', '\u2060', '\ufeff', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u2066', '\u2067',
			'\u2068', '\u2069', 0:
			return -1
		}
		return r
	}, text)
}

// wrote matches the line that mail programs write before a quotation, in the most common languages.
var wrote = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(on|am|le|el|il|em|op|den|dne|w dniu|dnia|il giorno|på|tor|man|fre|ons|tir|søn|lør|kl) .{4,300}` +
		`( wrote| schrieb| a écrit| escribió| ha scritto| escreveu| schreef| skrev| napsal\(a\)| napsal| napisał\(a\)| napisał| написал\(а\)| írta| kirjoitti| yazdı)( .{0,200})?[:：]$`)
})

// wroteFirst matches the line before a quotation if the verb comes early, as in Japanese or in "Ana
// <ana@example.com> schrieb am …:".
var wroteFirst = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^.{1,200}( schrieb am | wrote on | a écrit le | escribió el | ha scritto il | skrev den | schreef op |のメール| 写道|님이 작성:|さんは書きました).{0,200}[:：]$`)
})

// dated matches the line before a quotation if it has no verb, as in "2026-11-23 14:03 GMT+01:00 Askback
// <ask@example.com>:".
var dated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}[-/年].{4,80}<[^<>@ ]+@[^<>@ ]+> ?[:：]$`)
})

// attribution returns the number of leading lines that form the line before a quotation, or 0. Mail programs
// break this line into up to four lines.
func attribution(lines []string, addresses []string) int {
	joined := ""
	for n := 1; n <= min(4, len(lines)); n++ {
		line := strings.TrimSpace(lines[n-1])
		if line == "" || strings.HasPrefix(line, ">") {
			return 0
		}
		joined = strings.TrimSpace(joined + " " + line)
		if !strings.HasSuffix(joined, ":") && !strings.HasSuffix(joined, "：") {
			continue
		}
		if !hasDigit(joined) {
			continue
		}
		if wrote().MatchString(joined) || wroteFirst().MatchString(joined) || dated().MatchString(joined) {
			return n
		}
		for _, a := range addresses {
			if a != "" && strings.Contains(strings.ToLower(joined), strings.ToLower(a)) {
				return n
			}
		}
	}
	return 0
}

// hasDigit reports whether s has a digit, as every date has.
func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// quoteFollows reports whether the next line with text is quoted with >.
func quoteFollows(lines []string) bool {
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			return strings.HasPrefix(l, ">")
		}
	}
	return false
}

// original matches the line before the quotation in Outlook and in forwards.
var original = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^-{2,}\s*(original message|original appointment|forwarded message|ursprüngliche nachricht|ursprungliche nachricht|` +
		`originalnachricht|weitergeleitete nachricht|message d'origine|message transféré|mensaje original|mensagem original|messaggio originale|` +
		`oorspronkelijk bericht|ursprungligt meddelande|opprinnelig melding|oprindelig meddelelse|pôvodná správa|původní zpráva|wiadomość oryginalna|` +
		`исходное сообщение|元のメッセージ|原始邮件|reply message|antwort)\s*-{2,}$`)
})

// isSeparator reports whether a line begins the quoted message as Outlook writes it.
func isSeparator(line string) bool {
	return original().MatchString(line) || len(line) >= 20 && strings.Trim(line, "_") == ""
}

// fromField and otherField match fields of the header that Outlook and other programs repeat above a
// quotation.
var (
	fromField = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)^\*?(from|von|de|da|van|från|fra|od|от|lähettäjä|kimden|feladó|发件人|差出人)\s?\*?\s?[:：]\*? ?\S`,
		)
	})
	otherField = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\*?(sent|date|to|subject|cc|gesendet|datum|an|betreff|envoyé|à|objet|enviado|para|asunto|assunto|inviato|data|oggetto|a|` +
			`verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|odesláno|komu|předmět|wysłano|do|temat|дата|кому|тема|lähetetty|konu|kime|发送时间|收件人|主题|送信日時|宛先|件名)\s?\*?\s?[:：]\*? ?\S`)
	})
)

// isHeaderBlock reports whether lines begin with a header as Outlook repeats it. Such a header has a sender
// and at least two other fields in the next six lines.
func isHeaderBlock(lines []string) bool {
	if !fromField().MatchString(strings.TrimSpace(lines[0])) {
		return false
	}
	fields := 0
	for _, l := range lines[1:min(7, len(lines))] {
		if otherField().MatchString(strings.TrimSpace(l)) {
			fields++
		}
	}
	return fields >= 2
}

// footer matches a line that phones add at the end of a mail.
var footer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(sent from my \S.{0,40}|sent from (outlook|yahoo|mail|proton|samsung|gmail|aol|blackberry|nine|spark|mobile).{0,60}|get outlook for .{1,40}|` +
		`sent with .{1,40}|sent via .{1,40}|von mein(em|er) .{1,40} gesendet\.?|gesendet (mit|von|aus) .{1,60}|diese nachricht wurde von mein.{1,60} gesendet.{0,40}|` +
		`outlook für (android|ios) .{0,30}|envoyé (de|depuis|à partir) .{1,60}|enviado (desde|do|de) .{1,60}|inviato da .{1,60}|verstuurd (vanaf|met) .{1,60}|` +
		`verzonden vanaf .{1,60}|skickat från .{1,60}|sendt fra .{1,60}|wysłane z .{1,60}|odesláno z .{1,60}|отправлено (с|из) .{1,60}|iphoneから送信|发自我的.{1,20}|` +
		`(obtener|télécharger|obtenir|holen sie sich|scarica) outlook .{1,40})( <?https?://\S+>?)?$`)
})

// withoutFooter returns lines without the empty lines and phone footers at their end.
func withoutFooter(lines []string) []string {
	for len(lines) > 0 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && (len(lines) == 1 || !footer().MatchString(strings.Trim(last, "[]*_"))) {
			return lines
		}
		lines = lines[:len(lines)-1]
	}
	return lines
}
