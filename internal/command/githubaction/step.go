// Package githubaction reads the inputs of a step of a GitHub workflow that asks people, and writes its
// outputs and its log. Questions, answers and reasons come from others, and a runner executes commands that
// it finds in the log or in the file of outputs. The package is pure.
package githubaction

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/limits"
)

// Prefix is the prefix of the environment variables with inputs, as in INPUT_QUESTION.
const Prefix = "INPUT_"

// content lists the inputs that form the ask. The key of an ask depends on all these inputs.
var content = [...]string{
	"question", "options", "multiple", "other", "default", "action", "tool", "arguments", "edits",
	"quorum", "details", "to", "tags", "agent", "started-by", "timeout",
}

// Variable returns the environment variable of an input.
func Variable(input string) string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
}

// maxAttempts is the maximum number of attempts for a run. GitHub allows fifty re-runs.
const maxAttempts = 1000

// A Step is a step of a workflow that asks.
type Step struct {
	Request askback.Request // the request without its key
	Edits   bool            // the workflow runs arguments that a person edited
	Output  string          // the path of the file for outputs

	key     string // the key in the input; "" if it is computed
	base    string // the computed key
	attempt int    // the number of the attempt, from 1
}

// inputs reads inputs from the environment and collects their problems.
type inputs struct {
	env func(string) string
	bad []error
}

func (in *inputs) text(name string) string { return in.env(Variable(name)) }

// lines returns the lines of an input, without spaces around them and without empty lines.
func (in *inputs) lines(name string) (lines []string) {
	for line := range strings.Lines(in.text(name)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// names is like lines, but a comma also separates names.
func (in *inputs) names(name string) (names []string) {
	for _, line := range in.lines(name) {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); part != "" {
				names = append(names, part)
			}
		}
	}
	return names
}

func (in *inputs) wrong(name, format string, args ...any) {
	in.bad = append(in.bad, fmt.Errorf("input %s: %s", name, fmt.Sprintf(format, args...)))
}

// truth returns the value of an input that is true or false, or empty if the input is empty. Another value is
// a problem.
func (in *inputs) truth(name string, empty bool) bool {
	switch text := strings.TrimSpace(in.text(name)); text {
	case "":
		return empty
	case "true", "false":
		return text == "true"
	}
	in.wrong(name, "write true or false")
	return empty
}

// only adds a problem for each input in others that is not empty, because an ask of this kind cannot have it.
func (in *inputs) only(kind string, others ...string) {
	for _, name := range others {
		if strings.TrimSpace(in.text(name)) != "" {
			in.wrong(name, "it cannot be combined with %s; leave it out", kind)
		}
	}
}

// Read returns the step that an environment describes. Its error lists every problem.
func Read(env func(string) string) (Step, error) {
	in := &inputs{env: env}
	s := Step{Output: env("GITHUB_OUTPUT"), key: strings.TrimSpace(in.text("key")), attempt: 1}
	if s.Output == "" {
		in.bad = append(in.bad, errors.New("GITHUB_OUTPUT is not set: this command is for a step of a GitHub "+
			"workflow; use askback ask or askback confirm elsewhere"))
	}
	s.Request = in.request()
	s.Edits = s.Request.Confirmation != nil && !s.Request.Confirmation.NoEdit
	in.address(&s.Request)
	s.base = in.base()
	switch {
	case s.key != "":
	case env("GITHUB_RUN_ID") == "":
		in.bad = append(in.bad, errors.New("GITHUB_RUN_ID is not set: set the input key"))
	case env("GITHUB_RUN_ATTEMPT") != "":
		n, err := strconv.Atoi(env("GITHUB_RUN_ATTEMPT"))
		if err != nil || n < 1 || n > maxAttempts {
			in.bad = append(in.bad, fmt.Errorf("GITHUB_RUN_ATTEMPT is not a number from 1 to %d", maxAttempts))
		}
		s.attempt = n
	}
	return s, errors.Join(in.bad...)
}

// request returns the question or the confirmation of the inputs.
func (in *inputs) request() (r askback.Request) {
	kinds := slices.DeleteFunc([]string{"question", "action", "tool"}, func(name string) bool {
		return strings.TrimSpace(in.text(name)) == ""
	})
	if len(kinds) != 1 {
		in.bad = append(in.bad, errors.New("write one of the inputs question, action and tool"))
		return r
	}
	switch kinds[0] {
	case "question":
		in.only("question", "arguments", "edits", "quorum")
		q := askback.Question{
			Text: in.text("question"), Options: askback.Options(in.lines("options")...),
			MultiSelect: in.truth("multiple", false), NoOther: !in.truth("other", true), Default: in.lines("default"),
		}
		r = askback.Request{Questions: []askback.Question{q}}
		if len(q.Default) > 0 {
			r.OnTimeout = askback.OnTimeoutDefault
			if strings.TrimSpace(in.text("timeout")) == "" {
				in.wrong("default", "it applies only after a timeout; set timeout, too")
			}
		}
		return r
	case "action":
		in.only("action", "options", "multiple", "other", "default", "arguments", "edits")
		r = asktool.Action(in.text("action"), in.text("details"))
		r.Confirmation.NoEdit = true
	default:
		in.only("tool", "options", "multiple", "other", "default")
		r.Confirmation = &askback.Confirmation{
			ToolName: strings.TrimSpace(in.text("tool")), Input: in.arguments(), NoEdit: !in.truth("edits", false),
		}
	}
	if text := strings.TrimSpace(in.text("quorum")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			in.wrong("quorum", "write a number of people, such as 2")
		}
		r.Quorum = n
	}
	return r
}

// arguments returns the arguments of a call, which must be a JSON object.
func (in *inputs) arguments() json.RawMessage {
	text := strings.TrimSpace(in.text("arguments"))
	if text == "" {
		return json.RawMessage("{}")
	}
	if !json.Valid([]byte(text)) || text[0] != '{' {
		in.wrong("arguments", `write a JSON object, such as {"version": "1.4.0"}`)
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// address sets the members that both kinds of asks have: the recipients, and the place that the ask comes
// from.
func (in *inputs) address(r *askback.Request) {
	r.To, r.Tags = in.names("to"), in.names("tags")
	r.StartedBy = strings.TrimSpace(in.text("started-by"))
	repository := in.env("GITHUB_REPOSITORY")
	if r.Agent = strings.TrimSpace(in.text("agent")); r.Agent == "" {
		r.Agent = cut(strings.TrimSuffix("github · "+repository, " · "), limits.MaxName)
	}
	if workflow := in.env("GITHUB_WORKFLOW"); workflow != "" {
		r.Title = cut(strings.TrimSpace(workflow+" "+prefixed("#", in.env("GITHUB_RUN_NUMBER"))), limits.MaxName)
	}
	if run := in.env("GITHUB_RUN_ID"); run != "" {
		r.SessionKey = cut("github/"+repository+"/"+run, limits.MaxKey)
	}
	if text := strings.TrimSpace(in.text("timeout")); text != "" {
		d, err := askback.ParseDuration(text)
		if err != nil || d == 0 {
			in.wrong("timeout", "write a time such as 90s, 10m, 2h or 7d")
		}
		r.Timeout = d
	}
	context := in.text("details")
	if origin := in.origin(); origin != "" {
		context = strings.TrimLeft(context+"\n\n"+origin, "\n")
	}
	switch {
	case r.Confirmation != nil:
		r.Confirmation.Context = context
	case context != "":
		r.Context, _ = json.Marshal(context)
	}
}

// origin returns lines about the run that the ask comes from, or "". The lines are the same in every attempt
// of a run.
func (in *inputs) origin() string {
	server, repository, run := in.env("GITHUB_SERVER_URL"), in.env("GITHUB_REPOSITORY"), in.env("GITHUB_RUN_ID")
	if server == "" || repository == "" || run == "" {
		return ""
	}
	text := "Run: " + server + "/" + repository + "/actions/runs/" + run
	if actor := in.env("GITHUB_ACTOR"); actor != "" {
		text += "\nStarted by: " + actor
	}
	if ref := in.env("GITHUB_REF_NAME"); ref != "" {
		text += "\nCommit: " + strings.TrimSpace(in.env("GITHUB_SHA")+" "+ref)
	}
	return text
}

// base returns the key of the ask in the first attempt of a run. It depends on the run, the
// job with its matrix, the step, and the content of the ask.
func (in *inputs) base() string {
	parts := []string{
		in.env("GITHUB_SERVER_URL"), in.env("GITHUB_REPOSITORY"), in.env("GITHUB_RUN_ID"),
		in.env("GITHUB_JOB"), in.env("ASKBACK_MATRIX"), in.env("GITHUB_ACTION"),
	}
	for _, name := range content {
		parts = append(parts, in.text(name))
	}
	raw, _ := json.Marshal(parts) // strings can always be encoded
	sum := sha256.Sum256(raw)
	return "github/" + in.env("GITHUB_RUN_ID") + "/" + hex.EncodeToString(sum[:16])
}

// Keys returns the keys of the asks that the step may use, in order. These are the key in the input, or a key
// for each attempt of the run so far. The ask of an earlier attempt counts unless it is [Spent].
func (s Step) Keys() []string {
	if s.key != "" {
		return []string{s.key}
	}
	keys := []string{s.base}
	for n := 2; n <= s.attempt; n++ {
		keys = append(keys, s.base+"/"+strconv.Itoa(n))
	}
	return keys
}

// Spent reports whether the ask of an earlier attempt cannot be used by this attempt. This is the case if the
// approval of the ask was used, or if the ask was cancelled or expired without a default.
func Spent(a askback.Ask) bool {
	switch {
	case !a.Settled():
		return false
	case a.Outcome.Status == askback.Expired:
		return !a.Outcome.Defaulted
	}
	return a.Outcome.Status == askback.Cancelled || !a.ConsumedAt.IsZero()
}

// prefixed returns prefix and text, or "" if text is "".
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// cut returns the first n characters of a text.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}
