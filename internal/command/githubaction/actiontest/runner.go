// Package actiontest runs the steps of a composite action as a runner of GitHub does, with its
// expressions, environment, files of outputs and workflow commands.
package actiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

// An Action is the content of an action.yml.
type Action struct {
	Inputs  map[string]Input  `yaml:"inputs"`
	Outputs map[string]Output `yaml:"outputs"`
	Runs    struct {
		Using string `yaml:"using"`
		Steps []Step `yaml:"steps"`
	} `yaml:"runs"`
	dir string
}

// An Input is an input of an action.
type Input struct {
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
}

// An Output is an output of an action.
type Output struct {
	Description string `yaml:"description"`
	Value       string `yaml:"value"`
}

// A Step is a step of an action, which runs a script with bash.
type Step struct {
	ID    string            `yaml:"id"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

// Read reads an action.yml. It returns an error that names the first part that this package cannot run.
func Read(path string) (*Action, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	a := &Action{dir: dir}
	if err := yaml.Unmarshal(raw, a); err != nil {
		return nil, err
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		return nil, errors.New("this is not a composite action")
	}
	for _, s := range a.Runs.Steps {
		if s.Shell != "bash" || s.ID == "" || s.Run == "" {
			return nil, fmt.Errorf("step %q does not run a script with bash", s.ID)
		}
	}
	return a, nil
}

// A Job is a use of the action: a step in a job of a run.
type Job struct {
	With    map[string]string // the inputs
	Env     map[string]string // the environment of the workflow
	Environ []string          // the environment of the runner; the last value of a name counts
	Dir     string            // the workspace
	Matrix  any               // nil if the job has no matrix
}

// A Result is the result of an action.
type Result struct {
	Failed   bool
	Outputs  map[string]string
	Log      string   // the log of all steps
	Commands []string // the workflow commands that were executed, such as "error" and "set-output"
}

// Run runs the steps until a step fails.
func (a *Action) Run(ctx context.Context, job Job) (Result, error) {
	at := contexts{
		"inputs": map[string]any{}, "env": map[string]any{}, "steps": map[string]any{}, "matrix": job.Matrix,
	}
	for name := range job.With {
		if _, ok := a.Inputs[name]; !ok {
			return Result{}, fmt.Errorf("the action has no input %q", name)
		}
	}
	for name, in := range a.Inputs {
		at["inputs"].(map[string]any)[name] = in.Default
		if value, ok := job.With[name]; ok {
			at["inputs"].(map[string]any)[name] = value
		}
	}
	for name, value := range job.Env {
		at["env"].(map[string]any)[name] = value
		job.Environ = append(job.Environ[:len(job.Environ):len(job.Environ)], name+"="+value)
	}
	res := Result{Outputs: map[string]string{}}
	for _, step := range a.Runs.Steps {
		outputs, err := a.step(ctx, job, step, at, &res)
		if err != nil {
			return Result{}, fmt.Errorf("step %s: %w", step.ID, err)
		}
		at["steps"].(map[string]any)[step.ID] = map[string]any{"outputs": outputs}
		if res.Failed {
			break
		}
	}
	for name, out := range a.Outputs {
		value, err := at.expand(out.Value)
		if err != nil {
			return Result{}, fmt.Errorf("output %s: %w", name, err)
		}
		res.Outputs[name] = value
	}
	return res, nil
}

// step runs one step and returns its outputs.
func (a *Action) step(ctx context.Context, job Job, step Step, at contexts, res *Result) (map[string]any, error) {
	if strings.Contains(step.Run, "${{") {
		return nil, errors.New("an expression in a script can run what it contains: use env")
	}
	temp, err := os.MkdirTemp("", "runner-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	file, script := filepath.Join(temp, "output"), filepath.Join(temp, "step.sh")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.WriteFile(script, []byte(step.Run), 0o600)); err != nil {
		return nil, err
	}
	// These are the options that the runner uses.
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir = job.Dir
	cmd.Env = append(job.Environ[:len(job.Environ):len(job.Environ)], "GITHUB_ACTION_PATH="+a.dir,
		"GITHUB_OUTPUT="+file)
	for name, text := range step.Env {
		value, err := at.expand(text)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", name, err)
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log // the runner reads commands from standard output and from standard error
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		res.Failed = true
	case err != nil:
		return nil, err
	}
	res.Log += log.String()
	res.Commands = append(res.Commands, Commands(log.String())...)
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return outputs(string(raw))
}

// outputs reads the file GITHUB_OUTPUT.
func outputs(text string) (map[string]any, error) {
	out := map[string]any{}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if line == "" {
			continue
		}
		name, value, plain := strings.Cut(line, "=")
		if before, delimiter, ok := strings.Cut(line, "<<"); ok && (!plain || len(before) < len(name)) {
			name, plain = before, true
			var found bool
			if value, text, found = cutDelimiter(text, delimiter); !found {
				return nil, fmt.Errorf("no delimiter %q after the output %q", delimiter, name)
			}
		}
		if !plain || name == "" {
			return nil, fmt.Errorf("line %q is not an output", line)
		}
		out[name] = value
	}
	return out, nil
}

// cutDelimiter returns the value before the line with the delimiter, and the text after that line. found
// reports whether there is such a line.
func cutDelimiter(text, delimiter string) (value, rest string, found bool) {
	if after, ok := strings.CutPrefix(text, delimiter+"\n"); ok {
		return "", after, true
	}
	return strings.Cut(text, "\n"+delimiter+"\n")
}

// commands are the workflow commands that a runner executes in a log.
var commands = regexp.MustCompile(`^(add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice|remove-matcher|save-state|set-env|set-output|stop-commands|warning)$`)

// Commands returns the names of the workflow commands that a runner executes in a log. A command is at the
// beginning of a line in the form ::name key=value::data. The older form ##[name key=value]data may be
// anywhere. Commands that are stopped are left out.
func Commands(log string) (executed []string) {
	stopped := ""
	for line := range strings.FieldsFuncSeq(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		name, value := command(line, stopped)
		switch {
		case stopped != "":
			if name == stopped {
				stopped = ""
			}
		case name == "stop-commands":
			stopped = value
		case commands.MatchString(name):
			executed = append(executed, name)
		}
	}
	return executed
}

var (
	newForm = regexp.MustCompile(`^\s*::([^ :]+)(?: .*?)?::(.*)$`)
	oldForm = regexp.MustCompile(`##\[([^ \]]+)[^\]]*\](.*)$`)
)

// command returns the name and the data of the command in a line. token is the name of the command that ends
// stopped commands, or "".
func command(line, token string) (name, value string) {
	if m := newForm.FindStringSubmatch(line); m != nil && (commands.MatchString(m[1]) || m[1] == token) {
		return m[1], m[2]
	}
	if m := oldForm.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// contexts are the values of expressions.
type contexts map[string]any

var expression = regexp.MustCompile(`\$\{\{(.*?)\}\}`)

// expand replaces the expressions in a text.
func (c contexts) expand(text string) (string, error) {
	var bad error
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		var value string
		for alternative := range strings.SplitSeq(e[3:len(e)-2], "||") {
			var err error
			if value, err = c.value(strings.TrimSpace(alternative)); err != nil {
				bad = errors.Join(bad, err)
			}
			if value != "" {
				break
			}
		}
		return value
	}), bad
}

// value returns the value of a name such as steps.ask.outputs.id, or of toJSON(matrix). Like a runner, it
// returns "" for a name that is not in its context.
func (c contexts) value(name string) (string, error) {
	if inner, ok := strings.CutPrefix(name, "toJSON("); ok {
		value, known := c[strings.TrimSuffix(inner, ")")]
		if !known {
			return "", fmt.Errorf("unknown context in %s", name)
		}
		raw, err := json.MarshalIndent(value, "", "  ")
		return string(raw), err
	}
	parts := strings.Split(name, ".")
	value, known := c[parts[0]]
	if !known {
		return "", fmt.Errorf("unknown context in %s", name)
	}
	for _, part := range parts[1:] {
		members, _ := value.(map[string]any)
		if value = members[part]; value == nil && parts[0] == "inputs" {
			return "", fmt.Errorf("unknown input in %s", name)
		}
	}
	text, _ := value.(string)
	return text, nil
}
