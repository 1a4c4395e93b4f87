package acp

import (
	"encoding/json"
	"strconv"

	"github.com/askback/askback/internal/wire/jcs"
)

// requestIDs has the ids of the agent's requests to the editor. An agent may use an id again as soon as
// Askback has answered. The editor answers, too: it reports that its dialog was cancelled. The editor gets
// another id for the new request, so that its late answer is not taken for an answer to the new request. The
// ids are in their canonical form.
type requestIDs struct {
	answered map[string]bool   // the editor's ids of requests that Askback has answered and the editor has not
	renamed  map[string]string // the agent's ids, keyed by the editor's ids
	current  map[string]string // the editor's ids, keyed by the agent's ids
	last     int               // the number of the last id that was made
}

func newRequestIDs() requestIDs {
	return requestIDs{answered: map[string]bool{}, renamed: map[string]string{}, current: map[string]string{}}
}

// forEditor returns the id with which a new request of the agent is sent to the editor.
func (r *requestIDs) forEditor(id string) string {
	if !r.answered[id] && r.renamed[id] == "" {
		delete(r.current, id)
		return id
	}
	r.last++
	other := `"askback-` + strconv.Itoa(r.last) + `"`
	r.renamed[other], r.current[id] = id, other
	return other
}

// atEditor returns the editor's id of the agent's last request with an id.
func (r *requestIDs) atEditor(id string) string {
	if other := r.current[id]; other != "" {
		return other
	}
	return id
}

// answeredHere records that Askback has answered the request with the given id of the editor.
func (r *requestIDs) answeredHere(id string) { r.answered[id] = true }

// answeredByEditor returns the agent's id of a request that the editor answers, and whether the answer is
// late.
func (r *requestIDs) answeredByEditor(id string) (agentID string, late bool) {
	late = r.answered[id]
	delete(r.answered, id)
	agentID = id
	if original, ok := r.renamed[id]; ok {
		agentID = original
		delete(r.renamed, id)
		if r.current[original] == id {
			delete(r.current, original)
		}
	}
	return agentID, late
}

// withID returns a message with another id. A message that has the id already is unchanged.
func withID(line []byte, is, id string) []byte {
	if is == id {
		return line
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil {
		return line // impossible: the message was read before
	}
	m["id"] = json.RawMessage(id)
	out, _ := json.Marshal(m) // its members were read as JSON
	return append(out, '\n')
}

// cancellation returns the notification that cancels a request at the editor.
func cancellation(id json.RawMessage) []byte {
	line, _ := jcs.Marshal(map[string]any{ // the id is valid JSON
		"jsonrpc": "2.0", "method": "$/cancel_request", "params": map[string]any{"requestId": id},
	})
	return append(line, '\n')
}
