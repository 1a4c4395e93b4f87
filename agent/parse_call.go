package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/askback/askback/conversation"
)

// NewCall returns a call as a model wrote it. If input is not a JSON object, NewCall puts the input into an
// object as a text. It then rejects the call with an error that the model can correct. An incomplete input is
// never used. cut is set if the reply reached its maximum length in this call.
func NewCall(id, tool, input string, cut bool) conversation.Call {
	c := conversation.Call{ID: id, Tool: tool}
	var object map[string]json.RawMessage
	raw := bytes.TrimSpace([]byte(input))
	if len(raw) == 0 && !cut {
		raw = []byte("{}")
	}
	if err := json.Unmarshal(raw, &object); err == nil && object != nil && utf8.Valid(raw) {
		c.Input = raw
		return c
	}
	c.Input, _ = json.Marshal(map[string]string{invalidJSON: input})
	c.Kind = conversation.KindRejected
	c.Error = notAnObject(tool)
	if cut {
		c.Error = fmt.Sprintf("The call was not made, because your reply reached its maximum length in the middle "+
			"of the input. Call %s again with a shorter input, or split it into several calls.", validTool(tool))
	}
	return c
}

// invalidJSON is the name of the member that contains an input that is not an object.
const invalidJSON = "INVALID_JSON"

func notAnObject(tool string) string {
	return fmt.Sprintf("The call was not made, because its input is not a JSON object. Call %s again with one.",
		validTool(tool))
}

// written returns the input of a call as the model wrote it, even if [NewCall] has put it into an object.
func written(input json.RawMessage) []byte {
	var object map[string]string
	if err := json.Unmarshal(input, &object); err == nil && len(object) == 1 && object[invalidJSON] != "" {
		return []byte(object[invalidJSON])
	}
	return input
}

// CallIDs returns an id for each call in the messages, keyed by N of the call. The id is the id of the model
// if this id is unique and every provider accepts it.
func CallIDs(messages []conversation.Message) map[int]string {
	ids, used := map[int]string{}, map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			id := c.ID
			for n := c.N; !validID(id) || used[id]; n++ {
				id = fmt.Sprintf("call_%d", n)
			}
			ids[c.N], used[id] = id, true
		}
	}
	return ids
}

func validID(id string) bool {
	for _, r := range id {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-') {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// CallTool returns the reply of a program's own model that calls one tool. input must encode as a JSON
// object. The id of the call is the name of the tool.
func CallTool(tool string, input any) (ModelReply, error) {
	b, err := json.Marshal(input)
	return ModelReply{Calls: []conversation.Call{NewCall(tool, tool, string(b), false)}}, err
}
