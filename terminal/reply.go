package terminal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A reply is the meaning of a line as an answer to a question.
type reply struct {
	choices      []int
	ownText      string // an answer that is not one of the options
	useDefault   bool   // whether the answer is the default
	needsOwnText bool   // whether "Other" was chosen, so that its text is in the next line
	problem      string // reason why the line is not an answer
	help         bool   // whether the line asks for help

	needsConfirmation bool   // whether ownText may be a mistake
	resemblesChoice   bool   // whether ownText looks like a choice
	nearest           string // key of that choice
}

func (r reply) answer(q view.Question) askback.QuestionAnswer {
	if r.useDefault {
		return q.DefaultAnswer()
	}
	return q.Pick(r.choices, r.ownText)
}

// hint returns sentences about the lines that can answer q.
func hint(q view.Question) string {
	what, marked := "Write your answer", "the default"
	if len(q.Choices) > 0 {
		what, marked = "Type one of "+q.Keys(), "what is marked *"
		if q.Multi {
			what = "Type one or more of " + q.Keys() + ", separated by commas"
		}
	}
	if q.OtherKey != "" {
		what += ", or your own words"
	}
	switch {
	case q.HasDefault:
		what += ". Enter alone chooses " + marked
	case q.Optional:
		what += ". Enter alone skips it"
	}
	return what + ". :help shows more."
}

// parseReply returns the meaning of a line as an answer to q. If the line is ambiguous or not an answer, the
// reply has a problem or asks for help.
func parseReply(q view.Question, line input) reply {
	switch {
	case line.skip && q.Optional:
		return reply{}
	case line.skip:
		return reply{problem: "This question cannot be skipped; :decline declines to answer."}
	case line.text != "" || line.isText:
	case q.HasDefault:
		return reply{useDefault: true}
	case q.Optional:
		return reply{}
	default:
		return reply{problem: "An empty line is not an answer here. " + hint(q)}
	}
	if problem := q.Problem(line.text); problem != "" {
		return reply{problem: problem}
	}
	if line.lines > 1 {
		return reply{ownText: line.text, needsConfirmation: true}
	}
	if line.isText {
		return ownTextReply(q, line.text)
	}
	if len(q.Choices) == 0 {
		return reply{ownText: line.text, needsConfirmation: view.IsHelpOrQuit(line.text)}
	}
	if found := q.Match(line.text); len(found) > 0 {
		return matchedReply(q, found)
	}
	parts := splitParts(q, line.text)
	if q.Multi {
		return parseMulti(q, line.text, parts)
	}
	if allKeys(q, parts) && len(parts) > 1 {
		return reply{problem: "This question takes one answer. " + hint(q)}
	}
	return unmatchedReply(q, line.text)
}

// matchedReply returns the reply for words that match the choices with these indexes.
func matchedReply(q view.Question, found []int) reply {
	switch {
	case len(found) > 1:
		return reply{problem: "More than one label matches. Type the key in front of it, " + q.Keys() + "."}
	case found[0] == len(q.Choices):
		return reply{needsOwnText: true}
	}
	return reply{choices: found}
}

// unmatchedReply returns the reply for words that are neither a label nor a key.
func unmatchedReply(q view.Question, words string) reply {
	switch {
	case q.LooksLikeKey(words) && q.OtherKey != "":
		return reply{problem: "There is no option " + words + ". To answer with that text, choose " + q.OtherKey + "."}
	case q.LooksLikeKey(words):
		return reply{problem: "There is no option " + words + ". " + hint(q)}
	case view.IsHelp(words):
		return reply{help: true}
	case view.IsHelpOrQuit(words):
		return reply{problem: howToLeave + sendExactly(q)}
	case view.IsAllOrNone(words):
		return reply{problem: allOrNone(q) + sendExactly(q)}
	}
	nearest := q.Nearest(words)
	switch {
	case !q.AllowsOther() && nearest != "":
		return reply{problem: "That is not one of the options; the nearest is " + nearest + ". " + hint(q)}
	case !q.AllowsOther():
		return reply{problem: "That is not one of the options. " + hint(q)}
	}
	return reply{ownText: words, needsConfirmation: true, resemblesChoice: q.Resembles(words), nearest: nearest}
}

const howToLeave = "To leave the question open, press Ctrl+C; :decline ends it without an answer."

// allOrNone returns the reason why a word for all choices or for no choice is not an answer.
func allOrNone(q view.Question) string {
	switch {
	case q.Optional:
		return "Enter alone chooses none of them."
	case q.Multi:
		return "Choose at least one; :decline ends the question without an answer."
	}
	return "This question takes one answer; :decline ends it without one."
}

// sendExactly returns a hint how to send a word that has another meaning.
func sendExactly(q view.Question) string {
	if !q.AllowsOther() {
		return " " + hint(q)
	}
	return " To answer with that word, type :other and the word."
}

// ownTextReply returns the reply for words that were typed after :other.
func ownTextReply(q view.Question, words string) reply {
	switch {
	case !q.AllowsOther():
		return reply{problem: "Only the options are accepted here. " + hint(q)}
	case words == "":
		return reply{needsOwnText: true}
	}
	return reply{ownText: words}
}

// notAnOption returns the reason why a line was not accepted, for a program.
func (r reply) notAnOption() string {
	if r.nearest == "" {
		return "That is not an option, but looks like one. It was not accepted. To send it as your own words, write " +
			":other before it."
	}
	return "That is not an option; the nearest is " + r.nearest +
		". It was not accepted. To send it as your own words, write :other before it."
}

// splitParts splits a line at its commas. If the keys are numbers, "1 3" is split like
// "1,3".
func splitParts(q view.Question, line string) []string {
	if fields := strings.Fields(line); q.Numbered() && len(fields) > 1 && allKeys(q, fields) {
		return fields
	}
	return strings.Split(line, ",")
}

// allKeys reports whether all parts look like keys.
func allKeys(q view.Question, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !q.LooksLikeKey(part) })
}

// parseMulti parses choices and own text, separated by commas. It also accepts choices in
// other forms, such as "eu and us", if the line has no own text.
func parseMulti(q view.Question, line string, parts []string) reply {
	r := parseParts(q, parts)
	if r.problem == "" && r.ownText == "" && !r.help {
		return r
	}
	if choices := q.MatchList(line); choices != nil {
		return reply{choices: choices}
	}
	return r
}

// parseParts parses choices and own text, separated by commas.
func parseParts(q view.Question, parts []string) reply {
	var all reply
	var own []string
	afterOwn := false // whether the previous part was own text, which this part then continues after a comma
	for len(parts) > 0 {
		found, n := matchLongest(q, parts)
		part := strings.Join(parts[:n], ",")
		parts = parts[n:]
		words := strings.TrimSpace(part)
		r := unmatchedReply(q, words)
		switch {
		case len(found) > 0:
			r = matchedReply(q, found)
		case words == "":
			continue
		case afterOwn && r.problem == "":
			own[len(own)-1] += "," + part
		case r.problem == "":
			own = append(own, part)
		}
		if r.problem != "" || r.help {
			return r
		}
		if r.needsConfirmation {
			all.needsConfirmation, all.resemblesChoice = true, all.resemblesChoice || r.resemblesChoice
			all.nearest = cmp.Or(all.nearest, r.nearest)
		}
		afterOwn = len(found) == 0
		all.choices = append(all.choices, r.choices...)
		all.needsOwnText = all.needsOwnText || r.needsOwnText
	}
	for i := range own {
		own[i] = strings.TrimSpace(own[i])
	}
	all.ownText = strings.Join(own, ", ")
	switch {
	case all.needsOwnText && all.ownText != "":
		all.problem = "Write your own words once: here, or after " + q.OtherKey + "."
	case len(all.choices) == 0 && all.ownText == "" && !all.needsOwnText:
		all.problem = "An empty line is not an answer here. " + hint(q)
	}
	return all
}

// matchLongest returns the choices that match as many of the first parts as possible, joined by commas. It
// also returns the number of these parts. A label may contain commas.
func matchLongest(q view.Question, parts []string) (found []int, n int) {
	n = 1
	for _, c := range q.Choices {
		n = max(n, 1+strings.Count(c.Label.String(), ","))
	}
	for n = min(n, len(parts)); n > 1; n-- {
		if found = q.Match(strings.Join(parts[:n], ",")); len(found) > 0 {
			return found, n
		}
	}
	return q.Match(parts[0]), 1
}
