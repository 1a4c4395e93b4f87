package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
)

// An input is a line that was typed as an answer, or the command :skip or :other.
type input struct {
	text   string
	skip   bool
	isText bool // whether text is the answer itself, even if it looks like an option
	lines  int  // number of lines that arrived together
}

var questionHelp = []string{
	":other TEXT    answers with TEXT, even if it looks like an option",
	":note TEXT     adds a note to this answer",
	":comment TEXT  adds a comment on the whole form",
	":skip          skips this question, if it is optional",
	":decline       declines to answer; :decline WHY gives a reason",
	"::TEXT         answers with :TEXT, a text that begins with a colon",
	":show          shows all rows, including the rows that were left out",
}

var approvalHelp = []string{
	"y or n         approves or denies exactly this call, once",
	"all            also approves the same call later; shows for how long, and asks again",
	"all tool       also approves any call of this tool; shows what that means, and asks again",
	"n REASON       denies it and gives a reason",
	":note TEXT     adds a reason before you decide",
	":show          shows all rows, including the rows that were left out",
	":decline       declines to decide; :decline WHY gives a reason",
}

var textTooLong = fmt.Sprintf("That text is longer than %d characters and was not accepted.", limits.MaxText)

// readInput reads lines and runs commands until a line is meant as an answer. It returns d.err
// when the dialog ends.
func (d *dialog) readInput(prompt string) (input, error) {
	for d.err == nil {
		d.writePrompt(prompt)
		line, tooLong := d.readLine()
		if lines := d.pastedLines(line); d.err == nil && !tooLong && len(lines) > 1 {
			if in, ok := d.takePasted(lines); ok {
				return in, nil
			}
			continue
		}
		command, argument, ok := parseCommand(line)
		problem := d.textProblem(argument)
		switch {
		case d.err != nil:
		case tooLong:
			d.reject(textTooLong)
		case problem != "":
			d.reject(problem)
		case !ok:
			return input{text: argument}, nil
		case command == "skip" && argument == "" && d.ask.Confirmation == nil:
			return input{skip: true}, nil
		case command == "other" && d.ask.Confirmation == nil:
			return input{text: argument, isText: true}, nil
		default:
			d.runCommand(command, argument)
		}
	}
	return input{}, d.err
}

// pastedLines returns the lines of a person that arrived together. For a pipe, it returns nil.
func (d *dialog) pastedLines(line string) []string {
	if !d.options.Human {
		return nil
	}
	return strings.Split(strings.TrimRight(line, lineBreak), lineBreak)
}

// takePasted returns several lines as one text. If the prompt is not for a text, it rejects all lines,
// because only the first line was typed for this prompt.
func (d *dialog) takePasted(lines []string) (in input, ok bool) {
	problem := d.textProblem(strings.Join(lines, " "))
	switch {
	case !d.takesText:
		d.reject(fmt.Sprintf("%d lines arrived together, and none of them was taken. Type one line, and press Enter.",
			len(lines)))
	case problem != "":
		d.reject(problem)
	default:
		return input{text: strings.TrimSpace(strings.Join(lines, "\n")), isText: true, lines: len(lines)}, true
	}
	return input{}, false
}

// readLine reads a line and moves the cursor to the start of a row. If there is no line, it sets d.err. If a
// line is longer than maxLine, it is not returned, and tooLong is true.
func (d *dialog) readLine() (line string, tooLong bool) {
	if d.err != nil {
		return "", false
	}
	line, err := d.lines.next(d.ctx, d.claim)
	if d.err = d.ctx.Err(); d.err != nil {
		return "", false // the prompt stays open, and Settled replaces it with the outcome
	}
	d.promptOpen = false
	tooLong = errors.Is(err, errLineTooLong)
	f := newFrame(d.options)
	switch {
	case err != nil && !tooLong, !d.options.Human: // no Enter was echoed
		f.b.WriteString("\n")
	case d.options.Style: // the Enter of a line typed ahead was echoed before the prompt
		f.erasePrompt()
	}
	d.draw(f)
	if d.err == nil && !tooLong {
		d.err = err
	}
	return line, tooLong
}

// parseCommand splits a command into its name and argument. If line is not a command, ok is
// false and argument is its text, without the first of two leading colons.
func parseCommand(line string) (command, argument string, ok bool) {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, ":")
	if !ok || strings.HasPrefix(rest, ":") {
		return "", rest, false
	}
	command, argument, _ = strings.Cut(rest, " ")
	return strings.ToLower(command), strings.TrimSpace(argument), true
}

// textProblem returns the reason why text cannot be accepted, or "".
func (d *dialog) textProblem(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "That line is not UTF-8 and was not accepted."
	case strings.Contains(text, notTextKey) && d.options.Human:
		return "Arrow keys and Esc do not work here; " + d.typeInstead() + ". The line was not accepted."
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return "That line contains control characters and was not accepted."
	case utf8.RuneCountInString(text) > limits.MaxText:
		return textTooLong
	}
	return ""
}

// typeInstead returns a hint what to type instead of pressing arrow keys.
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

// maxRejected is the maximum number of consecutive lines without an answer that a pipe may send. An endless
// input would otherwise cause endless output.
const maxRejected = 3

// reject explains why a line is not an answer, or shows help. It discards text that was typed ahead, because
// the next line of a pasted block is not an answer. A person can try any number of times, a pipe only
// [maxRejected] times.
func (d *dialog) reject(sentences ...string) {
	d.discardTyped()
	d.print(sentences...)
	if d.rejected++; !d.options.Human && d.rejected >= maxRejected {
		d.print(fmt.Sprintf("%d lines in a row had no answer. No more of this input is read.", maxRejected))
		d.err = cmp.Or(d.err, ErrNoInput)
	}
}

// runCommand runs a command other than :skip and :other. It rejects an unknown command.
func (d *dialog) runCommand(command, argument string) {
	confirm := d.ask.Confirmation != nil
	switch {
	case command == "help" && confirm:
		d.reject(approvalHelp...)
	case command == "help":
		d.reject(questionHelp...)
	case command == "show" && argument == "":
		d.showAll()
	case command == "decline":
		d.err = declined{argument}
	case command == "note":
		d.addText(&d.notes, argument, "Write the note after the command: :note TEXT")
	case command == "comment" && !confirm:
		d.addText(&d.comments, argument, "Write the comment after the command: :comment TEXT")
	case command == "skip" && !confirm:
		d.reject("Type :skip alone; it skips an optional question.")
	default:
		d.reject("Unknown command; :help lists the commands. To begin an answer with a colon, type two.")
	}
}

// addText appends a note or a comment to texts. If text is empty, or if all texts together are too long, it
// rejects the line. missing is the message for an empty text.
func (d *dialog) addText(texts *[]string, text, missing string) {
	switch {
	case text == "":
		d.reject(missing)
	case utf8.RuneCountInString(strings.Join(append(*texts, text), "\n")) > limits.MaxText:
		d.reject(textTooLong)
	default:
		*texts = append(*texts, text)
		d.print("Noted.")
	}
}
