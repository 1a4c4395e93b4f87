package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/text/spelling"
	"github.com/askback/askback/internal/wire/jcs"
)

// unknownFieldFix returns the fix for an unknown field of object. It suggests the field that is usually meant
// by this name, the field with the most similar name, or else lists all fields. It does not suggest a field
// that the object has already.
func unknownFieldFix(name string, names []string, object jcs.Value) string {
	if len(names) == 0 {
		return "leave it out"
	}
	if fix := guessedFix(name, names, object); fix != "" {
		return fix
	}
	names = slices.Sorted(slices.Values(names))
	best, least := "", maxDistance+1
	for _, known := range names {
		if d := editDistance(known, name); d < least && isFree(known, names, object) {
			best, least = known, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("did you mean %q?", best)
	case len(names) == 1:
		return "the only field is " + names[0]
	}
	return "the fields are " + strings.Join(names, ", ")
}

// isFree reports whether a field can be added to object: it has neither the field, under any of
// its names, nor one of these fields that excludes it.
func isFree(name string, names []string, object jcs.Value) bool {
	// No valid object has more members. An attacker may send a million of them.
	const most = 100
	form, members := formOf(name), object.Members()
	for _, m := range members[:min(len(members), most)] {
		if !slices.Contains(names, m.Name) {
			continue
		}
		other := formOf(m.Name)
		if canonicalName(m.Name) == canonicalName(name) || form != "" && other != "" && form != other {
			return false
		}
	}
	return true
}

// formOf returns the form of a body that a field belongs to. A request has a list of questions, a
// confirmation, or the flat form of one question. An answer has answers or a decision. It returns ""
// for other fields.
func formOf(name string) string {
	switch {
	case name == "questions", name == "confirmation":
		return name
	case name == "answers", name == "answer":
		return "answers"
	case name == "decision", name == "grant":
		return "decision"
	case slices.Contains(flatNames, name):
		return "question"
	}
	return ""
}

// maxDistance is the largest edit distance at which a name counts as a misspelling of
// another.
const maxDistance = 2

// editDistance returns the edit distance of two field names, ignoring case and underscores.
// It returns more than maxDistance in three cases: the names differ and one of them is very
// short, b is much longer than a, or only one of them names an id.
func editDistance(a, b string) int {
	inID := endsInID(a) != endsInID(b)
	a, b = plainName(a), plainName(b)
	switch {
	case a == b:
		return 0
	case inID || min(len(a), len(b)) <= 2*maxDistance || len(b) > len(a)+maxDistance:
		return maxDistance + 1
	}
	return spelling.Distance([]rune(a), []rune(b))
}

// endsInID reports whether a name such as question_id or questionId names an id.
func endsInID(name string) bool {
	for _, end := range []string{"_id", "-id", "Id", "ID"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// plainName returns a field name in lower case, without underscores and hyphens.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// guessedFix returns the fix for a name that clients often guess, or "" for another name. The first row whose
// field is in names is the table for the object.
func guessedFix(name string, names []string, object jcs.Value) string {
	name = plainName(name)
	for _, row := range guesses {
		if !slices.Contains(names, row.has) {
			continue
		}
		for _, g := range row.fields {
			switch {
			case !slices.Contains(strings.Fields(g.names), name):
			case !slices.Contains(names, g.field):
				if g.fix != "" {
					return g.fix
				}
			case !isFree(g.field, names, object):
				return "leave it out"
			case g.example != "":
				return g.example
			default:
				return fmt.Sprintf("did you mean %q?", g.field)
			}
		}
		return ""
	}
	return ""
}

// A fieldGuess has names that clients guess for a field, in the form of [plainName], separated by spaces. If
// the object does not have the field, the suggestion is fix.
type fieldGuess struct {
	names, field, fix string
	example           string // the suggestion if the value of the field has another form, or ""
}

const (
	nameTheQuestion   = `name the question in answers: ` + exampleAnswer
	questionHasAnID   = `leave it out: the ids are q1, q2 and so on`
	decideIn          = `"decision": "approved" or "denied"`
	textOfAQuestion   = "leave it out, or add it to the text of the question"
	theAskIsInThePath = "leave it out: the path names the ask"
)

// guesses has the names that clients guess, by the kind of object. The kind of an object is the first row
// whose field the object can have.
var guesses = []struct {
	has    string
	fields []fieldGuess
}{
	{"selected", []fieldGuess{ // one answer in a list
		{"questionid questionkey qid key q", "id", "", ""},
		{"choice choices option options optionid optionids value values answer answers answerid answerids selection selections" +
			" selectedoption selectedoptions label labels text response", "selected", "", ""},
		{"comment note reason", "notes", "", ""},
		{"custom customtext freetext", "other", "", ""},
	}},
	{"answers", []fieldGuess{ // the body of an answer
		{names: "questionid questionkey question questions qid q", field: "answers", example: nameTheQuestion},
		{"id askid requestid answerid", "", theAskIsInThePath, ""},
		{"choice choices option options optionid optionids selected selection selections selectedoption selectedoptions" +
			" value values text label labels response result other freetext", "answer", "", ""},
		{"note notes message", "comment", "", ""},
		{
			names: "approve approved allow allowed deny denied reject rejected verdict status action outcome",
			field: "decision", example: decideIn,
		},
	}},
	{"multiSelect", []fieldGuess{ // a question, or the body of a request
		{"text prompt message ask query content", "question", "", ""},
		{"id questionid qid askid", "", questionHasAnID, ""},
		{"choice answer answers values items selection selections suggestions buttons labels", "options", "", ""},
		{"multi multiplechoice multichoice allowmultiple ismultiple multipleanswers", "multiSelect", "", ""},
		{"allowother allowfreetext freetext", "allow_custom", "", ""},
		{"description detail details body background", "context", textOfAQuestion, ""},
		{"user users person people recipient recipients assignee assignees assignto approvers", "to", "", ""},
		{"callback webhook webhookurl", "callback_url", "", ""},
		{"idempotencykey", "key", "", ""},
		{"ttl expiresin expires timeoutseconds", "timeout", "", ""},
		{"due dueat duedate expiresat", "deadline", "", ""},
		{"session", "session_key", "", ""},
		{"agentid agentname", "agent", "", ""},
		{"tool toolname toolinput input arguments args action", "confirmation", "", ""},
	}},
	{"preview", []fieldGuess{ // an option
		{"text value name title", "label", "", ""},
		{"desc detail details hint help explanation", "description", "", ""},
	}},
	{"tool_name", []fieldGuess{ // a confirmation
		{"tool name toolname action", "tool_name", "", ""},
		{"arguments args params parameters toolinput", "input", "", ""},
		{"details summary", "description", "", ""},
	}},
	{"delegate", []fieldGuess{{"user users person people assignee assignees recipient recipients", "to", "", ""}}},
	{"until", []fieldGuess{{"time at when snoozeuntil snoozeduntil deadline", "until", "", ""}}},
	{"digest", []fieldGuess{{"hash sha256 inputdigest", "digest", "", ""}}},
	{"external", []fieldGuess{ // a session
		{"key name id", "session_key", "", ""},
		{"text message input", "prompt", "", ""},
		{"agentid agentname", "agent", "", ""},
		{"callback webhook webhookurl", "callback_url", "", ""},
	}},
	{"final", []fieldGuess{{"message content body", "text", "", ""}}},
	{"message", []fieldGuess{{"text content prompt body", "message", "", ""}}},
	{"result", []fieldGuess{{"output value", "result", "", ""}, {"state outcome", "status", "", ""}}},
	{"todos", []fieldGuess{{"items list tasks", "todos", "", ""}}},
	{"content", []fieldGuess{{"text title task name todo description", "content", "", ""}, {"state", "status", "", ""}}},
	{"tasks", []fieldGuess{{"items list todos", "tasks", "", ""}}},
	{"action", []fieldGuess{ // the tool confirm_action
		{"question text title", "action", "", ""},
		{"description context reason body", "details", "", ""},
	}},
	{"expires_in", []fieldGuess{{"type role", "kind", "", ""}, {"label", "name", "", ""}, {"ttl expires expiresat", "expires_in", "", ""}}},
	{"owner", []fieldGuess{{"callbackurl callback webhook address uri endpoint", "url", "", ""}}},
	{"address", []fieldGuess{{"type kind", "channel", "", ""}, {"name title", "label", "", ""}, {"url endpoint", "address", "", ""}}},
	{"people", []fieldGuess{{"members users names", "people", "", ""}}},
	{"time_zone", []fieldGuess{{"mail emailaddress", "email", "", ""}, {"tz zone", "time_zone", "", ""}, {"quiethours", "quiet", "", ""}}},
	{"revision", []fieldGuess{{"routes list", "items", "", ""}, {"version etag", "revision", "", ""}}},
}
