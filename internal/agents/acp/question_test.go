package acp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
)

// starts starts a session in which the agent sends a request, and returns the ask about the request.
func (f *fixture) starts(messages ...string) askback.Ask {
	f.t.Helper()
	f.begins(messages...)
	return f.next()
}

// begins starts a session in which the agent sends messages.
func (f *fixture) begins(messages ...string) {
	f.t.Helper()
	f.editor.writes(initialize, newSession, prompt)
	f.agent.expects(initialize, newSession, prompt)
	f.agent.writes(append([]string{initialized, opened}, messages...)...)
	f.editor.expects(append([]string{initialized, opened}, messages...)...)
}

// noted requires that the next note contains each text.
func (f *fixture) noted(want ...string) {
	f.t.Helper()
	select {
	case got := <-f.notes:
		for _, w := range want {
			if !strings.Contains(got, w) {
				f.t.Errorf("got the note %q, want %q in it", got, w)
			}
		}
	case <-time.After(patience):
		f.t.Fatalf("there was no note, want %q", want)
	}
}

// unasked requires that people were not asked anything.
func (f *fixture) unasked() {
	f.t.Helper()
	f.proxy.Close()
	if asks := f.instance.Asks(); len(asks) != 0 {
		f.t.Errorf("there are %d asks, want none: %+v", len(asks), asks[0])
	}
}

const (
	prompt = `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`
	form   = `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"mode":"form","sessionId":"s","message":"Where to?","requestedSchema":{"type":"object","properties":{"region":{"type":"string","title":"Region","enum":["eu","us"]}},"required":["region"]}}}`

	// as Qwen Code 0.24.4 sends it
	qwen = `{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"proceed_once","name":"Submit","kind":"allow_once"},{"optionId":"cancel","name":"Cancel","kind":"reject_once"}],"toolCall":{"toolCallId":"call-1","status":"pending","title":"Ask user 2 questions","content":[],"locations":[],"kind":"think","rawInput":{},"_meta":{"toolName":"ask_user_question","qwenInteractionKind":"user_question","qwenQuestions":[{"question":"Which database?","header":"DB","options":[{"label":"SQLite","description":"One file"},{"label":"PostgreSQL","description":"A server"}],"multiSelect":false},{"question":"Which regions?","header":"Region","options":[{"label":"eu","description":""},{"label":"us","description":""}],"multiSelect":true}]}}}}`

	cursorQuestion = `{"jsonrpc":"2.0","id":2,"method":"cursor/ask_question","params":{"toolCallId":"c","title":"Storage","questions":[{"id":"db","prompt":"Which database?","options":[{"id":"a","label":"SQLite"},{"id":"b","label":"PostgreSQL"}],"allowMultiple":false},{"id":"where","prompt":"Which regions?","options":[{"id":"e","label":"eu"},{"id":"u","label":"us"}],"allowMultiple":true}]}}`
	cursorPlan     = `{"jsonrpc":"2.0","id":2,"method":"cursor/create_plan","params":{"toolCallId":"c","name":"Move","overview":"Move the users","plan":"# Plan\n1. copy","todos":[{"id":"1","content":"copy","status":"pending"}]}}`

	grokQuestion = `{"jsonrpc":"2.0","id":2,"method":"_x.ai/ask_user_question","params":{"sessionId":"s","toolCallId":"c","mode":"default","questions":[{"question":"Which database?","options":[{"label":"SQLite","description":"One file"},{"label":"PostgreSQL"}],"multiSelect":null},{"question":"Which regions?","options":[{"label":"eu"},{"label":"us"}],"multiSelect":true}]}}`
	grokPlan     = `{"jsonrpc":"2.0","id":2,"method":"_x.ai/exit_plan_mode","params":{"sessionId":"s","toolCallId":"c","planContent":"# Plan\n1. copy"}}`

	closedTwo = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`
)

// A form of the agent is asked as questions. If people decline the form, it is left to the editor.
func TestFormIsAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := f.starts(form)
	if ask.Title != "Where to?" || len(ask.Questions) != 1 || ask.Questions[0].Text != "Region" {
		t.Errorf("got %q: %+v", ask.Title, ask.Questions)
	}
	f.answer(ask, askback.Choose("eu"))
	f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":{"action":"accept","content":{"region":"eu"}}}`)
	f.editor.expects(closedTwo)

	again := strings.Replace(form, `"id":2`, `"id":3`, 1)
	f.agent.writes(again)
	f.editor.expects(again)
	if _, err := f.person.Decline(f.bounded(), f.next().ID, "ask at the desk"); err != nil {
		t.Fatal(err)
	}
	f.noted("declined", "only the editor asks")
	f.editor.writes(`{"jsonrpc":"2.0","id":3,"result":{"action":"decline"}}`)
	f.agent.expects(`{"jsonrpc":"2.0","id":3,"result":{"action":"decline"}}`)
}

// claudeForm returns a form with questions as claude-agent-acp 0.101.0 sends it.
func claudeForm(questions int) string {
	var fields []string
	for i := range questions {
		fields = append(fields, fmt.Sprintf(`"question_%d":{"type":"string","title":"Topic","description":"Which %d?",`+
			`"oneOf":[{"const":"A","title":"A","description":"first"},{"const":"B","title":"B"}]},`+
			`"question_%d_custom":{"type":"string","title":"Other","description":"Type your own answer (optional)."}`, i, i, i))
	}
	return `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"mode":"form","sessionId":"s","toolCallId":"t",` +
		`"message":"Please answer the following questions.","requestedSchema":{"type":"object","properties":{` +
		strings.Join(fields, ",") + `}}}}`
}

// A form with a field for another answer beside each of four questions is one ask with four questions. A form
// with five questions is left to the editor, with a note.
func TestFormWithOtherFieldsIsOneAsk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := f.starts(claudeForm(4))
	if q := ask.Questions; len(q) != 4 || q[3].Text != "Which 3?" || q[0].Options[0].Description != "first" {
		t.Errorf("got %+v", ask.Questions)
	}
	f.answer(ask, askback.Answer{Answers: []askback.QuestionAnswer{
		{ID: "q1", Selected: []string{"A"}},
		{ID: "q2", Other: "C"},
		{ID: "q3", Selected: []string{"B"}, Notes: "why not"},
	}})
	f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":{"action":"accept","content":{"question_0":"A",` +
		`"question_1_custom":"C","question_2":"B","question_2_custom":"why not"}}}`)

	f = newFixture(t)
	f.begins(claudeForm(5))
	f.noted("only the editor asks", "1 to 4 questions; this one has 5")
	f.unasked()
}

// The members of a tool call may arrive after the request that the call made. A request that is complete by
// itself stays open, and is answered.
func TestCallChangesAfterItsQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ request, tool string }{
		"form of Claude":     {claudeForm(1), "t"},
		"question of Qwen":   {qwen, "call-1"},
		"question of Cursor": {cursorQuestion, "c"},
		"plan of Cursor":     {cursorPlan, "c"},
		"question of Grok":   {grokQuestion, "c"},
		"plan of Grok":       {grokPlan, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			begin := strings.ReplaceAll(toolCall, `"c"`, `"`+c.tool+`"`)
			update := strings.NewReplacer(`"tool_call"`, `"tool_call_update"`, "make", "true").Replace(begin)
			ask := f.starts(begin, c.request, update)
			if ask.Confirmation != nil {
				f.answer(ask, askback.Answer{Decision: askback.Approve})
			} else {
				a := askback.Answer{}
				for _, q := range ask.Questions {
					first := []string{q.Options[0].Label}
					a.Answers = append(a.Answers, askback.QuestionAnswer{ID: q.ID, Selected: first})
				}
				f.answer(ask, a)
			}
			f.editor.expects(closedTwo)
		})
	}
}

// The questions of Qwen Code are asked as questions. The answers are beside the outcome, keyed by index.
func TestQuestionsOfQwenAreAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := f.starts(qwen)
	if d := cmp.Diff([]askback.Question{
		{ID: "q1", Text: "Which database?", Header: "DB", Options: []askback.Option{
			{Label: "SQLite", Description: "One file"}, {Label: "PostgreSQL", Description: "A server"},
		}},
		{ID: "q2", Text: "Which regions?", Header: "Region", Options: askback.Options("eu", "us"), MultiSelect: true},
	}, ask.Questions); d != "" {
		t.Error(d)
	}
	f.answer(ask, askback.Answer{Answers: []askback.QuestionAnswer{
		{ID: "q1", Other: "DuckDB"}, {ID: "q2", Selected: []string{"eu", "us"}, Notes: "soon"},
	}})
	f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":{"answers":{"0":"DuckDB","1":"eu, us [notes: \"soon\"]"},` +
		`"outcome":{"optionId":"proceed_once","outcome":"selected"}}}`)
	f.editor.expects(closedTwo)
}

// The questions of Cursor and Grok are asked as questions, and the answers have their formats.
func TestQuestionsBeyondTheProtocolAreAsked(t *testing.T) {
	t.Parallel()
	wrapped := strings.Replace(strings.Replace(grokQuestion, `"params":{`, `"params":{"method":"x.ai/ask_user_question","params":{`, 1),
		`true}]}}`, `true}]}}}`, 1)
	for _, c := range []struct{ request, want string }{
		{cursorQuestion, `{"outcome":{"answers":[{"questionId":"db","selectedOptionIds":["a"]},{"questionId":"where","selectedOptionIds":["e","u"]}],"outcome":"answered"}}`},
		{grokQuestion, `{"answers":{"Which database?":"SQLite","Which regions?":["eu","us"]},"outcome":"accepted"}`},
		{wrapped, `{"answers":{"Which database?":"SQLite","Which regions?":["eu","us"]},"outcome":"accepted"}`},
	} {
		f := newFixture(t)
		ask := f.starts(c.request)
		if ask.Kind != askback.Questions || len(ask.Questions) != 2 || !strings.Contains(string(ask.Context), `"session":"s"`) {
			t.Errorf("got %s with the context %s", ask.Kind, ask.Context)
		}
		f.answer(ask, askback.Answer{Answers: []askback.QuestionAnswer{
			{ID: "q1", Selected: []string{"SQLite"}}, {ID: "q2", Selected: []string{"eu", "us"}},
		}})
		f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":` + c.want + `}`)
		f.editor.expects(closedTwo)
	}
}

// A plan is approved or denied in the format of its agent, and the words of the person reach the agent.
func TestPlansBeyondTheProtocolAreAsked(t *testing.T) {
	t.Parallel()
	deny := askback.Answer{Decision: askback.Deny, Reason: "copy last"}
	approve := askback.Answer{Decision: askback.Approve}
	empty := strings.Replace(grokPlan, `"# Plan\n1. copy"`, `null`, 1)
	for _, c := range []struct {
		request     string
		answer      askback.Answer
		input, want string
	}{
		{cursorPlan, approve, `{"plan":"# Plan\n1. copy","todos":[{"id":"1","content":"copy","status":"pending"}]}`, `{"outcome":{"outcome":"accepted"}}`},
		{cursorPlan, deny, "", `{"outcome":{"outcome":"rejected","reason":"copy last"}}`},
		{grokPlan, approve, `{"planContent":"# Plan\n1. copy"}`, `{"outcome":"approved"}`},
		{grokPlan, deny, "", `{"feedback":"copy last","outcome":"request_changes"}`},
		{empty, approve, `{}`, `{"outcome":"approved"}`},
	} {
		f := newFixture(t)
		ask := f.starts(c.request)
		if k := ask.Confirmation; k == nil || c.input != "" && string(k.Input) != c.input || !k.NoEdit {
			t.Errorf("got %+v, input %s", k, k.Input)
		} else if c.request == empty && !strings.Contains(k.Description, "not in the request") {
			t.Errorf("got the description %q", k.Description)
		}
		f.answer(ask, c.answer)
		f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":` + c.want + `}`)
		f.editor.expects(closedTwo)
	}
}

// A plan that is not in its request is marked as dangerous, and a standing approval does not cover the next one: it
// has the same arguments, and is another plan.
func TestStandingApprovalCoversNoPlanThatIsNotShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	empty := strings.Replace(grokPlan, `"# Plan\n1. copy"`, `""`, 1)
	ask := f.starts(empty)
	if !ask.Confirmation.Dangerous {
		t.Error("the plan is not marked as dangerous")
	}
	f.answer(ask, askback.Answer{
		Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput, ExpiresIn: time.Hour},
	})
	f.agent.expects(`{"id":2,"jsonrpc":"2.0","result":{"outcome":"approved"}}`)
	f.editor.expects(closedTwo)

	next := strings.Replace(empty, `"id":2`, `"id":3`, 1)
	f.agent.writes(next)
	f.editor.expects(next)
	f.noted("cannot be given an outcome", "only the editor asks")
	f.editor.writes(`{"jsonrpc":"2.0","id":3,"result":{"outcome":"request_changes"}}`)
	f.agent.expects(`{"jsonrpc":"2.0","id":3,"result":{"outcome":"request_changes"}}`)
}

// A request that people cannot be asked about is left to the editor, with a note. A permission that is really
// a question is never asked as an approval.
func TestLeftRequestsAreNoted(t *testing.T) {
	t.Parallel()
	replace := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	titled := replace(permission, `"toolCallId":"c"`, `"toolCallId":"c","title":"Ask"`)
	for _, c := range []struct{ request, note string }{
		{replace(form, `"form"`, `"url"`), "open a link"},
		{replace(form, `"enum":["eu","us"]`, `"pattern":"x"`), "field"},
		{replace(form, `"sessionId":"s",`, ``), "no session"},
		{replace(qwen, `qwenQuestions`, `qwenAnswers`), "unknown form"},
		{replace(qwen, `"user_question"`, `"vote"`), "is a question"},
		{replace(qwen, `"allow_once"`, `"allow_always"`), "allows the call once"},
		{replace(cursorQuestion, `"id":"a",`, ``), "unknown form"},
		{replace(cursorQuestion, `"questions"`, `"items"`), "unknown form"},
		{replace(cursorPlan, `"plan"`, `"text"`), "unknown form"},
		{replace(grokQuestion, `{"label":"SQLite","description":"One file"},`, ``), "options"},
		{replace(permission, `"allow_once"`, `"allow_always"`), "allows the call once"},
		{permission, "does not show what will run"},
		{replace(titled, `"toolCallId":"c"`, `"toolCallId":"c","name":"AskUserQuestion"`), "is a question"},
		{replace(titled, `"toolCallId":"c"`, `"toolCallId":"ask_user-17"`), "is a question"},
		{replace(titled, `"toolCallId":"c"`, `"toolCallId":"c","_meta":{"toolName":"ask-question"}`), "is a question"},
		{replace(titled, `"toolCallId":"c"`, `"toolCallId":"c","rawInput":{"questions":[{"question":"Which?"}]}`), "is a question"},
		{replace(titled, `"toolCallId":"c"`, `"toolCallId":"c","rawInput":{"prompt":"Which?","choices":["a","b"]}`), "is a question"},
		{`{"jsonrpc":"2.0","id":2,"method":"_kiro/userInput","params":{"sessionId":"s"}}`, "_kiro/userInput, which Askback does not know"},
	} {
		f := newFixture(t)
		f.begins(c.request)
		f.noted("only the editor asks", c.note)
		f.unasked()
	}
	f := newFixture(t)
	f.begins(`{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`)
	f.unasked()
	if len(f.notes) > 0 {
		t.Errorf("got the note %q", <-f.notes)
	}
}

// A call of another server's tool that asks is a permission: the tool asks after it is approved.
func TestToolOfAServerThatAsksIsConfirmed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := f.starts(strings.Replace(permission, `"toolCallId":"c"`,
		`"toolCallId":"c","name":"mcp__forms__ask","rawInput":{"questions":[{"question":"Which?"}]}`, 1))
	if ask.Confirmation == nil || ask.Confirmation.ToolName != "mcp__forms__ask" {
		t.Errorf("got %+v", ask)
	}
}

// Askback's own tools only ask people, so people are not asked to approve them. One note says how to approve
// them at the desk.
func TestOwnToolsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		`"name":"mcp__askback__ask_user_question","rawInput":{"questions":[]}`,
		`"title":"ask","_meta":{"claudeCode":{"toolName":"mcp__plugin_askback_askback__confirm_action"}}`,
		`"title":"ask","_meta":{"toolName":"mcp__askback__wait_for_answer"}`,
		`"title":"askback_get_answer"`,
		`"title":"Tool: askback/withdraw_question"`,
		`"title":"list_open_questions (askback MCP Server)"`,
		`"title":"MCP","rawInput":{"providerIdentifier":"askback","toolName":"ask_user_question"}`,
		`"title":"MCP","rawInput":{"invocation":{"server":"askback","tool":"ask_user_question"}}`,
	} {
		request := strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"c",`+call, 1)
		again := strings.Replace(request, `"id":"p"`, `"id":"q"`, 1)
		f := newFixture(t)
		f.begins(request, again)
		f.noted("own tools", "for always in the editor")
		f.unasked()
		if len(f.notes) > 0 {
			t.Errorf("%s: got the second note %q", call, <-f.notes)
		}
	}
	for _, call := range []string{
		`"name":"mcp__askback__delete_everything","title":"x"`, `"name":"mcp__other__ask_user_question","title":"x"`,
		`"title":"rm askback_get_answer"`,
	} {
		f := newFixture(t)
		if ask := f.starts(strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"c",`+call, 1)); ask.Confirmation == nil {
			t.Errorf("%s: got %+v", call, ask)
		}
	}
}

// An agent is labelled with its own name. If it sends none, the label is the name of its command.
func TestUnknownAgentHasItsOwnName(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{
		`,"agentInfo":{"name":"qwen-code","version":"1"}`:   "qwen-code · shop",
		`,"agentInfo":{"name":"@cline/core","version":"1"}`: "cline · shop",
		``: "agent · shop",
	} {
		f := newFixture(t)
		f.editor.writes(initialize, newSession)
		f.agent.expects(initialize, newSession)
		f.agent.writes(strings.Replace(initialized, `,"agentInfo":{"name":"gemini-cli","version":"1"}`, own, 1), opened,
			toolCall, permission)
		if ask := f.next(); ask.Agent != want {
			t.Errorf("got %q, want %q", ask.Agent, want)
		}
	}
}
