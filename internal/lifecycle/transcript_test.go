package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/test/kit/golden"
)

// A transcript has events, then ----, then the results of the machine (A2). Transcripts
// are the specification: keep them short and readable. Their syntax:
//
//	09:00 deploy-bot asks                          no deadline
//	09:00 deploy-bot asks, until 10:00, then fail  or decline, default, wait
//	09:00 deploy-bot asks, in ses_7                in a session with a record
//	  Which extras? (several, optional, only these, default TLS) = TLS / Backups
//	  What name?                                   no options: free text
//	09:00 deploy-bot wants drop_table {"table": "users"}, until …
//	09:05 ana answers: SQLite                      labels or text, separated by " / "
//	09:05 ana answers by slack                     several questions
//	  q1: SQLite / notes: because
//	  comment: thanks
//	09:05 ana approves: reason                     also denies, approves everything
//	09:05 ana approves with {"table": "old"}       edited arguments
//	09:05 ana approves tool_and_input for 1h       a grant, with its scope
//	09:05 a grant of ana for drop_table, until 10:00, is found
//	09:05 ana declines: reason
//	09:05 ana looks at it
//	09:05 deploy-bot withdraws: reason
//	09:05 deploy-bot runs drop_table {"table": "users"}
//	09:05 deploy-bot has it
//	09:05 ana answers 200 times: SQLite            only the last is shown
//	09:05 the clock is looked at
//	09:00 deploy-bot asks, calling https://…       with an address for its events
//	09:05 delivery 1 is sent
//	09:05 delivery 1 fails, again 09:10: reason    without "again" it is given up
//	09:00 deploy-bot wants drop {…}, for ana / ben, approved by 2
//	09:00 deploy-bot asks, for ana, reminding 09:15, escalating 11:00 to @oncall
//	09:00 deploy-bot wants drop {…}, decided by ana / ben           see decidedBy
//	09:15 it is followed up, with cem, through phone / chat (quiet until 12:00)
//	09:20 ana reassigns it to ben / @oncall, who are ben / cem, through phone
//	09:05 delivery 1 is sent again                 after it was given up
//	09:05 ana, who can undo it for 5s, answers: SQLite   or another answer, or declines
//	09:05 ana undoes it
//	09:06 the clock is looked at, without ana      she may no longer answer
func TestAsksMatchTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) { runTranscript(t, path) })
	}
}

func runTranscript(t *testing.T, path string) {
	var s lifecycle.AskState
	runStory(t, path, func(paragraph []string) string {
		var text string
		for _, in := range parse(t, s, paragraph) {
			r, err := s.Step(in)
			text = describe(s, r, err)
			s = r.State
		}
		return text
	})
}

// runStory compares a transcript with the results of a machine. The function step steps the machine with one
// paragraph and returns the text for the result.
func runStory(t *testing.T, path string, step func(paragraph []string) string) {
	t.Helper()
	golden.Transcript(t, path, func(input string) string {
		var output strings.Builder
		happened := paragraphs(input)
		for _, paragraph := range happened {
			if len(happened) > 1 {
				at, _, _ := strings.Cut(paragraph[0], " ")
				output.WriteString(at + " ")
			}
			output.WriteString(step(paragraph))
		}
		return output.String()
	})
}

// paragraphs returns each line with the indented lines below it, without comments.
func paragraphs(said string) [][]string {
	var out [][]string
	for line := range strings.SplitSeq(said, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  ") && len(out) > 0:
			out[len(out)-1] = append(out[len(out)-1], strings.TrimSpace(line))
		default:
			out = append(out, []string{line})
		}
	}
	return out
}

var morning = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// clock parses a time such as 09:05 or 09:05:30. All transcripts have the same day.
func clock(t *testing.T, s string) time.Time {
	t.Helper()
	for _, form := range []string{"15:04", "15:04:05"} {
		if at, err := time.Parse(form, s); err == nil {
			return morning.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute +
				time.Duration(at.Second())*time.Second)
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

func readTime(at time.Time) string {
	if at.Second() == 0 {
		return at.Format("15:04")
	}
	return at.Format("15:04:05")
}

// parse returns the inputs of a paragraph. For "answers 200 times" there are several inputs, and otherwise
// one input.
func parse(t *testing.T, s lifecycle.AskState, lines []string) []lifecycle.Input {
	t.Helper()
	first, rest, _ := strings.Cut(lines[0], " ")
	at := clock(t, first)
	if rest == "the clock is looked at" {
		return []lifecycle.Input{lifecycle.Due{At: at}}
	}
	if lost, ok := strings.CutPrefix(rest, "the clock is looked at, without "); ok {
		return []lifecycle.Input{lifecycle.Due{Lost: strings.Split(lost, ", "), At: at}}
	}
	if who, what, ok := strings.Cut(rest, ", who can undo it for "); ok {
		return []lifecycle.Input{heldAnswer(t, s, what, append([]string{first + " " + who}, lines[1:]...))}
	}
	if what, ok := strings.CutPrefix(rest, "delivery "); ok {
		return []lifecycle.Input{deliveryEvent(t, s.Deliveries, at, what)}
	}
	if what, ok := strings.CutPrefix(rest, "is also sent to "); ok {
		in := lifecycle.ReceiversAdded{At: at}
		for name := range strings.SplitSeq(what, ", ") {
			in.Receivers = append(in.Receivers, receiver(name))
		}
		return []lifecycle.Input{in}
	}
	if what, ok := strings.CutPrefix(rest, "it is followed up"); ok {
		return []lifecycle.Input{followedUp(t, at, what)}
	}
	if what, ok := strings.CutPrefix(rest, "a grant of "); ok {
		return []lifecycle.Input{coveredEvent(t, s, at, strings.TrimSuffix(what, ", is found"))}
	}
	who, did, _ := strings.Cut(rest, " ")
	did, said, _ := strings.Cut(did, ": ")
	verb, how, _ := strings.Cut(did, " ")
	via := askback.ChannelWeb
	if name, ok := strings.CutPrefix(strings.TrimPrefix(how, "it "), "by "); ok {
		via = askback.Channel(name)
	}
	switch verb {
	case "asks,", "asks":
		return []lifecycle.Input{questions(t, at, who, how, lines[1:])}
	case "wants":
		return []lifecycle.Input{confirmation(t, at, who, strings.TrimPrefix(rest, who+" wants "))}
	case "answers":
		in := lifecycle.Answered{By: who, Via: via, Answer: answer(t, said, lines[1:]), At: at}
		return slices.Repeat([]lifecycle.Input{in}, times(t, how))
	case "approves":
		ev := approval(t, s, strings.TrimPrefix(rest, who+" approves"), how, said)
		ev.By, ev.Via, ev.At = who, via, at
		return []lifecycle.Input{ev}
	case "undoes":
		return []lifecycle.Input{lifecycle.Undone{By: who, Via: via, At: at}}
	case "denies":
		return []lifecycle.Input{
			lifecycle.Answered{By: who, Via: via, Answer: askback.Decide(askback.Deny, said), At: at},
		}
	case "declines":
		return []lifecycle.Input{lifecycle.Declined{By: who, Via: via, Reason: said, At: at}}
	case "looks":
		return []lifecycle.Input{lifecycle.Claimed{By: who, Via: via, At: at}}
	case "sees":
		return []lifecycle.Input{lifecycle.Seen{By: who, Via: via, At: at}}
	case "reassigns":
		return []lifecycle.Input{reassigned(t, at, who, how)}
	case "withdraws":
		return []lifecycle.Input{lifecycle.Cancelled{
			By: askback.Actor{Kind: askback.ActorAgent, Name: who}, Via: askback.ChannelAPI, Reason: said, At: at,
		}}
	case "ends": // the session
		return []lifecycle.Input{
			lifecycle.Cancelled{By: askback.Actor{Kind: askback.ActorPerson, Name: who}, Via: via, At: at},
		}
	case "repeats":
		return []lifecycle.Input{lifecycle.Repeated{At: at}}
	case "has":
		return []lifecycle.Input{lifecycle.Acked{At: at}}
	case "runs":
		return []lifecycle.Input{lifecycle.Consumed{Digest: digest(t, strings.TrimPrefix(rest, who+" runs ")), At: at}}
	}
	t.Fatalf("cannot read %q", lines[0])
	return nil
}

// receiver parses the name of a receiver: "ana's telegram", which only ana reads, "slack room" or the name of
// a phone.
func receiver(name string) lifecycle.Receiver {
	if person, channel, ok := strings.Cut(name, "'s "); ok {
		return lifecycle.Receiver{Channel: channel, Name: name, Person: person}
	}
	if channel, ok := strings.CutSuffix(name, " room"); ok {
		return lifecycle.Receiver{Channel: channel, Name: name}
	}
	return lifecycle.Receiver{Channel: "post", Name: name}
}

// deliveryEvent parses "1 is sent", "1 is sent: receipt", "1 is written: receipt", "1 is sent
// again", "1 is not needed" or "1 fails, again 09:10: reason".
func deliveryEvent(t *testing.T, list []askback.Delivery, at time.Time, what string) lifecycle.Input {
	t.Helper()
	number, what, _ := strings.Cut(what, " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(list) {
		t.Fatalf("there is no delivery %q", number)
	}
	id := list[n-1].ID
	what, reason, _ := strings.Cut(what, ": ")
	switch what {
	case "is sent":
		return lifecycle.Sent{ID: id, Receipt: reason, At: at}
	case "is written":
		return lifecycle.ReceiptGiven{ID: id, Receipt: reason}
	case "is not needed":
		return lifecycle.Skipped{ID: id, At: at}
	case "is sent again":
		return lifecycle.SendAgain{ID: id, At: at}
	}
	in := lifecycle.SendFailed{ID: id, Error: reason, At: at}
	if again, ok := strings.CutPrefix(what, "fails, again "); ok {
		in.Retry = clock(t, again)
	} else if what != "fails" {
		t.Fatalf("cannot read %q", what)
	}
	return in
}

// approval parses "", " with {…}", " everything" or " tool_and_input for 1h".
func approval(t *testing.T, s lifecycle.AskState, rest, how, said string) lifecycle.Answered {
	t.Helper()
	if input, ok := strings.CutPrefix(rest, " with "); ok {
		a := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(input)}
		return lifecycle.Answered{Answer: a, Digest: digest(t, s.Ask.Confirmation.ToolName+" "+input)}
	}
	if how == "everything" {
		return lifecycle.Answered{Answer: askback.Decide(askback.ApproveAll, said), GrantID: "grt_1"}
	}
	if scope, lasts, ok := strings.Cut(how, " for "); ok {
		d, err := askback.ParseDuration(lasts)
		if err != nil {
			t.Fatalf("%q: %v", how, err)
		}
		a := askback.Answer{
			Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.Scope(scope), ExpiresIn: d},
		}
		return lifecycle.Answered{Answer: a, GrantID: "grt_1"}
	}
	return lifecycle.Answered{Answer: askback.Decide(askback.Approve, said)}
}

// coveredEvent parses "ana for drop_table, until 10:00".
func coveredEvent(t *testing.T, s lifecycle.AskState, at time.Time, what string) lifecycle.Input {
	t.Helper()
	who, what, _ := strings.Cut(what, " for ")
	tool, until, ok := strings.Cut(what, ", until ")
	if !ok {
		t.Fatalf("cannot read %q", what)
	}
	return lifecycle.Covered{At: at, Grant: askback.Grant{
		ID: "grt_9", Owner: s.Owner, Agent: s.Ask.Agent, ToolName: tool, Scope: askback.ScopeTool, By: who,
		ExpiresAt: clock(t, until),
	}}
}

// times parses "200 times". It returns 1 for any other string.
func times(t *testing.T, how string) int {
	number, ok := strings.CutSuffix(how, " times")
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("cannot read %q: %v", how, err)
	}
	return n
}

// limit parses "until 10:00, then fail, in ses_7".
func limit(t *testing.T, how string, a *askback.Ask) {
	a.OnTimeout = askback.OnTimeoutWait
	for part := range strings.SplitSeq(how, ", ") {
		if until, ok := strings.CutPrefix(part, "until "); ok {
			a.Deadline, a.OnTimeout = clock(t, until), askback.OnTimeoutFail
		}
		if then, ok := strings.CutPrefix(part, "then "); ok {
			a.OnTimeout = askback.OnTimeout(then)
		}
		if session, ok := strings.CutPrefix(part, "in "); ok {
			a.SessionID = session
		}
		if names, ok := strings.CutPrefix(part, "for "); ok {
			a.To = strings.Split(names, " / ")
		}
		if number, ok := strings.CutPrefix(part, "approved by "); ok {
			a.Quorum = times(t, number+" times")
		}
		if when, ok := strings.CutPrefix(part, "reminding "); ok {
			a.FollowUps = append(a.FollowUps, askback.FollowUp{At: clock(t, when)})
		}
		if when, ok := strings.CutPrefix(part, "escalating "); ok {
			when, names, _ := strings.Cut(when, " to ")
			a.FollowUps = append(a.FollowUps, askback.FollowUp{At: clock(t, when), To: strings.Split(names, " / ")})
		}
	}
}

func questions(t *testing.T, at time.Time, who, how string, lines []string) lifecycle.Input {
	a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Agent: who, Kind: askback.Questions, Quorum: 1}
	limit(t, how, &a)
	_, callback, _ := strings.Cut(how, "calling ")
	var r askback.Request
	for _, line := range lines {
		var q askback.Question
		text, options, _ := strings.Cut(line, " = ")
		text, marks, _ := strings.Cut(strings.TrimSuffix(text, ")"), " (")
		q.Text = text
		if options != "" {
			q.Options = askback.Options(strings.Split(options, " / ")...)
		}
		for mark := range strings.SplitSeq(marks, ", ") {
			d, isDefault := strings.CutPrefix(mark, "default ")
			switch {
			case isDefault:
				q.Default = append(q.Default, d)
			case mark == "several":
				q.MultiSelect = true
			case mark == "optional":
				q.Optional = true
			case mark == "only these":
				q.NoOther = true
			case mark != "":
				t.Fatalf("cannot read %q in %q", mark, line)
			}
		}
		r.Questions = append(r.Questions, q)
	}
	r, err := r.Normalize()
	if err != nil {
		t.Fatalf("%q: %v", lines, err)
	}
	a.Questions = r.Questions
	return lifecycle.Asked{Ask: a, Owner: who, Callback: callback, At: at}
}

func confirmation(t *testing.T, at time.Time, who, what string) lifecycle.Input {
	what, how, _ := strings.Cut(what, "}, ")
	what = strings.TrimSuffix(what, "}") + "}"
	a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Agent: who, Kind: askback.Confirm, Quorum: 1}
	limit(t, how, &a)
	tool, input, _ := strings.Cut(what, " ")
	a.Confirmation = &askback.Confirmation{
		ToolName: tool, Input: json.RawMessage(input), Tier: "confirm", Digest: digest(t, what),
		Dangerous: how == "dangerously",
	}
	return decidedBy(how, lifecycle.Asked{Ask: a, Owner: who, At: at})
}

// digest returns a readable string in place of a digest. The machine only compares
// digests.
func digest(t *testing.T, what string) string {
	tool, input, _ := strings.Cut(what, " ")
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(input)); err != nil {
		t.Fatalf("%q: %v", what, err)
	}
	return tool + " " + b.String()
}

func answer(t *testing.T, said string, lines []string) askback.Answer {
	var a askback.Answer
	if said != "" {
		lines = append([]string{"q1: " + said}, lines...)
	}
	for _, line := range lines {
		what, said, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("cannot read %q", line)
		}
		if what == "comment" {
			a.Comment = said
			continue
		}
		q := askback.QuestionAnswer{ID: what}
		for value := range strings.SplitSeq(said, " / ") {
			if notes, ok := strings.CutPrefix(value, "notes: "); ok {
				q.Notes = notes
			} else if value == "(blank)" {
				q.Selected = append(q.Selected, " \n")
			} else {
				q.Selected = append(q.Selected, value)
			}
		}
		a.Answers = append(a.Answers, q)
	}
	return a
}
