package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/askback/askback"
)

// goalGrowth is the maximum number of bytes that a settled ask may add to the
// database.
const goalGrowth = 1500

// A growth is the number of bytes that settled asks add to the files of a database.
type growth struct {
	What  string `json:"what"`
	Asks  int    `json:"asks"`
	Bytes int64  `json:"bytes"`
}

func (g growth) each() float64 { return float64(g.Bytes) / float64(g.Asks) }

// measureGrowth measures the files of a new database, and of a database with n settled asks. It closes both
// databases first, so that all data is in the main file.
func measureGrowth(ctx context.Context, p plan, n int) (g growth, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-growth-*")
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	empty, err := grow(ctx, filepath.Join(dir, "empty.db"), 0)
	if err != nil {
		return g, err
	}
	full, err := grow(ctx, filepath.Join(dir, "full.db"), n)
	return growth{"growth", n, full - empty}, err
}

// grow asks, answers and acknowledges n questions over HTTP in a new database.
// It closes the database and returns the size of its files.
func grow(ctx context.Context, path string, n int) (size int64, err error) {
	s, err := openRemoteProduct(ctx, path)
	if err != nil {
		return 0, err
	}
	const atOnce = 8
	err = each(atOnce, func(worker int) error {
		for i := worker; i < n; i += atOnce {
			if err := s.(*product).settle(ctx, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.close()); err != nil {
		return 0, err
	}
	return sizeOf(path)
}

// sizeOf returns the size of the files of a database that is closed.
func sizeOf(path string) (size int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		switch {
		case err == nil:
			size += info.Size()
		case suffix == "" || !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return size, nil
}

// settle asks the question of docs/programs.md over HTTP, answers it, and acknowledges the answer.
func (p *product) settle(ctx context.Context, i int) error {
	a, err := p.agent.Ask(ctx, askback.Request{
		Questions: []askback.Question{{Text: "Deploy build 42?", Options: askback.Options("now", "tonight")}},
		Key:       fmt.Sprintf("deploy-%d", i),
	})
	if err != nil {
		return err
	}
	now := askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"now"}}}}
	if _, err := p.person.Answer(ctx, a.ID, now); err != nil {
		return err
	}
	_, err = p.agent.Ack(ctx, a.ID)
	return err
}

func printGrowth(w io.Writer, g growth) error {
	verdict := "held"
	if g.each() > goalGrowth {
		verdict = "MISSED"
	}
	_, err := fmt.Fprintf(w, "\nThe database grows by %s bytes for each settled ask (goal ≤ %d): %s. Measured with "+
		"%d asks of the question in docs/programs.md, answered and acknowledged.\n",
		short(g.each()), goalGrowth, verdict, g.Asks)
	return err
}

func growthPart(ctx context.Context, p plan, tables, lines, _ io.Writer) error {
	g, err := measureGrowth(ctx, p, p.settled)
	if err != nil {
		return err
	}
	return errors.Join(writeLines(lines, []growth{g}), printGrowth(tables, g))
}
