package web

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
)

// exportWriteTime is the longest time that writing a page of an export may take. After this time, the client
// counts as gone.
const exportWriteTime = time.Minute

// export sends all settled asks that the filters of the history select, as JSON Lines or as CSV. It keeps
// only one page of asks in memory. An error after the first page breaks the connection, so that a part cannot
// be mistaken for the whole. After the person has logged out, export sends no further ask, however slowly the
// client reads.
func (s *site) export(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	q, err := historyQuery(pages.HistoryFilterOf(values), "", r.frame.Zone)
	if err != nil {
		return err
	}
	var to exporter
	format := values.Get("format")
	h := w.Header()
	switch format {
	case "jsonl":
		to = &lineExporter{w: w, base: s.publicURL}
		h.Set("Content-Type", "application/jsonl; charset=utf-8")
	case "csv":
		to = newCSVExporter(w)
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	default:
		return askback.Invalid{{Pointer: "?format", Detail: "format must be jsonl or csv", Fix: "format=csv"}}
	}
	q.Limit = askback.MaxLimit
	control := http.NewResponseController(w)
	for begun := false; ; begun = true {
		page, err := r.client.List(r.Context(), q)
		if err != nil && !begun {
			return err
		}
		if !begun {
			h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="askback-history-%s.%s"`,
				s.now().UTC().Format(time.DateOnly), format))
		}
		_ = control.SetWriteDeadline(time.Now().Add(exportWriteTime)) // the recorders of tests have no deadlines
		for _, a := range page.Items {
			if err == nil {
				err = s.reauthenticate(r)
			}
			if err == nil {
				err = to.write(a)
			}
		}
		if err == nil {
			err = to.flush()
		}
		if err != nil {
			s.log.Warn("an export was not finished", "name", r.principal.Name, "error", err)
			panic(http.ErrAbortHandler)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}

// An exporter writes asks in a format.
type exporter interface {
	write(askback.Ask) error
	flush() error
}

// lineExporter writes the JSON of the API. Each line is an ask.
type lineExporter struct {
	w    io.Writer
	base string // address of the pages
	line []byte
}

func (e *lineExporter) write(a askback.Ask) (err error) {
	if e.line, err = a.WithPageURL(e.base).AppendJSON(e.line[:0]); err != nil {
		return err
	}
	e.line = append(e.line, '\n')
	_, err = e.w.Write(e.line)
	return err
}

func (e *lineExporter) flush() error { return nil }

// csvColumns are the columns of an export as CSV.
var csvColumns = []string{
	"id", "created_at", "agent", "owner", "session_id", "kind", "title", "questions", "tool", "server", "arguments",
	"tags", "status", "decision", "answers", "comment", "reason", "by", "by_kind", "via", "settled_at", "seconds_open",
}

// csvExporter writes CSV (RFC 4180).
type csvExporter struct{ *csv.Writer }

func newCSVExporter(w io.Writer) *csvExporter {
	e := &csvExporter{csv.NewWriter(w)}
	e.UseCRLF = true
	_ = e.Write(csvColumns) // Flush returns the error
	return e
}

func (e *csvExporter) write(a askback.Ask) error {
	row := csvRow(a)
	for i, cell := range row {
		row[i] = safeCell(cell)
	}
	return e.Write(row)
}

func (e *csvExporter) flush() error {
	e.Flush()
	return e.Error()
}

// csvRow returns the cells of a settled ask, in the order of csvColumns.
func csvRow(a askback.Ask) []string {
	var c askback.Confirmation
	if a.Confirmation != nil {
		c = *a.Confirmation
	}
	o, input := a.Outcome, c.Input
	if len(o.Input) > 0 {
		input = o.Input
	}
	var questions, answers []string
	for _, q := range a.Questions {
		questions = append(questions, q.Text)
	}
	for _, one := range o.Answers {
		answers = append(answers, strings.Join(one.Values(), ", "))
	}
	return []string{
		a.ID, csvTime(a.CreatedAt), a.Agent, a.Owner, a.SessionID, string(a.Kind), a.Title,
		strings.Join(questions, "\n"), c.ToolName, c.Server, string(input), strings.Join(a.Tags, ", "),
		string(o.Status), string(o.Decision), strings.Join(answers, "\n"), o.Comment, o.Reason, o.Actor.Name,
		string(o.Actor.Kind), string(o.Channel), csvTime(o.At),
		strconv.FormatFloat(o.At.Sub(a.CreatedAt).Seconds(), 'f', 3, 64),
	}
}

func csvTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// inCell matches a sign inside a cell that a spreadsheet may take for the beginning of a formula. In many
// countries, spreadsheets split a file at semicolons. They then ignore quotes after a comma, so they split
// the file at line breaks, too.
var inCell = regexp.MustCompile(`([;\t\r\n]["\s]*)([=+\-@＝＋－＠])`)

// safeCell returns a cell that no spreadsheet takes for a formula. An apostrophe in front makes a formula
// text. Some spreadsheets also take the wide forms of the signs for the beginning of a formula.
func safeCell(s string) string {
	s = inCell.ReplaceAllString(s, "$1'$2")
	if r, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) {
		return "'" + s
	}
	return s
}
