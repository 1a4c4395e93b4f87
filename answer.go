package askback

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/limits"
)

// Normalize returns the canonical form of an answer to the ask. Answers to questions are in the order of the
// questions, one entry with an id for each question. Labels of options are in Selected, other text is in
// Other. For a confirmation, edited arguments are compacted, and [ApproveAll] gets a grant with its default
// scope and lifetime. The error is an [Invalid].
func (a Answer) Normalize(ask Ask) (Answer, error) {
	var bad problems
	checkText(&bad, "/comment", a.Comment, limits.MaxText)
	checkText(&bad, "/reason", a.Reason, limits.MaxText)
	if ask.Kind == Confirm {
		a = a.normalizeDecision(ask, &bad)
		return a, bad.err()
	}
	if a.Decision != "" {
		bad.add("/decision", "this ask has questions and takes no decision",
			`"answers": [{"id": "q1", "selected": ["…"]}]`)
	}
	if len(a.Input) > 0 {
		bad.add("/input", "this ask has questions and takes no arguments", "leave it out")
	}
	if a.Grant != nil {
		bad.add("/grant", "this ask has questions and takes no grant", "leave it out")
	}
	given := a.matchQuestions(ask, &bad)
	answers := make([]QuestionAnswer, len(ask.Questions))
	for i, q := range ask.Questions {
		if n := given[i]; n >= 0 {
			bad.enter("/answers", n)
			answers[i] = a.Answers[n].normalize(&q, "", &bad)
			bad.leave()
		} else {
			answers[i] = QuestionAnswer{}.normalize(&q, "/answers", &bad)
		}
	}
	a.Answers = answers
	return a, bad.err()
}

// Check returns an [Invalid] if a text of the answer is not UTF-8 or is too long. The texts are the comment,
// the reason and the strings of the answers to questions. [Answer.Normalize] also checks the answer against
// the ask.
func (a Answer) Check() error {
	var bad problems
	checkText(&bad, "/comment", a.Comment, limits.MaxText)
	checkText(&bad, "/reason", a.Reason, limits.MaxText)
	for i, q := range a.Answers {
		bad.enter("/answers", i)
		checkText(&bad, "/id", q.ID, limits.MaxName)
		checkText(&bad, "/question", q.Question, limits.MaxQuestion)
		checkText(&bad, "/other", q.Other, limits.MaxText)
		checkText(&bad, "/notes", q.Notes, limits.MaxText)
		for _, s := range q.Selected {
			checkText(&bad, "/selected", s, limits.MaxText)
		}
		bad.leave()
	}
	return bad.err()
}

// normalizeDecision normalizes an answer to a confirmation. It keeps edited arguments even if they are equal
// to the original arguments, because only a comparison of their digests can detect that.
func (a Answer) normalizeDecision(ask Ask, bad *problems) Answer {
	if len(a.Answers) > 0 {
		bad.add("/answers", "this ask is a confirmation and takes a decision, not answers",
			`"decision": "approved" or "denied"`)
	}
	switch a.Decision {
	case Approve, Deny, ApproveAll:
	default:
		bad.add("/decision", "must be approved, denied or approve_all", `"decision": "denied"`)
	}
	a.checkInput(ask, bad)
	switch {
	case a.Decision == ApproveAll && ask.Quorum > 1:
		bad.add("/decision", "several people must approve this, so approve_all is not possible",
			`"decision": "approved"`)
	case a.Decision == ApproveAll:
		var given GrantRequest
		if a.Grant != nil {
			given = *a.Grant
		}
		a.Grant = new(given.normalize(bad))
	case a.Grant != nil:
		bad.add("/grant", "a grant needs the decision approve_all", `"decision": "approve_all"`)
	}
	return a
}

// checkInput compacts the edited arguments, if there are any. It adds a problem if the person may not edit
// the arguments, or if the edited arguments are not valid.
func (a *Answer) checkInput(ask Ask, bad *problems) {
	if len(a.Input) == 0 {
		return
	}
	if a.Decision != Approve {
		bad.add("/input", "arguments can be edited only with the decision approved", `"decision": "approved"`)
		return
	}
	if c := ask.Confirmation; c != nil && c.NoEdit {
		bad.add("/input", "this agent cannot run edited arguments",
			`"decision": "denied", with the arguments you want in "reason"`)
		return
	}
	if ask.Quorum > 1 {
		bad.add("/input", "several people must approve these arguments, so they cannot be edited",
			`"decision": "denied", with the arguments you want in "reason"`)
		return
	}
	raw, ok := compact(a.Input)
	switch {
	case !ok || raw[0] != '{':
		bad.add("/input", "the arguments of a tool must be a JSON object", `"input": {}`)
	case len(raw) > limits.MaxInput:
		bad.add("/input", fmt.Sprintf("%d bytes are too many; at most %d are allowed", len(raw), limits.MaxInput),
			"shorten it")
	}
	a.Input = raw
}

// matchQuestions returns, for each question of the ask, the index of its answer, or -1 without an answer. An
// answer is matched by its id or, without an id, by the text of its question. An answer that matches no
// question is a problem, and so is a second answer to a question. If there are more than 2*MaxQuestions
// answers, matchQuestions adds one problem and matches no answer.
func (a Answer) matchQuestions(ask Ask, bad *problems) []int {
	out := slices.Repeat([]int{-1}, len(ask.Questions))
	if n := len(a.Answers); n > 2*limits.MaxQuestions {
		bad.add("/answers", fmt.Sprintf("%d answers are too many for %d questions", n, len(out)), "answer each once")
		return out
	}
	for i := range a.Answers {
		bad.enter("/answers", i)
		n := a.Answers[i].match(ask, bad)
		switch {
		case n < 0:
		case out[n] >= 0:
			bad.add("", "this question is answered more than once", "answer it once")
		default:
			out[n] = i
		}
		bad.leave()
	}
	return out
}

// match returns the index of the question that the answer is for. If there is no such question, match adds a
// problem and returns -1.
func (a *QuestionAnswer) match(ask Ask, bad *problems) int {
	for i := range ask.Questions {
		q := &ask.Questions[i]
		if a.ID == q.ID || a.ID == "" && a.Question == q.Text {
			return i
		}
	}
	if a.ID != "" {
		bad.add("/id", fmt.Sprintf("there is no question %s", quote(a.ID)), setID(ask))
	} else {
		bad.add("/question", "no question of this ask has this text",
			setID(ask)+"; in an object, use the id as the key")
	}
	return -1
}

// setID returns the fix for an answer that matches no question of the ask.
func setID(ask Ask) string {
	ids := make([]string, len(ask.Questions))
	for i, q := range ask.Questions {
		ids[i] = q.ID
	}
	if len(ids) == 1 {
		return `set "id" to ` + ids[0]
	}
	return `set "id" to one of ` + strings.Join(ids, ", ")
}

// normalize returns the canonical form of an answer to the question q. It adds the problems to bad. The
// pointers of the problems begin with at.
func (a QuestionAnswer) normalize(q *Question, at string, bad *problems) QuestionAnswer {
	out := QuestionAnswer{ID: q.ID, Question: q.Text, Notes: strings.TrimSpace(a.Notes)}
	checkText(bad, at+"/notes", out.Notes, limits.MaxText)
	if n := len(a.Selected); n > 2*limits.MaxOptions {
		bad.add(at+"/selected", fmt.Sprintf("%d choices are too many for %d options", n, len(q.Options)),
			"choose each once")
		return out
	}
	var own []string
	unknown := 0
	for _, value := range a.Selected {
		_, isLabel := q.Option(value)
		switch {
		case strings.TrimSpace(value) == "":
		case isLabel && !slices.Contains(out.Selected, value):
			out.Selected = append(out.Selected, value)
		case isLabel:
		case q.NoOther:
			unknown++
			bad.add(at+"/selected", fmt.Sprintf("%s is not an option", quote(value)), "choose "+labels(q))
		default:
			own = append(own, value)
		}
	}
	if strings.TrimSpace(a.Other) != "" {
		own = append(own, a.Other)
		if q.NoOther {
			bad.add(at+"/other", "this question takes no free text", "choose "+labels(q))
		}
	}
	out.Other = strings.Join(own, ", ")
	if q.Format != "" && out.Other != "" {
		if out.Other = strings.TrimSpace(out.Other); !q.Fits(out.Other) {
			bad.add(at+"/other", fmt.Sprintf("%s is not %s", quote(out.Other), q.Expects()), "write "+q.Expects())
		}
	}
	checkText(bad, at+"/other", out.Other, limits.MaxText)
	out.check(q, at, len(own)+unknown, bad)
	return out
}

// check adds a problem if the answer has several values but the question q allows only one. It also adds a
// problem if the answer has no value but q requires one. The argument rest is the number of values that are
// not labels.
func (a *QuestionAnswer) check(q *Question, at string, rest int, bad *problems) {
	count := len(a.Selected) + rest
	if count > 1 && !q.MultiSelect {
		bad.add(at+"/selected", "this question takes only one answer", "choose one")
	}
	if count == 0 && !q.Optional {
		fix := `"other": "…"`
		if len(q.Options) > 0 {
			fix = "choose " + labels(q)
		}
		bad.add(at, "this question is not answered", fix)
	}
}

// labels returns the quoted labels of the options of q, separated by commas. If q has more than five options,
// an ellipsis replaces the rest.
func labels(q *Question) string {
	var quoted []string
	for i, o := range q.Options {
		if i == 5 {
			return strings.Join(quoted, ", ") + " …"
		}
		quoted = append(quoted, quote(o.Label))
	}
	return strings.Join(quoted, ", ")
}

// Defaults returns the answers that the asker gave as defaults, one entry per question. The
// entry of a question without a default has no values.
func (a Ask) Defaults() []QuestionAnswer {
	out := make([]QuestionAnswer, len(a.Questions))
	for i, q := range a.Questions {
		var ignored problems
		out[i] = QuestionAnswer{Selected: q.Default}.normalize(&q, "", &ignored)
	}
	return out
}
