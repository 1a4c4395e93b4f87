package terminal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
)

// A reading is what a line means as an answer to a question.
type reading struct {
	choices  []int
	own      string // words of the person's own
	standard bool   // the default, whatever it is
	wantsOwn bool   // "Other" was picked: its words come next
	problem  string // or: what is wrong with the line
	help     bool   // or: the line asks for help

	unsure    bool   // own is no choice, and was not said to be own words
	resembles bool   // own looks like a choice
	nearest   string // the key of the choice it looks like
}

func (r reading) answer(q view.Question) askback.QuestionAnswer {
	if r.standard {
		return q.DefaultAnswer()
	}
	return q.Pick(r.choices, r.own)
}

// hint says what may be typed.
func hint(q view.Question) string {
	var what string
	switch {
	case len(q.Choices) == 0:
		what = "Write your answer."
	case q.Multi:
		what = "Type one or more of " + q.Keys() + ", with commas between them"
	default:
		what = "Type one of " + q.Keys()
	}
	if len(q.Choices) > 0 {
		if q.OtherKey != "" {
			what += ", or your own words"
		}
		what += "."
	}
	switch {
	case q.HasDefault && len(q.Choices) == 0:
		what += " Enter alone takes the default."
	case q.HasDefault:
		what += " Enter alone takes what is marked *."
	case q.Optional:
		what += " Enter alone skips it."
	}
	return what + " :help shows more."
}

// read finds the meaning of a line. Where it could have two, it asks again.
func read(q view.Question, line said) reading {
	switch {
	case line.skip && q.Optional:
		return reading{}
	case line.skip:
		return reading{problem: "This question cannot be skipped; :decline says that you will not answer."}
	case line.text != "" || line.own:
	case q.HasDefault:
		return reading{standard: true}
	case q.Optional:
		return reading{}
	default:
		return reading{problem: "An empty line is not an answer here. " + hint(q)}
	}
	if line.own {
		return ownWords(q, line.text)
	}
	if len(q.Choices) == 0 {
		return reading{own: line.text, unsure: view.IsHelpOrQuit(line.text)}
	}
	if found := q.Match(line.text); len(found) > 0 {
		return picked(q, found)
	}
	parts := split(q, line.text)
	if q.Multi {
		return listed(q, line.text, parts)
	}
	if keys(q, parts) && len(parts) > 1 {
		return reading{problem: "This question has one answer. " + hint(q)}
	}
	return unmatched(q, line.text)
}

// picked is the meaning of what matched.
func picked(q view.Question, found []int) reading {
	switch {
	case len(found) > 1:
		return reading{problem: "More than one label looks like that. Type the key that stands before it, " + q.Keys() + "."}
	case found[0] == len(q.Choices):
		return reading{wantsOwn: true}
	}
	return reading{choices: found}
}

// unmatched is the meaning of words that are neither label nor key.
func unmatched(q view.Question, words string) reading {
	switch {
	case q.LooksLikeKey(words) && q.OtherKey != "":
		return reading{problem: "There is no choice " + words + ". For these very words, choose " + q.OtherKey + "."}
	case q.LooksLikeKey(words):
		return reading{problem: "There is no choice " + words + ". " + hint(q)}
	case view.IsHelp(words):
		return reading{help: true}
	case view.IsHelpOrQuit(words):
		return reading{problem: leaving + exactly(q)}
	case view.IsAllOrNone(words):
		return reading{problem: listing(q) + exactly(q)}
	}
	nearest := q.Nearest(words)
	switch {
	case !q.AllowsOther() && nearest != "":
		return reading{problem: "That is none of the choices; the nearest is " + nearest + ". " + hint(q)}
	case !q.AllowsOther():
		return reading{problem: "That is none of the choices. " + hint(q)}
	}
	return reading{own: words, unsure: true, resembles: q.Resembles(words), nearest: nearest}
}

const leaving = "To leave the question open, press Ctrl+C; :decline ends it without an answer."

// listing answers a word for all or none of the choices where it has no meaning.
func listing(q view.Question) string {
	switch {
	case q.Optional:
		return "Enter alone chooses none of them."
	case q.Multi:
		return "Choose at least one; :decline ends the question without an answer."
	}
	return "This question has one answer; :decline ends it without one."
}

// exactly tells how to send a word that is understood as something else.
func exactly(q view.Question) string {
	if !q.AllowsOther() {
		return " " + hint(q)
	}
	return " To answer with that very word, type :other and the word."
}

// ownWords is the meaning of words that were said to be the person's own.
func ownWords(q view.Question, words string) reading {
	switch {
	case !q.AllowsOther():
		return reading{problem: "Only the choices count here. " + hint(q)}
	case words == "":
		return reading{wantsOwn: true}
	}
	return reading{own: words}
}

// notAnOption tells a program why its line was not taken.
func (r reading) notAnOption() string {
	if r.nearest == "" {
		return "That is not an option, but it looks like one, and was not taken. To send it as own words, write :other before it."
	}
	return "That is not an option; the nearest is " + r.nearest + ". It was not taken. To send it as own words, write :other before it."
}

// split cuts a line at its commas. "1 3" is read as "1,3".
func split(q view.Question, line string) []string {
	if fields := strings.Fields(line); q.Numbered() && len(fields) > 1 && keys(q, fields) {
		return fields
	}
	return strings.Split(line, ",")
}

// keys says whether all parts look like keys.
func keys(q view.Question, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !q.LooksLikeKey(part) })
}

// listed reads a line of a question with several answers: choices with commas between
// them, or in any other way that leaves no word over.
func listed(q view.Question, line string, parts []string) reading {
	r := several(q, parts)
	if r.problem == "" && r.own == "" && !r.help {
		return r
	}
	if choices := q.MatchList(line); choices != nil {
		return reading{choices: choices}
	}
	return r
}

// several reads choices and own words with commas between them.
func several(q view.Question, parts []string) reading {
	var all reading
	var own []string
	beside := false // the part before was the person's own too: a comma between them is theirs
	for len(parts) > 0 {
		found, n := longest(q, parts)
		part := strings.Join(parts[:n], ",")
		parts = parts[n:]
		words := strings.TrimSpace(part)
		r := unmatched(q, words)
		switch {
		case len(found) > 0:
			r = picked(q, found)
		case words == "":
			continue
		case beside && r.problem == "":
			own[len(own)-1] += "," + part
		case r.problem == "":
			own = append(own, part)
		}
		if r.problem != "" || r.help {
			return r
		}
		if r.unsure {
			all.unsure, all.resembles = true, all.resembles || r.resembles
			all.nearest = cmp.Or(all.nearest, r.nearest)
		}
		beside = len(found) == 0
		all.choices = append(all.choices, r.choices...)
		all.wantsOwn = all.wantsOwn || r.wantsOwn
	}
	for i := range own {
		own[i] = strings.TrimSpace(own[i])
	}
	all.own = strings.Join(own, ", ")
	switch {
	case all.wantsOwn && all.own != "":
		all.problem = "Write your own words once: here, or after " + q.OtherKey + "."
	case len(all.choices) == 0 && all.own == "" && !all.wantsOwn:
		all.problem = "An empty line is not an answer here. " + hint(q)
	}
	return all
}

// longest finds the longest run of parts that is one label: a label may have commas.
func longest(q view.Question, parts []string) (found []int, n int) {
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
