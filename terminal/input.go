package terminal

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
)

// input is a line that a person typed as an answer, or the command :skip or :other.
type input struct {
	text   string
	skip   bool
	isText bool // text is the answer itself, even if it looks like an option
}

var questionHelp = []string{
	":other TEXT    answers with TEXT, even if it looks like an option",
	":note TEXT     adds a note to this answer",
	":comment TEXT  adds a comment on the whole form",
	":skip          skips this question, if it is optional",
	":decline       declines to answer; :decline WHY gives a reason",
	"::TEXT         answers with :TEXT",
	":show          shows all rows, also those that were left out",
}

var approvalHelp = []string{
	"y or n         approves or denies exactly this call, once",
	"all            also approves the same call later; shows for how long, and asks again",
	"all tool       also approves any call of this tool; shows what that means, and asks again",
	"n REASON       denies it and gives a reason",
	":note TEXT     adds a reason before you decide",
	":show          shows all rows, also those that were left out",
	":decline       declines to decide; :decline WHY gives a reason",
}

var tooLong = fmt.Sprintf("That text is longer than %d characters and was not accepted.", askback.MaxText)

// readInput reads lines and runs commands until a line is meant as an answer.
func (d *dialog) readInput(prompt string) (input, error) {
	for {
		if err := d.writePrompt(prompt); err != nil {
			return input{}, err
		}
		line, err := d.readLine()
		if err != nil && !errors.Is(err, errLineTooLong) {
			return input{}, err
		}
		command, argument, ok := parseCommand(line)
		problem := d.textProblem(argument)
		switch {
		case err != nil:
			err = d.reject(tooLong)
		case problem != "":
			err = d.reject(problem)
		case !ok:
			return input{text: argument}, nil
		case command == "skip" && argument == "" && d.ask.Confirmation == nil:
			return input{skip: true}, nil
		case command == "other" && d.ask.Confirmation == nil:
			return input{text: argument, isText: true}, nil
		default:
			err = d.runCommand(command, argument)
		}
		if err != nil {
			return input{}, err
		}
	}
}

// readLine reads a line and moves the cursor to the start of a row.
func (d *dialog) readLine() (string, error) {
	line, err := d.lines.next(d.ctx, d.claim)
	if d.ctx.Err() != nil {
		return "", d.ctx.Err() // Settled replaces the open prompt
	}
	d.promptOpen = false
	f := newFrame(d.options)
	switch {
	case err != nil && !errors.Is(err, errLineTooLong), !d.options.Human: // no Enter was echoed
		f.b.WriteString("\n")
	case d.options.Style: // the Enter of a line typed ahead was echoed before the prompt
		f.erasePrompt()
	}
	if err := f.writeTo(d.out); err != nil {
		return "", err
	}
	return line, err
}

// parseCommand splits a command into its name and argument. If line is not a command, it
// returns false, and the text as argument.
func parseCommand(line string) (command, argument string, ok bool) {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, ":")
	if !ok || strings.HasPrefix(rest, ":") {
		return "", rest, false
	}
	command, argument, _ = strings.Cut(rest, " ")
	return strings.ToLower(command), strings.TrimSpace(argument), true
}

// textProblem returns why a text cannot be accepted, or "".
func (d *dialog) textProblem(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "That line is not UTF-8 and was not accepted."
	case strings.Contains(text, notTextKey) && d.options.Human:
		return "Arrow keys and Esc do not work here; " + d.typeInstead() + ". The line was not accepted."
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return "That line contains control characters and was not accepted."
	case utf8.RuneCountInString(text) > askback.MaxText:
		return tooLong
	}
	return ""
}

// typeInstead returns what to type instead of pressing arrow keys.
func (d *dialog) typeInstead() string {
	switch {
	case d.ask.Confirmation != nil:
		return "type y or n"
	case len(d.current.Choices) == 0:
		return "type your answer"
	case d.current.Numbered():
		return "type a number"
	}
	return "type one of " + d.current.Keys()
}

// maxRejected is how many lines in a row a pipe may send without an answer. An endless input
// would otherwise cause endless output.
const maxRejected = 3

// reject explains why a line is not an answer, or shows help. It discards what was typed
// ahead: the next line of a pasted block is not an answer. A person can try any number of
// times, another input only [maxRejected] times.
func (d *dialog) reject(sentences ...string) error {
	if err := d.discard(); err != nil {
		return err
	}
	if err := d.print(sentences...); err != nil {
		return err
	}
	if d.rejected++; d.options.Human || d.rejected < maxRejected {
		return nil
	}
	if err := d.print(fmt.Sprintf("%d lines in a row had no answer. No more of this input is read.", maxRejected)); err != nil {
		return err
	}
	return ErrNoInput
}

// runCommand runs a command that is not an answer.
func (d *dialog) runCommand(command, argument string) error {
	confirm := d.ask.Confirmation != nil
	switch {
	case command == "help" && confirm:
		return d.reject(approvalHelp...)
	case command == "help":
		return d.reject(questionHelp...)
	case command == "show" && argument == "":
		return d.showAll()
	case command == "decline":
		return declined{argument}
	case command == "note":
		return d.addText(&d.notes, argument, "Write the note after the command: :note TEXT")
	case command == "comment" && !confirm:
		return d.addText(&d.comments, argument, "Write the comment after the command: :comment TEXT")
	case command == "skip" && !confirm:
		return d.reject("Type :skip without a text; it skips an optional question.")
	}
	return d.reject("Unknown command; :help lists the commands. To begin a text with a colon, type two.")
}

// addText adds a note or a comment to the answer. If text is empty, it shows missing.
func (d *dialog) addText(texts *[]string, text, missing string) error {
	switch {
	case text == "":
		return d.reject(missing)
	case utf8.RuneCountInString(strings.Join(append(*texts, text), "\n")) > askback.MaxText:
		return d.reject(tooLong)
	}
	*texts = append(*texts, text)
	return d.print("Noted.")
}
