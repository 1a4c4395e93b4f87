package agents_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/test/kit/golden"
)

// A situation is a column of the table in docs/agents.md.
type situation string

const (
	inTime   situation = "in time"      // a person answers in Askback before the time-out of the client
	late     situation = "late"         // a person answers in Askback after the time-out of the client
	dialog   situation = "own dialog"   // a person answers in the client, while Askback asks as well
	restart  situation = "restart"      // Askback is killed and restarted before the answer
	away     situation = "away"         // Askback does not run, and a person is at the terminal
	headless situation = "away, no one" // Askback does not run, and no one is at the terminal
	twice    situation = "twice"        // the model makes the same request again, after the answer
)

var situations = []situation{inTime, late, dialog, restart, away, headless, twice}

// The kinds of requests.
const (
	question   = "question"
	permission = "permission"
)

// A lane is a row of the table: a way in which the requests of a client reach people.
type lane struct {
	agent string // the name in the table
	kind  string // question or permission
	by    string // the surface
	// cells are the tests of the situations.
	cells map[situation]func(*testing.T)
	// not gives the reason if there is no test: the situation cannot occur, or it is not supported.
	not map[situation]string
}

// lanes are the rows of the table, sorted by agent.
var lanes = slices.SortedStableFunc(slices.Values(slices.Concat(
	claudeLanes(),
	codexLanes(),
	attachLanes(),
	copilotLanes(),
	geminiLanes(),
	openCodeLanes(),
	mcpLanes(),
)), func(a, b lane) int {
	return strings.Compare(a.agent, b.agent)
})

// name returns the name of a row for a subtest.
func (l lane) name() string { return l.kind + " by " + l.by }

// covering returns the cells that TestMatrix tests without ASKBACK_LONG, by the keys of cellKey. It contains
// the first situation of each row, and each situation of each agent in at least one row. The rows of an agent
// take turns.
func covering() map[string]bool {
	chosen, covered := map[string]bool{}, map[string]bool{}
	choose := func(l lane, s situation) {
		chosen[cellKey(l, s)], covered[l.agent+string(s)] = true, true
	}
	byAgent := map[string][]lane{}
	for _, l := range lanes {
		byAgent[l.agent] = append(byAgent[l.agent], l)
		for _, s := range situations {
			if l.cells[s] != nil {
				choose(l, s)
				break
			}
		}
	}
	for _, rows := range byAgent {
		for i, s := range situations {
			for n := range rows {
				if l := rows[(i+n)%len(rows)]; l.cells[s] != nil && !covered[l.agent+string(s)] {
					choose(l, s)
				}
			}
		}
	}
	return chosen
}

// Without ASKBACK_LONG, each row and each situation of each agent is tested.
func TestCoveringCellsIncludeEachRowAndSituation(t *testing.T) {
	t.Parallel()
	chosen, total := covering(), 0
	for _, l := range lanes {
		row := false
		for s := range l.cells {
			total++
			row = row || chosen[cellKey(l, s)]
			if !slices.ContainsFunc(lanes,
				func(other lane) bool { return other.agent == l.agent && chosen[cellKey(other, s)] }) {
				t.Errorf("%s: no row has a test of %q", l.agent, s)
			}
		}
		if !row {
			t.Errorf("%s, %s: no cell is tested", l.agent, l.name())
		}
	}
	t.Logf("%d of %d cells", len(chosen), total)
}

// TestMatrix tests cells of the table in docs/agents.md with the real clients: all cells with ASKBACK_LONG,
// otherwise the cells of [covering]. With -update, it writes the table.
func TestMatrix(t *testing.T) {
	t.Parallel()
	results := &results{cells: map[string]string{}}
	t.Cleanup(func() { results.check(t) })
	chosen, all := covering(), os.Getenv("ASKBACK_LONG") != ""
	agents := map[string][]lane{}
	for _, l := range lanes {
		agents[l.agent] = append(agents[l.agent], l)
	}
	for agent, lanes := range agents {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			for _, l := range lanes {
				for s, test := range l.cells {
					if !all && !chosen[cellKey(l, s)] {
						continue
					}
					t.Run(l.name()+"/"+string(s), func(t *testing.T) {
						t.Parallel()
						t.Cleanup(func() { results.add(t, l, s) })
						test(t)
					})
				}
			}
		})
	}
}

// results are the results of the tested cells.
type results struct {
	mu    sync.Mutex
	cells map[string]string // keyed by cellKey
}

func cellKey(l lane, s situation) string { return l.agent + ", " + l.name() + ": " + string(s) }

func (r *results) add(t *testing.T, l lane, s situation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case t.Failed():
		r.cells[cellKey(l, s)] = "no"
	case !t.Skipped():
		r.cells[cellKey(l, s)] = "yes"
	}
}

// check compares the results with the table in the document, or writes them to it.
func (r *results) check(t *testing.T) {
	shown, err := readTable()
	if err != nil {
		t.Error(err)
		return
	}
	for key, result := range r.cells {
		if !golden.Updating() && shown.cells[key] != result {
			t.Errorf("%s: the table in %s has %q, the test %q", key, tableFile, shown.cells[key], result)
		}
		shown.cells[key] = result
	}
	if golden.Updating() && len(r.cells) > 0 {
		golden.Write(t, tableFile, shown.before+render(shown.cells)+shown.after)
	}
}

// The table of the document lists exactly the cells that have a test or a reason.
func TestMatrixInDocumentListsTheCells(t *testing.T) {
	t.Parallel()
	shown, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lanes {
		for _, s := range situations {
			test, reason := l.cells[s], l.not[s]
			if (test == nil) == (reason == "") {
				t.Errorf("%s: want either a test or a reason", cellKey(l, s))
			}
			if result := shown.cells[cellKey(l, s)]; test != nil && result != "yes" && result != "no" {
				t.Errorf("%s: the document has the result %q", cellKey(l, s), result)
			}
		}
	}
	if golden.Updating() {
		return // TestMatrix writes it
	}
	if got := shown.before + render(shown.cells) + shown.after; got != shown.whole {
		t.Errorf("%s has another table; run TestMatrix with the clients and -update", tableFile)
	}
}

const tableFile = "../../../docs/agents.md"

// A table is the table in the document.
type table struct {
	whole         string // the document
	before, after string // parts of the document
	cells         map[string]string
}

var tableMark = regexp.MustCompile(`(?s)^(.*<!-- matrix -->\n)(.*?)(<!-- end -->\n.*)$`)

// readTable returns the table in the document, with the cells of known rows.
func readTable() (table, error) {
	raw, err := os.ReadFile(tableFile)
	if err != nil {
		return table{}, err
	}
	parts := tableMark.FindStringSubmatch(string(raw))
	if parts == nil {
		return table{}, fmt.Errorf("%s has no table between the marks of the matrix", tableFile)
	}
	shown := table{whole: parts[0], before: parts[1], after: parts[3], cells: map[string]string{}}
	for line := range strings.Lines(parts[2]) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 3+len(situations) {
			continue
		}
		for i, s := range situations {
			shown.cells[cellKey(lane{agent: cells[0], kind: cells[1], by: cells[2]}, s)] = cells[3+i]
		}
	}
	return shown, nil
}

// render returns the table with the results of the cells. The reasons are in a list after it.
func render(cells map[string]string) string {
	var out strings.Builder
	out.WriteString("\n| agent | request | by |")
	for _, s := range situations {
		fmt.Fprintf(&out, " %s |", s)
	}
	out.WriteString("\n|" + strings.Repeat("---|", 3+len(situations)) + "\n")
	var reasons []string
	for _, l := range lanes {
		fmt.Fprintf(&out, "| %s | %s | %s |", l.agent, l.kind, l.by)
		for _, s := range situations {
			result := cells[cellKey(l, s)]
			if reason := l.not[s]; reason != "" {
				if !slices.Contains(reasons, reason) {
					reasons = append(reasons, reason)
				}
				result = fmt.Sprintf("– (%d)", slices.Index(reasons, reason)+1)
			}
			fmt.Fprintf(&out, " %s |", result)
		}
		out.WriteString("\n")
	}
	out.WriteString("\n")
	for i, reason := range reasons {
		fmt.Fprintf(&out, "%d. %s\n", i+1, reason)
	}
	out.WriteString("\n")
	return out.String()
}
