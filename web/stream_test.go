package web_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/test/kit/racedetector"
)

// lineInjections are texts that would end a field or a message of a stream if their line breaks were line
// breaks of the stream. A carriage return alone is such a line break, too.
var lineInjections = []string{
	"x\revent: reload\rdata:\r\rz",
	"x\n\nevent: settled\ndata: ses_1\n\n",
	"x\r\n\r\nid: 0\r\nevent: gone\r\ndata: ses_1\r\n\r\n",
	"\rid: 0\rretry: 1\r",
	"data: <img src=x onerror=alert(1)>\r\r:",
}

// filterLink is a link that filters by a name that an agent chose. Its query contains the name, escaped.
var filterLink = regexp.MustCompile(`(href=/\?(?:agent|tag)=)[\w%+.~-]+`)

// A message is an event of a stream, as a browser reads it.
type message struct{ id, event, data string }

// readMessages reads the messages of a stream until a message has this text. Lines end with a line feed, a
// carriage return, or both.
func readMessages(t *testing.T, stream *bufio.Reader, last string) (all []message) {
	t.Helper()
	var m message
	for raw := ""; ; raw = "" {
		for !strings.HasSuffix(raw, "\n") {
			part, err := stream.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended after %d messages: %v", len(all), err)
			}
			raw += part
		}
		for _, line := range strings.Split(
			strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(raw, "\r\n", "\n"), "\n"), "\r", "\n"), "\n",
		) {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				m.data += value + "\n"
			case "":
				if line == "" && m.data != "" {
					all = append(all, m)
					if strings.Contains(m.data, last) {
						return all
					}
				}
				if line == "" {
					m = message{}
				}
			default:
				t.Errorf("the stream has the line %.80q", line)
			}
		}
	}
}

// Whatever text an agent writes, the live list of an open page gets one message for each ask. The message is
// the row of the ask, and the text stays in its blocks (T6, T7, T9, T10).
func TestAgentTextStaysInsideItsMessage(t *testing.T) {
	racedetector.Omit(t)
	h := newServer(t)
	ana := h.browser("ana")
	address := ana.open("/", http.StatusOK).one(t, "[connect]").attr["connect"]
	server := httptest.NewServer(h.handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "askback", Value: ana.secret})
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	stream := bufio.NewReader(reply.Body)
	want := map[int]string{}
	for i, s := range slices.Concat([]string{"x"}, lineInjections, injections) {
		for kind, request := range hostile(s) {
			a := h.ask(request)
			got := readMessages(t, stream, `data-ask="`+a.ID+`"`)
			if len(got) != 1 || got[0].event != "" || got[0].id == "" || got[0].id == "0" {
				t.Fatalf("%.80q: got %d messages: %.300q", s, len(got), got)
			}
			row := parse(t, got[0].data)
			checkFrames(t, row, s)
			if rows := row.all(".row"); len(rows) != 1 || rows[0].attr["data-ask"] != a.ID {
				t.Errorf("%.80q: got %d rows", s, len(rows))
			}
			shape := filterLink.ReplaceAllString(structure(row), "$1(name)")
			if i == 0 {
				want[kind] = shape
			} else if d := cmp.Diff(want[kind], shape); d != "" {
				t.Errorf("%.80q: the row has another shape: %s", s, d)
			}
		}
	}
}
