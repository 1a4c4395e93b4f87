package email

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A rejection is a sentence that explains to the sender of a reply why the reply is not an answer.
type rejection string

// The reasons why a reply is not an answer.
const (
	notWritten    rejection = "Your reply has no text of your own."
	notAnOption   rejection = "Your reply is not exactly one of the options."
	moreThanLabel rejection = "Your reply begins with an option, but has more text, so it is not clear."
	twoMeanings   rejection = "Your reply is the number of one option and the name of another option."
	tooMany       rejection = "This question takes one answer, and your reply has several answers."
	notNumbered   rejection = "There are several questions: begin each answer with the number of its question, as in " +
		"“1: …”."
	notADecision rejection = "Reply with the one word approve or deny."
	neverByMail  rejection = "This call is dangerous. It cannot be decided by e-mail, only on its page after " +
		"logging in."
	hardToSee   rejection = "Parts of this call are hard to see. It can be decided only on its page."
	notAccepted rejection = "Your answer was not accepted."
	notReadable rejection = "Your reply could not be read."
	tooLong     rejection = "The whole question does not fit into a mail, so it can be answered only on its page."
)

// interpret returns the answer in text, or the reason why text is not an answer. It does not guess: text must
// name an option by its number or its label. Case and white space of the label do not matter.
func interpret(a askback.Ask, text string) (askback.Answer, rejection) {
	if c := a.Confirmation; c != nil {
		if c.Dangerous {
			return askback.Answer{}, neverByMail
		}
		if isHardToSee(a) {
			return askback.Answer{}, hardToSee
		}
		return decision(text)
	}
	if strings.TrimSpace(text) == "" {
		return askback.Answer{}, notWritten
	}
	if len(a.Questions) == 1 {
		q, why := answerTo(a.Questions[0], text)
		return askback.Answer{Answers: []askback.QuestionAnswer{q}}, why
	}
	parts, why := numbered(a.Questions, text)
	if why != "" {
		return askback.Answer{}, why
	}
	var out askback.Answer
	for i, q := range a.Questions {
		if parts[i] == "" {
			if !q.Optional {
				return askback.Answer{}, notNumbered
			}
			continue
		}
		given, why := answerTo(q, parts[i])
		if why != "" {
			return askback.Answer{}, why
		}
		out.Answers = append(out.Answers, given)
	}
	return out, ""
}

// isHardToSee reports whether a call has characters that cannot be seen, or names that look alike. A mail
// shows long calls as a whole, so their size does not matter.
func isHardToSee(a askback.Ask) bool {
	v := view.Of(a)
	return v.Hidden ||
		slices.ContainsFunc(v.Confirmation.Warnings, func(w view.Warning) bool { return len(w.Names) > 0 })
}

// decision returns the decision in text. If the text is not a decision, it returns the reason. Only the words
// approve and deny decide.
func decision(text string) (askback.Answer, rejection) {
	if strings.TrimSpace(text) == "" {
		return askback.Answer{}, notWritten
	}
	switch strings.ToLower(strings.TrimSpace(withoutClosing(text))) {
	case "approve":
		return askback.Decide(askback.Approve, ""), ""
	case "deny":
		return askback.Decide(askback.Deny, ""), ""
	}
	return askback.Answer{}, notADecision
}

// number matches the first line of the answer to a numbered question.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*([1-9])\s*[:.)]\s*(.*)$`) })

// numbered splits text into the answers to questions, one element for each question. A line without a number
// belongs to the answer above it. A missing answer is "".
func numbered(questions []askback.Question, text string) (parts []string, why rejection) {
	parts = make([]string, len(questions))
	at := -1
	for line := range strings.SplitSeq(withoutClosing(text), "\n") {
		if m := number().FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			if n > len(questions) || parts[n-1] != "" {
				return nil, notNumbered
			}
			at = n - 1
			parts[at] = strings.TrimSpace(m[2])
			continue
		}
		switch {
		case at >= 0:
			parts[at] = strings.TrimRight(parts[at]+"\n"+line, " \n")
		case strings.TrimSpace(line) != "":
			return nil, notNumbered
		}
	}
	if at < 0 {
		return nil, notNumbered
	}
	return parts, ""
}

// answerTo returns the answer to q in text, or the reason why text is not an answer.
func answerTo(q askback.Question, text string) (askback.QuestionAnswer, rejection) {
	text = strings.TrimSpace(text)
	out := askback.QuestionAnswer{ID: q.ID}
	if len(q.Options) == 0 {
		out.Other = text
		return out, ""
	}
	for _, attempt := range []string{text, strings.TrimSpace(withoutClosing(text))} {
		label, why := option(q, attempt)
		if why == twoMeanings {
			return out, why
		}
		if why == "" {
			out.Selected = []string{label}
			return out, ""
		}
		if labels, why := options(q, attempt); why == "" {
			if len(labels) > 1 && !q.MultiSelect {
				return out, tooMany
			}
			out.Selected = labels
			return out, ""
		} else if why == twoMeanings {
			return out, why
		}
	}
	return freeText(q, text)
}

// freeText returns text as an answer in the person's own words. If the question does not allow own words, it
// returns a reason. It also returns a reason if text looks like an option with an error or an addition.
func freeText(q askback.Question, text string) (askback.QuestionAnswer, rejection) {
	first, _, more := strings.Cut(text, "\n")
	if _, why := options(q, strings.TrimSpace(first)); more && why == "" {
		return askback.QuestionAnswer{}, moreThanLabel
	}
	if q.NoOther || onlyNumbers().MatchString(text) {
		return askback.QuestionAnswer{}, notAnOption
	}
	return askback.QuestionAnswer{ID: q.ID, Other: text}, ""
}

// onlyNumbers matches text that consists of numbers. Such text always means numbers of options, even if no
// option has these numbers.
var onlyNumbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s\d,;.#]+$`) })

// option returns the label of the option that text selects, by its label or its number. If text selects no
// option or several, it returns the reason.
func option(q askback.Question, text string) (label string, why rejection) {
	var found []string
	for i, o := range q.Options {
		if o.Label == text {
			found = []string{o.Label}
			break
		}
		if strings.EqualFold(strings.TrimSpace(o.Label), text) || oneLine(o.Label) == oneLine(text) {
			found = append(found, q.Options[i].Label)
		}
	}
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(text, "#"), ".)"))
	if err == nil && n >= 1 && n <= len(q.Options) && !slices.Contains(found, q.Options[n-1].Label) {
		found = append(found, q.Options[n-1].Label)
	}
	switch len(found) {
	case 0:
		return "", notAnOption
	case 1:
		return found[0], ""
	}
	return "", twoMeanings
}

// oneLine returns s in lower case with single spaces, because mail programs break long lines.
func oneLine(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// options returns the labels of the options that text selects. The options are on separate lines or separated
// by commas. If a part of text selects no option, options returns the reason.
func options(q askback.Question, text string) (labels []string, why rejection) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*-• "))
		if line == "" {
			continue
		}
		label, why := option(q, line)
		if why == "" {
			labels = appendNew(labels, label)
			continue
		}
		if why == twoMeanings {
			return nil, why
		}
		for part := range strings.FieldsFuncSeq(line,
			func(r rune) bool { return r == ',' || r == ';' || r == '、' || r == '，' || r == '،' }) {
			label, why := option(q, strings.TrimSpace(part))
			if why != "" {
				return nil, why
			}
			labels = appendNew(labels, label)
		}
	}
	if len(labels) == 0 {
		return nil, notAnOption
	}
	return labels, ""
}

func appendNew(labels []string, label string) []string {
	if slices.Contains(labels, label) {
		return labels
	}
	return append(labels, label)
}

// closing matches a line that closes a letter.
var closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(many thanks|thanks|thank you|thanks a lot|thx|cheers|best|regards|best regards|kind regards|warm regards|best wishes|sincerely|yours|` +
		`(mit )?(freundlichen|freundliche|besten|beste|herzlichen|herzliche|schönen|schöne|lieben|liebe|vielen|viele) grüßen?|grüße|gruß|mfg|lg|vg|danke|vielen dank|` +
		`cordialement|bien à vous|merci|saludos|un saludo|gracias|atentamente|saluti|cordiali saluti|grazie|obrigad[oa]|atenciosamente|abraços|` +
		`met vriendelijke groet(en)?|groet(en)?|mvh|med vänlig(a)? hälsning(ar)?|hilsen|med vennlig hilsen|pozdrawiam|s pozdravem|с уважением)[ ,.!]*$`)
})

// postscript matches the first line of a postscript.
var postscript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(p\.?\s?s\.?|n\.?\s?b\.?)[\s:.]`)
})

// withoutClosing returns text without its closing, which is often followed by the name of the author and of a
// company. Text with a postscript or a long rest is returned unchanged.
func withoutClosing(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if i == 0 || !closing().MatchString(strings.TrimSpace(l)) {
			continue
		}
		if len(lines)-i > 15 || slices.ContainsFunc(lines[i:], postscript().MatchString) {
			return text
		}
		return strings.Join(lines[:i], "\n")
	}
	return text
}
