package acp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

// readQuestions reads a list of questions in the format that Claude Code introduced, with the names of fields
// of several agents. named has the key of each question, which is its id, its text or its index, and the ids
// of its options.
func readQuestions(list jcs.Value) (questions []askback.Question, named []namedQuestion, err error) {
	for i, v := range list.Elements() {
		q := askback.Question{
			Text: firstText(v, "question", "prompt"), Header: firstText(v, "header"),
			MultiSelect: firstBool(v, "multiSelect", "allowMultiple"),
		}
		if q.Text == "" {
			return nil, nil, errUnreadable
		}
		n := namedQuestion{index: i, id: firstText(v, "id"), ids: map[string]string{}}
		options, _ := v.Get("options")
		for _, o := range options.Elements() {
			label := firstText(o, "label")
			q.Options = append(q.Options, askback.Option{
				Label: label, Description: firstText(o, "description"), Preview: firstText(o, "preview"),
			})
			n.ids[label] = firstText(o, "id")
		}
		questions, named = append(questions, q), append(named, n)
	}
	if len(questions) == 0 {
		return nil, nil, errUnreadable
	}
	return questions, named, nil
}

// A namedQuestion has the agent's names of a question and of its options.
type namedQuestion struct {
	index int
	id    string
	ids   map[string]string // the ids of the options, keyed by label
}

// firstText returns the first of the members with these names that is a string, or "".
func firstText(v jcs.Value, names ...string) string {
	for _, name := range names {
		if text := jsonrpc2.StringOf(v, name); text != "" {
			return text
		}
	}
	return ""
}

// firstBool reports whether one of the members with these names is true.
func firstBool(v jcs.Value, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { m, _ := v.Get(name); return m.Bool() })
}

// askQuestions makes q ask the questions. reply returns the answer to the request, or false if it cannot
// express the answers of the person. The agent gets nothing else than answers: after any other outcome, the
// editor still asks.
func (q *question) askQuestions(questions []askback.Question, reply func([]compat.ClientAnswer) (any, bool)) error {
	r, err := askback.Request{Questions: questions}.Normalize()
	if err != nil {
		return err
	}
	q.ask.Questions = r.Questions
	client := make([]compat.ClientQuestion, len(questions))
	call := compat.NewCall(r, client, func(all []compat.ClientAnswer, ask askback.Ask) (any, error) {
		if err := compat.AnsweredOnly(ask); err != nil {
			return nil, err
		}
		if result, ok := reply(all); ok {
			return result, nil
		}
		return nil, errUnreadable
	})
	q.result = func(ask askback.Ask) (any, bool) {
		answer, err := call.Result(ask)
		return answer, err == nil
	}
	return nil
}

// The members of a permission with which Qwen Code asks questions.
const (
	qwenKind         = "qwenInteractionKind"
	qwenUserQuestion = "user_question"
)

// qwenQuestions returns the questions in a tool call of Qwen Code. It returns false for another tool call.
func qwenQuestions(tool jcs.Value) (list jcs.Value, ok bool) {
	meta, _ := tool.Get("_meta")
	if jsonrpc2.StringOf(meta, qwenKind) != qwenUserQuestion {
		return jcs.Value{}, false
	}
	list, _ = meta.Get("qwenQuestions")
	if len(list.Elements()) == 0 {
		input, _ := tool.Get("rawInput")
		list, _ = input.Get("questions")
	}
	return list, true
}

// readQwen reads the questions of Qwen Code. The answers are beside the outcome, keyed by the index of the
// question. They count only with the option that allows the call once.
func (q *question) readQwen(p, list jcs.Value) error {
	submit, _, ok := readOptions(p)
	if !ok {
		return errOptions
	}
	questions, named, err := readQuestions(list)
	if err != nil {
		return err
	}
	return q.askQuestions(questions, func(all []compat.ClientAnswer) (any, bool) {
		answers := map[string]string{}
		for i, a := range all {
			answers[strconv.Itoa(named[i].index)] = a.Line()
		}
		result := selected(submit)
		result["answers"] = answers
		return result, true
	})
}

// questionTools lists the names of tools whose permission is a question to the user in some agent, in lower
// case and without "_" and "-".
var questionTools = []string{
	"askuserquestion", "askuserquestions", "askuser", "askquestion", "askquestions", "askfollowupquestion",
	"requestuserinput", "userinput", "question", "elicit",
}

// isQuestion reports whether a permission is really a question to the user. If the format of its answer is
// unknown, an approval would answer nothing. tool is the tool call of the request, and shown has the members
// that people would see.
func isQuestion(tool jcs.Value, shown members) bool {
	meta, _ := tool.Get("_meta")
	if kind := jsonrpc2.StringOf(meta, qwenKind); kind != "" && kind != "permission" {
		return true
	}
	for _, name := range toolNames(tool, shown) {
		if slices.Contains(questionTools, strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))) {
			return true
		}
		if strings.HasPrefix(name, "mcp__") {
			return false // a tool of an MCP server asks after it is approved
		}
	}
	return asksInput(shown["rawInput"])
}

// toolNames returns the names of the tool that the agent sent, as far as they are known.
func toolNames(tool jcs.Value, shown members) (names []string) {
	meta, _ := tool.Get("_meta")
	claude, _ := meta.Get("claudeCode")
	// Gemini CLI makes the id of a call from the name of its tool.
	id, _, _ := strings.Cut(jsonrpc2.StringOf(tool, "toolCallId"), "-")
	for _, name := range []string{
		jsonrpc2.StringAt(shown["name"]), jsonrpc2.StringOf(meta, "toolName"), jsonrpc2.StringOf(claude, "toolName"),
		id, jsonrpc2.StringAt(shown["title"]),
	} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// asksInput reports whether the arguments of a call are questions to the user.
func asksInput(input json.RawMessage) bool {
	v, err := jcs.Parse(input)
	if err != nil {
		return false
	}
	hasOptions := func(v jcs.Value) bool {
		options, _ := v.Get("options")
		choices, _ := v.Get("choices")
		return firstText(v, "question", "prompt") != "" && (options.Kind == jcs.Array || choices.Kind == jcs.Array)
	}
	list, _ := v.Get("questions")
	return hasOptions(v) || slices.ContainsFunc(list.Elements(), func(q jcs.Value) bool {
		return hasOptions(q) || firstText(q, "question") != ""
	})
}
