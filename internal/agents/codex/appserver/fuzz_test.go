package appserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// A recording is a transport that delivers messages of an app-server and records the replies.
type recording struct {
	messages [][]byte
	atEnd    func()
	broken   string // no message that contains this text can be sent
	mu       sync.Mutex
	sent     [][]byte
}

func (r *recording) ReadMessage() (int, []byte, error) {
	if len(r.messages) == 0 {
		r.atEnd()
		return 0, nil, io.EOF
	}
	m := r.messages[0]
	r.messages = r.messages[1:]
	return 1, m, nil
}

func (r *recording) WriteMessage(_ int, content []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != "" && bytes.Contains(content, []byte(r.broken)) {
		return io.ErrClosedPipe
	}
	r.sent = append(r.sent, bytes.Clone(content))
	return nil
}

func (r *recording) SetWriteDeadline(time.Time) error { return nil }
func (r *recording) Close() error                     { return nil }

const (
	resumed     = `{"id":3,"result":{"thread":{"id":"t","cwd":"/srv/shop"},"initialTurnsPage":{"data":[{"id":"u","items":[{"type":"fileChange","id":"i","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x\n"}]}]}]}}}`
	initialized = `{"id":1,"result":{"userAgent":"codex-tui/0.169.0 (x)"}}`
	listed      = `{"id":2,"result":{"data":["t"],"nextCursor":null}}`
	commandAsk  = `{"method":"item/commandExecution/requestApproval","id":0,"params":{"kind":"command","threadId":"t","turnId":"u","itemId":"i","startedAtMs":1795492870479,"environmentId":"local","reason":"May I make a file?","command":"/bin/bash -lc 'touch a'","cwd":"/srv/shop","commandActions":[{"type":"unknown","command":"touch a"}],"availableDecisions":["accept","cancel"]}}`
	editAsk     = `{"method":"item/fileChange/requestApproval","id":2,"params":{"threadId":"t","turnId":"u","itemId":"i","startedAtMs":1795492964491,"reason":null,"grantRoot":null}}`
	grantAsk    = `{"method":"item/permissions/requestApproval","id":4,"params":{"threadId":"t","turnId":"u","itemId":"i","environmentId":"local","startedAtMs":1795493157437,"cwd":"/srv/shop","reason":"need net","permissions":{"network":{"enabled":true},"fileSystem":null}}}`
	questionAsk = `{"method":"item/tool/requestUserInput","id":5,"params":{"threadId":"t","turnId":"u","itemId":"i","questions":[{"id":"db","header":"DB","question":"Which database?","isOther":true,"isSecret":false,"options":[{"label":"PostgreSQL","description":"server"},{"label":"SQLite","description":"file"}]}],"isBlocking":true,"autoResolutionMs":null}}`
	toolAsk     = `{"method":"mcpServer/elicitation/request","id":6,"params":{"threadId":"t","turnId":"u","serverName":"probe","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session","always"],"tool_name":"write","tool_description":"writes","tool_params":{"x":"1"}},"message":"Allow the probe MCP server to run tool \"write\"?","requestedSchema":{"type":"object","properties":{}}}}`
)

// unapproved lists outcomes that approve nothing.
var unapproved = hooktest.Unapproved("accept")

// Whatever the app-server sends, nothing is approved without an approval.
func FuzzMessages(f *testing.F) {
	for i := range unapproved {
		for _, ask := range []string{commandAsk, editAsk, grantAsk, questionAsk, toolAsk} {
			f.Add(strings.Join([]string{initialized, listed, resumed, ask}, "\n"), i)
		}
		f.Add(strings.Join([]string{
			initialized, listed, editAsk, resumed,
			`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u"}}}`,
		}, "\n"), i)
		f.Add(strings.Join([]string{
			initialized, `{"method":"thread/started","params":{"thread":{"id":"t"}}}`, `{"id":`, `[]`, `null`,
			`{"id":1,"result":{}}`,
		}, "\n"), i)
	}
	f.Fuzz(func(t *testing.T, messages string, outcome int) {
		r := &recording{}
		for line := range strings.SplitSeq(messages, "\n") {
			r.messages = append(r.messages, []byte(line))
		}
		asks := &hooktest.Client{Outcome: unapproved[uint(outcome)%uint(len(unapproved))]}
		f := &Follower{Asks: asks, Note: func(string) {}}
		s := newSession(f, f.asker(), r)
		r.atEnd = s.dialogs.Wait // the asks must not end with the connection
		_ = s.run(t.Context())
		for _, raw := range r.sent {
			var m struct {
				Method string `json:"method"`
				Result struct {
					Decision    string         `json:"decision"`
					Action      string         `json:"action"`
					Permissions map[string]any `json:"permissions"`
				} `json:"result"`
			}
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatalf("sent %s: %v", raw, err)
			}
			if m.Method == "" && (m.Result.Decision != "" && m.Result.Decision != "decline" ||
				m.Result.Action != "" && m.Result.Action != "decline" || len(m.Result.Permissions) > 0) {
				t.Fatalf("after %+v, sent %s", asks.Outcome, raw)
			}
		}
	})
}
