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
	twoMeanings   rejection = "Your reply can be read in two ways. Write # and the number of each option, as in #1, " +
		"one in each line."
	nearOption rejection = "Your reply may mean an option or be an answer of your own. Reply with the number or the " +
		"exact name of an option, or with an answer of your own in more words."
	tooMany     rejection = "This question takes one answer, and your reply has several answers."
	notNumbered rejection = "There are several questions: begin each answer with the number of its question, as in " +
		"“1: …”."
	notADecision rejection = "Reply with the one word approve or deny."
	notADecline  rejection = "To decline, write decline alone in the first line, and the reason below it. This " +
		"declines all questions."
	declineOrOption rejection = "Your reply may mean an option or that you decline to answer. Reply with the number " +
		"of the option."
	neverByMail rejection = "This call is dangerous. It cannot be decided by e-mail, only on its page after " +
		"logging in."
	hardToSee   rejection = "Parts of this call are hard to see. It can be decided only on its page."
	notAccepted rejection = "Your answer was not accepted."
	notReadable rejection = "Your reply could not be read."
	tooLong     rejection = "The whole question does not fit into a mail, so it can be answered only on its page."
)

// A reading is what a person replies: an answer or, if declines is set, no answer and a reason.
type reading struct {
	answer   askback.Answer
	declines bool
	reason   string
}

// interpret returns the reading of text, or the reason why text is not an answer. It does not guess: text must
// name an option by its number or its label. Case and white space of the label do not matter, nor does a full
// stop after the text.
func interpret(a askback.Ask, text string) (reading, rejection) {
	if c := a.Confirmation; c != nil {
		if c.Dangerous {
			return reading{}, neverByMail
		}
		if isHardToSee(a) {
			return reading{}, hardToSee
		}
	}
	if strings.TrimSpace(text) == "" {
		return reading{}, notWritten
	}
	if r, why := declining(a, text); r.declines || why != "" {
		return r, why
	}
	if a.Confirmation != nil {
		answer, why := decision(text)
		return reading{answer: answer}, why
	}
	answer, why := answers(a, text)
	return reading{answer: answer}, why
}

// answers returns the answer to the questions of an ask in text, or the reason why text is not an answer.
func answers(a askback.Ask, text string) (out askback.Answer, why rejection) {
	shown := view.Of(a).Questions
	if len(a.Questions) == 1 {
		q, why := answerTo(a.Questions[0], shown[0], text)
		return askback.Answer{Answers: []askback.QuestionAnswer{q}}, why
	}
	parts, why := numbered(a.Questions, text)
	if why != "" {
		return askback.Answer{}, why
	}
	for i, q := range a.Questions {
		if parts[i] == "" {
			if !q.Optional {
				return askback.Answer{}, notNumbered
			}
			continue
		}
		given, why := answerTo(q, shown[i], parts[i])
		if why == "" && given.Other != "" && declineWord().MatchString(firstLine(parts[i])) {
			why = notADecline // a person declines all questions, or none
		}
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

// Signs that may surround the word of a decision. A question mark and dots are missing: they express doubt.
const (
	openingSigns = `["'“”„‘’«»*_(]*`
	closingSigns = `["'“”„‘’«»*_)]*`
)

// alone returns a pattern for a word that is the whole text, in any case of letters.
func alone(word string) string {
	return `(?i)^\s*` + openingSigns + `(` + word + `)` + closingSigns + ` ?[.,;。]?[!！]*` + closingSigns + `\s*$`
}

// decisionWord matches a text that is a decision: one word.
var decisionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(alone("approved?|deny|denied")) })

// decision returns the decision in text. If the text is not a decision, it returns the reason. Only a word
// alone decides, never a sentence.
func decision(text string) (askback.Answer, rejection) {
	m := decisionWord().FindStringSubmatch(withoutClosing(text))
	switch {
	case m == nil:
		return askback.Answer{}, notADecision
	case strings.HasPrefix(strings.ToLower(m[1]), "approve"):
		return askback.Decide(askback.Approve, ""), ""
	}
	return askback.Decide(askback.Deny, ""), ""
}

// declineWord matches a line in which a person declines to answer, and declineMore a line that begins so.
var (
	declineWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(alone(":?declined?")) })
	declineMore = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*:?declined?\s*[:;,.!–—-]`) })
)

// declining returns the reading of a reply whose first line is the word decline; the reason is below it. The
// name of an option comes before this meaning of the word.
func declining(a askback.Ask, text string) (r reading, why rejection) {
	first, reason, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if why, ok := strings.CutPrefix(first, ":decline "); ok { // as at the terminal
		first, reason = ":decline", why+"\n"+reason
	}
	word, more := declineWord().MatchString(first), declineMore().MatchString(first)
	if !word && !more {
		return reading{}, ""
	}
	for _, q := range view.Of(a).Questions {
		found := q.Match(strings.Trim(strings.TrimSpace(first), ".!"))
		switch {
		case len(found) > 0 && len(a.Questions) == 1:
			return reading{}, "" // an option
		case word && (len(found) > 0 || q.Nearest(first) != ""):
			return reading{}, declineOrOption
		}
	}
	if !word {
		return reading{}, notADecline
	}
	return reading{declines: true, reason: strings.TrimSpace(withoutClosing("\n" + reason))}, ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
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
func answerTo(q askback.Question, shown view.Question, text string) (askback.QuestionAnswer, rejection) {
	text = strings.TrimSpace(text)
	out := askback.QuestionAnswer{ID: q.ID}
	if len(q.Options) == 0 {
		out.Other = text
		return out, ""
	}
	for _, attempt := range []string{text, strings.TrimSpace(withoutClosing(text))} {
		labels, why := options(q, attempt)
		switch {
		case why == twoMeanings:
			return out, why
		case why == "" && len(labels) > 1 && !q.MultiSelect:
			return out, tooMany
		case why == "":
			out.Selected = labels
			return out, ""
		}
	}
	return freeText(q, shown, text)
}

// freeText returns text as an answer in the person's own words. If the question does not allow own words, it
// returns a reason. It also returns a reason if text looks like an option with an error or an addition.
func freeText(q askback.Question, shown view.Question, text string) (askback.QuestionAnswer, rejection) {
	first, _, more := strings.Cut(text, "\n")
	if _, why := options(q, strings.TrimSpace(first)); more && why == "" {
		return askback.QuestionAnswer{}, moreThanLabel
	}
	switch {
	case q.NoOther || onlyNumbers().MatchString(text):
		return askback.QuestionAnswer{}, notAnOption
	case shown.Resembles(text), seemsOption(q, text), q.MultiSelect && severalWord().MatchString(text):
		return askback.QuestionAnswer{}, nearOption
	}
	return askback.QuestionAnswer{ID: q.ID, Other: text}, ""
}

// onlyNumbers matches text that consists of numbers. Such text always means numbers of options, even if no
// option has these numbers.
var onlyNumbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s\d,;.#]+$`) })

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
