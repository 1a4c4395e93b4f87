package githubaction

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// An Output is one output of the step.
type Output struct{ Name, Value string }

// Located returns the outputs of an ask without its outcome. A step that fails after it has created its ask
// has these outputs, so that no workflow takes the ask for approved.
func Located(a askback.Ask, page string) []Output {
	return []Output{{"id", a.ID}, {"url", page}}
}

// Outputs returns the outputs of a settled ask. An approval must have been consumed.
func Outputs(a askback.Ask, page string) ([]Output, error) {
	o := a.Outcome
	outcome, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	out := append(Located(a, page), []Output{
		{"status", string(o.Status)},
		{"comment", o.Comment},
		{"reason", o.Reason},
		{"by", o.Actor.Name},
		{"outcome", string(outcome)},
	}...)
	switch {
	case a.Kind == askback.Confirm && o.Approved():
		arguments := a.Confirmation.Input
		if len(o.Input) > 0 {
			arguments = o.Input
		}
		out = append(out, Output{"decision", string(askback.Approve)}, Output{"arguments", string(arguments)})
	case a.Kind == askback.Confirm:
		out = append(out, Output{"decision", string(o.Decision)})
	case len(o.Answers) > 0:
		out = append(out, Output{"answer", strings.Join(o.Answers[0].Values(), "\n")})
	}
	return out, nil
}

// WriteOutputs writes outputs in the format of the file GITHUB_OUTPUT. The delimiter must be
// random: a value that contains it could set other outputs.
func WriteOutputs(w io.Writer, outputs []Output, delimiter string) error {
	var b strings.Builder
	for _, o := range outputs {
		if strings.Contains(o.Value, delimiter) {
			return fmt.Errorf("output %s contains the delimiter", o.Name)
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.Name, delimiter, o.Value, delimiter)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A Log writes lines in which a runner finds no commands. Between NewLog and Close, commands are stopped. In
// addition, no line begins like a command.
type Log struct {
	w     io.Writer
	token string
}

// NewLog begins a log. The token marks the end of the log, and must be random.
func NewLog(w io.Writer, token string) *Log {
	_, _ = fmt.Fprintf(w, "::stop-commands::%s\n", token)
	return &Log{w, token}
}

// Write writes one line for each line of text. It never fails, because the step must not depend on its log.
func (l *Log) Write(text []byte) (int, error) {
	for line := range strings.SplitSeq(strings.TrimRight(string(text), "\n"), "\n") {
		line = strings.ReplaceAll(safetext.Line(line).String(), "##[", "## [")
		line = strings.ReplaceAll(line, l.token, "…")
		if !strings.HasPrefix(line, "askback: ") {
			line = "  " + "| " + line
		}
		_, _ = fmt.Fprintln(l.w, line)
	}
	return len(text), nil
}

// Close ends the log. If problem is not "", it appears on the page of the run.
func (l *Log) Close(problem string) {
	_, _ = fmt.Fprintf(l.w, "::%s::\n", l.token)
	if problem != "" {
		_, _ = fmt.Fprintf(l.w, "::error title=Askback::%s\n", data(problem))
	}
}

// data encodes the text of a workflow command.
func data(text string) string {
	text = safetext.Block(text).String()
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}
