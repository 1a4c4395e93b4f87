package opencode

import (
	"fmt"
	"testing"
)

// Ids are parts of paths. An id such as ".." would change which request is answered, so it is rejected.
func TestIDsThatChangeAPathAreRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, session string }{
		{"..", "ses_1"},
		{"per_../../que_1", "ses_1"},
		{"per_1?x", "ses_1"},
		{"per_%2e%2e", "ses_1"},
		{"per_", "ses_1"},
		{"que_1", "ses_1"},
		{"per_1", ".."},
		{"per_1", "ses_/1"},
		{"per_1", "1"},
	} {
		properties := fmt.Sprintf(`{"id":%q,"sessionID":%q,"permission":"bash"}`, c.id, c.session)
		if ev, ok := readEvent(PermissionAsked, "/srv", []byte(properties)); ok {
			t.Errorf("%s is asked: %+v", properties, ev)
		}
	}
	r := &recording{message: messageReply}
	s := newServer(&Follower{URL: "http://opencode"})
	s.client.Transport = r
	for message, want := range map[string]string{"msg_1": `{"command":"make"}`, "../x": ""} {
		ev := Event{SessionID: "ses_1", MessageID: message, CallID: "call_1"}
		if got := string(s.arguments(t.Context(), ev)); got != want {
			t.Errorf("the arguments of a call of the message %s are %s, want %s", message, got, want)
		}
	}
}
