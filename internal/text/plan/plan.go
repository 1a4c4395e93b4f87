// Package plan finds the plan in the arguments of a tool with which a coding agent asks for approval of its
// plan. People read a plan as text, and not as JSON.
package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// tools lists the names of the tools, in lower case and without separators: ExitPlanMode of Claude Code,
// exit_plan_mode of Qwen Code, Gemini CLI, Copilot and Grok, plan_exit of OpenCode, create_plan of Cursor.
var tools = []string{"exitplanmode", "planexit", "createplan", "presentplan", "submitplan", "proposeplan"}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// IsTool reports whether a tool asks for approval of a plan. It ignores case and separators.
func IsTool(name string) bool {
	return slices.Contains(tools, separators.Replace(strings.ToLower(name)))
}

// The members of the arguments with the text of a plan and with the path of its file. Claude Code, Qwen Code
// and Cursor send the plan, Copilot sends a summary, and Gemini CLI sends only a path.
var (
	texts = []string{"plan", "plan_text", "planText", "summary"}
	paths = []string{"planFilePath", "plan_file_path", "planPath", "plan_path", "plan_filename"}
)

// Text returns the plan in the arguments of a call, or "" if the call is not of such a tool, or has no plan.
func Text(tool string, arguments json.RawMessage) string {
	text, _ := Cut(tool, arguments)
	return text
}

// Cut returns the plan in the arguments of a call, and the object with the other arguments in their order. rest
// is nil if there are no other arguments. text is "" if the call is not of such a tool, or has no plan. It is
// also "" if a name occurs twice, because another program could read the other value.
func Cut(tool string, arguments json.RawMessage) (text string, rest json.RawMessage) {
	if !IsTool(tool) {
		return "", nil
	}
	all, ok := members(arguments)
	if !ok {
		return "", nil
	}
	at, text := find(all, texts)
	if at < 0 {
		return "", nil
	}
	var other [][]byte
	for _, m := range slices.Delete(slices.Clone(all), at, at+1) {
		name, _ := json.Marshal(m.name) // a string can always be encoded
		other = append(other, slices.Concat(name, []byte(":"), m.value))
	}
	if len(other) > 0 {
		rest = slices.Concat([]byte("{"), bytes.Join(other, []byte(",")), []byte("}"))
	}
	return text, rest
}

// Path returns the path of the file with the plan, from the arguments of a call, or "".
func Path(arguments json.RawMessage) string {
	all, _ := members(arguments)
	_, path := find(all, paths)
	return path
}

// A member is a member of an object.
type member struct {
	name  string
	value json.RawMessage
}

// maxMembers is the maximum number of arguments of a plan. Each name is compared with the others.
const maxMembers = 100

// members returns the members of an object, in order. It returns false for another value, for an object with more
// than maxMembers, and for an object with a name that occurs twice, in any letter case.
func members(object json.RawMessage) (all []member, ok bool) {
	if !json.Valid(object) || !utf8.Valid(object) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		m := member{}
		m.name, ok = name.(string)
		if err != nil || !ok || len(all) == maxMembers || d.Decode(&m.value) != nil ||
			slices.ContainsFunc(all, func(o member) bool { return strings.EqualFold(o.name, m.name) }) {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// find returns the first text that is not blank, from the members with the names, and its position. The
// position is -1 if there is no such text.
func find(all []member, names []string) (at int, text string) {
	for _, name := range names {
		at := slices.IndexFunc(all, func(m member) bool { return m.name == name })
		if at < 0 || json.Unmarshal(all[at].value, &text) != nil || strings.TrimSpace(text) == "" {
			continue
		}
		return at, text
	}
	return -1, ""
}

// Headline is the description of a plan that does not begin with a heading.
const Headline = "Approve the plan?"

// maxHeading is the maximum length of a heading that describes a plan, in characters.
const maxHeading = 150

// Heading returns the heading in Markdown with which a plan begins, or [Headline].
func Heading(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	heading := strings.TrimSpace(strings.Trim(line, "#"))
	if !strings.HasPrefix(line, "#") || heading == "" || utf8.RuneCountInString(heading) > maxHeading {
		return Headline
	}
	return heading
}
