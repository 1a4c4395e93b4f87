package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/text/spelling"
	"github.com/askback/askback/internal/wire/jcs"
)

// unknownFieldFix returns the fix for an unknown field of object. It suggests the field that is usually meant
// by this name, or the field with the most similar name. Otherwise it lists all fields. It does not suggest a
// field that the object has already.
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

// isFree reports whether the field name can be added to object. The object must not have the field, under any
// of its names. It must not have a field in names that excludes the field either.
func isFree(name string, names []string, object jcs.Value) bool {
	// No valid object has more members. An attacker may send a million members.
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
// confirmation, or the flat form of one question. An answer has answers or a decision. For other fields,
// formOf returns "".
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

// maxDistance is the largest edit distance at which a name counts as a misspelling of another name.
const maxDistance = 2

// editDistance returns the edit distance of two field names, ignoring case, underscores and hyphens. It
// returns more than maxDistance if the names differ and a name is very short, or if b is much longer than a.
// It also does so if only one of the names is the name of an id.
func editDistance(a, b string) int {
	oneIsID := endsInID(a) != endsInID(b)
	a, b = plainName(a), plainName(b)
	switch {
	case a == b:
		return 0
	case oneIsID || min(len(a), len(b)) <= 2*maxDistance || len(b) > len(a)+maxDistance:
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

// guessedFix returns the fix for a name that clients often guess, or "" for another name. It uses the first
// row of guesses whose marker is in names.
func guessedFix(name string, names []string, object jcs.Value) string {
	name = plainName(name)
	for _, row := range guesses {
		if !slices.Contains(names, row.marker) {
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

// A fieldGuess lists names that clients guess for a field, in the form of [plainName], separated by spaces.
// If objects of this kind have no such field, the suggestion is fix.
type fieldGuess struct {
	names, field, fix string
	example           string // the suggestion if the value of the field has another form, or ""
}

const (
	answersExample  = `name the question in answers: ` + exampleAnswer
	questionIDFix   = `leave it out: the ids are q1, q2 and so on`
	decisionExample = `"decision": "approved" or "denied"`
	requiredExample = `"required": false`
	contextFix      = "leave it out, or add it to the text of the question"
	askIDFix        = "leave it out: the path names the ask"
)

// guesses lists the names that clients guess, by the kind of object. For an object, the first row applies
// whose marker is a field of the object.
var guesses = []struct {
	marker string // a field that only these objects can have
	fields []fieldGuess
}{
	{"selected", []fieldGuess{ // one answer in a list
		{names: "questionid questionkey qid key q", field: "id"},
		{names: "choice choices option options optionid optionids value values answer answers answerid answerids " +
			"selection selections" +
			" selectedoption selectedoptions label labels text response", field: "selected"},
		{names: "comment note reason", field: "notes"},
		{names: "custom customtext freetext", field: "other"},
	}},
	{"answers", []fieldGuess{ // the body of an answer
		{names: "questionid questionkey question questions qid q", field: "answers", example: answersExample},
		{names: "id askid requestid answerid", fix: askIDFix},
		{names: "choice choices option options optionid optionids selected selection selections selectedoption " +
			"selectedoptions" +
			" value values text label labels response result other freetext", field: "answer"},
		{names: "note notes message", field: "comment"},
		{
			names: "approve approved allow allowed deny denied reject rejected verdict status action outcome",
			field: "decision", example: decisionExample,
		},
	}},
	{"multiSelect", []fieldGuess{ // a question, or the body of a request
		{names: "text prompt message ask query content", field: "question"},
		{names: "id questionid qid askid", fix: questionIDFix},
		{names: "choice answer answers values items selection selections suggestions buttons labels", field: "options"},
		{names: "multi multiplechoice multichoice allowmultiple ismultiple multipleanswers", field: "multiSelect"},
		{names: "allowother allowfreetext freetext", field: "allow_custom"},
		{names: "optional isoptional", field: "required", example: requiredExample},
		{names: "description detail details body background", field: "context", fix: contextFix},
		{names: "user users person people recipient recipients assignee assignees assignto approvers", field: "to"},
		{names: "callback webhook webhookurl", field: "callback_url"},
		{names: "idempotencykey", field: "key"},
		{names: "ttl expiresin expires timeoutseconds", field: "timeout"},
		{names: "due dueat duedate expiresat", field: "deadline"},
		{names: "session", field: "session_key"},
		{names: "agentid agentname", field: "agent"},
		{names: "tool toolname toolinput input arguments args action", field: "confirmation"},
	}},
	{"preview", []fieldGuess{ // an option
		{names: "text value name title", field: "label"},
		{names: "desc detail details hint help explanation", field: "description"},
	}},
	{"tool_name", []fieldGuess{ // a confirmation
		{names: "tool name toolname action", field: "tool_name"},
		{names: "arguments args params parameters toolinput", field: "input"},
		{names: "details summary", field: "description"},
	}},
	{"delegate", []fieldGuess{
		{names: "user users person people assignee assignees recipient recipients", field: "to"},
	}},
	{"until", []fieldGuess{{names: "time at when snoozeuntil snoozeduntil deadline", field: "until"}}},
	{"digest", []fieldGuess{{names: "hash sha256 inputdigest", field: "digest"}}},
	{"external", []fieldGuess{ // a session
		{names: "key name id", field: "session_key"},
		{names: "text message input", field: "prompt"},
		{names: "agentid agentname", field: "agent"},
		{names: "callback webhook webhookurl", field: "callback_url"},
	}},
	{"final", []fieldGuess{{names: "message content body", field: "text"}}},
	{"message", []fieldGuess{{names: "text content prompt body", field: "message"}}},
	{"result", []fieldGuess{{names: "output value", field: "result"}, {names: "state outcome", field: "status"}}},
	{"todos", []fieldGuess{{names: "items list tasks", field: "todos"}}},
	{"content", []fieldGuess{
		{names: "text title task name todo description", field: "content"},
		{names: "state", field: "status"},
	}},
	{"tasks", []fieldGuess{{names: "items list todos", field: "tasks"}}},
	{"action", []fieldGuess{ // the tool confirm_action
		{names: "question text title", field: "action"},
		{names: "description context reason body", field: "details"},
	}},
	{"expires_in", []fieldGuess{
		{names: "type role", field: "kind"},
		{names: "label", field: "name"},
		{names: "ttl expires expiresat", field: "expires_in"},
	}},
	{"owner", []fieldGuess{{names: "callbackurl callback webhook address uri endpoint", field: "url"}}},
	{"address", []fieldGuess{
		{names: "type kind", field: "channel"},
		{names: "name title", field: "label"},
		{names: "url endpoint", field: "address"},
	}},
	{"people", []fieldGuess{{names: "members users names", field: "people"}}},
	{"time_zone", []fieldGuess{
		{names: "mail emailaddress", field: "email"},
		{names: "tz zone", field: "time_zone"},
		{names: "quiethours", field: "quiet"},
	}},
	{"revision", []fieldGuess{{names: "routes list", field: "items"}, {names: "version etag", field: "revision"}}},
}
