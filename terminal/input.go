package terminal

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
)

// said is a line that is no command, or the command that stands for an answer.
type said struct {
	text string
	skip bool
	own  bool // text is the person's own words, whatever it looks like
}

var help = []string{
	":other TEXT    answers with TEXT, also where it looks like an option",
	":note TEXT     adds a note to this answer",
	":comment TEXT  adds a remark on everything asked here",
	":skip          leaves this open, where it is optional",
	":decline       says that you will not answer; :decline WHY also says why",
	"::text         is the text :text",
	":show          shows every row of what is folded",
}

var helpApproval = []string{
	"y or n         approves or denies exactly this call, this once",
	"all            also approves the same call later; says for how long, and asks again",
	"all tool       also approves any call of this tool; says what that is, and asks again",
	"n REASON       denies it and says why",
	":note TEXT     says why, before you decide",
	":show          shows every row of what is folded",
	":decline       says that you will decide neither; :decline WHY also says why",
}

var tooLong = fmt.Sprintf("That is longer than %d characters and was not taken.", askback.MaxText)

// hear reads lines and obeys commands until one is meant as an answer.
func (t *talk) hear(prompt string) (said, error) {
	for {
		if err := t.prompt(prompt); err != nil {
			return said{}, err
		}
		line, err := t.next()
		if err != nil && !errors.Is(err, errLong) {
			return said{}, err
		}
		command, argument, ok := parse(line)
		problem := t.check(argument)
		switch {
		case err != nil:
			err = t.refuse(tooLong)
		case problem != "":
			err = t.refuse(problem)
		case !ok:
			return said{text: argument}, nil
		case command == "skip" && argument == "" && t.ask.Confirmation == nil:
			return said{skip: true}, nil
		case command == "other" && t.ask.Confirmation == nil:
			return said{text: argument, own: true}, nil
		default:
			err = t.obey(command, argument)
		}
		if err != nil {
			return said{}, err
		}
	}
}

// next reads a line and sees to it that the cursor stands at the start of a row.
func (t *talk) next() (string, error) {
	line, err := t.lines.next(t.ctx, t.typing)
	if t.ctx.Err() != nil {
		return "", t.ctx.Err() // the prompt stays open, for Settled
	}
	t.open = false
	f := newFrame(t.options)
	switch {
	case err != nil && !errors.Is(err, errLong), !t.options.Human: // no Enter was echoed
		f.b.WriteString("\n")
	case t.options.Style: // the Enter of a line typed ahead was echoed before the prompt
		f.erase()
	}
	if err := f.writeTo(t.out); err != nil {
		return "", err
	}
	return line, err
}

// parse tells a command from text.
func parse(line string) (command, argument string, ok bool) {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, ":")
	if !ok || strings.HasPrefix(rest, ":") {
		return "", rest, false
	}
	command, argument, _ = strings.Cut(rest, " ")
	return strings.ToLower(command), strings.TrimSpace(argument), true
}

// check says what keeps a text from being what a person wrote.
func (t *talk) check(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "That line is not UTF-8 and was not taken."
	case strings.Contains(text, noText) && t.options.Human:
		return "Arrow keys and Esc do not work here; " + t.instead() + ". The line was not taken."
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return "That line has control characters in it and was not taken."
	case utf8.RuneCountInString(text) > askback.MaxText:
		return tooLong
	}
	return ""
}

// instead tells what to type where arrow keys were pressed.
func (t *talk) instead() string {
	switch {
	case t.ask.Confirmation != nil:
		return "type y or n"
	case len(t.current.Choices) == 0:
		return "type your answer"
	case t.current.Numbered():
		return "type a number"
	}
	return "type one of " + t.current.Keys()
}

// maxRefused is how many lines in a row may bring nothing where nobody sits: an input
// that never ends would fill the output for ever.
const maxRefused = 3

// refuse says what is wrong with a line, or helps, and throws away what was typed behind
// it: the next line of a pasted block is no answer. A person may need that any number of
// times; another input counts as ended after [maxRefused].
func (t *talk) refuse(sentences ...string) error {
	if err := t.discard(); err != nil {
		return err
	}
	if err := t.say(sentences...); err != nil {
		return err
	}
	if t.refused++; t.options.Human || t.refused < maxRefused {
		return nil
	}
	if err := t.say(fmt.Sprintf("Those were %d lines in a row without an answer. No more of this input is read.", maxRefused)); err != nil {
		return err
	}
	return ErrNoInput
}

func (t *talk) obey(command, argument string) error {
	confirm := t.ask.Confirmation != nil
	switch {
	case command == "help" && confirm:
		return t.refuse(helpApproval...)
	case command == "help":
		return t.refuse(help...)
	case command == "show" && argument == "":
		return t.showAll()
	case command == "decline":
		return declined{argument}
	case command == "note":
		return t.keep(&t.notes, argument, "Write the note behind it: :note TEXT")
	case command == "comment" && !confirm:
		return t.keep(&t.comment, argument, "Write the remark behind it: :comment TEXT")
	case command == "skip" && !confirm:
		return t.refuse("Write :skip alone, where a question is optional.")
	}
	return t.refuse("That is no command; :help lists them. Two colons begin a text that starts with one.")
}

// keep adds a text to those that go with the answer.
func (t *talk) keep(texts *[]string, text, missing string) error {
	switch {
	case text == "":
		return t.refuse(missing)
	case utf8.RuneCountInString(strings.Join(append(*texts, text), "\n")) > askback.MaxText:
		return t.refuse(tooLong)
	}
	*texts = append(*texts, text)
	return t.say("Noted.")
}
