package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// timelineOfCall returns the calls in the timeline of a run in which a tool is called once.
func timelineOfCall(tool string, ended, failed bool) (all []view.Call) {
	var events []askback.Event
	add := func(kind askback.EventType, data map[string]any) {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err) // texts can be encoded
		}
		n := len(events) + 1
		events = append(events, askback.Event{Seq: int64(n), Type: kind, At: time.Unix(int64(n), 0), Data: raw})
	}
	add(askback.EventToolInput, map[string]any{"call_id": "1", "tool": tool, "input": map[string]any{}})
	add(askback.EventToolStart, map[string]any{"call_id": "1", "name": tool})
	if ended {
		add(askback.EventToolComplete, map[string]any{"call_id": "1", "name": tool, "output": "x", "is_error": failed})
	}
	for _, m := range view.RunTimeline(askback.Session{}, events, nil, nil, nil, nil) {
		if m.Call != nil {
			all = append(all, *m.Call)
		}
	}
	return all
}

// The todos and the asks are shown instead of the calls that made them, unless a call failed.
func TestTimelineOmitsCallsForAsksAndTodos(t *testing.T) {
	for _, tool := range []string{"todo_write", "ask_user_question", "confirm_action"} {
		if n := len(timelineOfCall(tool, false, false)) + len(timelineOfCall(tool, true, false)); n != 0 {
			t.Errorf("%s is shown", tool)
		}
		if got := timelineOfCall(tool, true, true); len(got) != 1 || !got[0].Failed {
			t.Errorf("a failed %s is not shown: %v", tool, got)
		}
	}
	if len(timelineOfCall("other", false, false)) != 1 || len(timelineOfCall("other", true, false)) != 1 {
		t.Error("another tool is not shown once")
	}
}

// For a withheld call, only the name is shown, whatever other data its events have.
func TestTimelineShowsOnlyTheNameOfAWithheldCall(t *testing.T) {
	event := func(n int64, kind askback.EventType, data string) askback.Event {
		return askback.Event{Seq: n, Type: kind, At: time.Unix(n, 0), Data: json.RawMessage(data)}
	}
	moments := view.RunTimeline(askback.Session{}, []askback.Event{
		event(1, askback.EventMessage, `{"role":"assistant","text":"","final":false,"withheld":true}`),
		event(2, askback.EventToolInput, `{"call_id":"call_1","name":"files__write","input":{"a":1},"withheld":true}`),
		event(3, askback.EventToolComplete,
			`{"call_id":"call_1","name":"files__write","is_error":false,"output":"","withheld":true}`),
		event(4, askback.EventToolInput, `{"call_id":"call_2","name":"ask_user_question","input":{},"withheld":true}`),
		event(5, askback.EventToolComplete,
			`{"call_id":"call_2","name":"ask_user_question","is_error":false,"output":"","withheld":true}`),
	}, nil, nil, nil, nil)
	var calls []view.Call
	for _, m := range moments {
		if m.Text.String() != "" {
			t.Errorf("a withheld message is shown: %+v", m)
		}
		if m.Call != nil {
			calls = append(calls, *m.Call)
		}
	}
	if len(calls) != 1 || calls[0].Name().String() != "write (files)" || !calls[0].Withheld ||
		calls[0].Line.String()+calls[0].Arguments.String() != "" {
		t.Errorf("got %+v, want the call without its arguments", calls)
	}
}

// People see the tool and its server, as on the page of an ask about the call, and an ambiguous name unchanged.
func TestTimelineNamesServerAndTool(t *testing.T) {
	for tool, want := range map[string]string{
		"files__read":            "read (files)",
		"my_files__read_all":     "read_all (my_files)",
		"spawn_agents":           "spawn_agents",
		"mcp__files__read":       "mcp__files__read",
		"files___read":           "files___read",
		"__read":                 "__read",
		"files__":                "files__",
		"files__v1.read":         "files__v1.read",
		"files__read_0123456789": "files__read_0123456789",
		"files__read_012345678":  "read_012345678 (files)",
	} {
		if got := timelineOfCall(tool, true, false); len(got) != 1 || got[0].Name().String() != want {
			t.Errorf("%s: got %v, want %q", tool, got, want)
		}
	}
}
