package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/askback/askback"
)

// smallDataset is compared with the large dataset. It fills the first pages of every list.
var smallDataset = dataset{pending: 2000, settled: 10_000}

// The databases of the scale measurements. Cycles on the large database are compared with cycles on an empty
// database, and reads with reads on the small database.
const (
	emptyDatabase = "empty"
	smallDatabase = "small"
	largeDatabase = "large"
)

// A scale contains the measurements of databases of different sizes.
type scale struct {
	plan      plan
	databases map[string]*scaleReads // small and large
	cycles    map[scaleKey][]measurement
}

// A scaleKey is a case of the cycle on an empty or the large database.
type scaleKey struct {
	database, place string
	runs            int
}

// A scaleCase contains a function that opens a subject, and the place of the subject.
type scaleCase struct {
	place string
	open  func(ctx context.Context, path string) (subject, error)
}

var scaleCases = []scaleCase{{inProcess, openProduct}, {"many agents", openManyAgents}, {remote, openRemoteProduct}}

// manyAgents is an engine in this process. The agents of the dataset ask in turn, so that cycles change many
// pages of the indices by owner.
type manyAgents struct {
	*product
	agents []askback.Asker
	last   atomic.Int64
	owners sync.Map // maps the id of an ask to its agent
}

func openManyAgents(ctx context.Context, path string) (subject, error) {
	p, err := openEngine(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	m := &manyAgents{product: p}
	for n := range datasetAgents {
		m.agents = append(m.agents,
			p.engine.As(askback.Principal{Kind: askback.Agent, Name: agentName(n), Channel: askback.ChannelAPI}))
	}
	return m, nil
}

func (m *manyAgents) ask(ctx context.Context) (string, error) {
	agent := m.agents[m.last.Add(1)%datasetAgents]
	a, err := agent.Ask(ctx, request())
	if err != nil {
		return "", err
	}
	m.owners.Store(a.ID, agent)
	return a.ID, nil
}

func (m *manyAgents) wait(ctx context.Context, id string) error {
	agent, ok := m.owners.LoadAndDelete(id)
	if !ok {
		return fmt.Errorf("%s: no agent has asked it, or its agent has already waited", id)
	}
	return waitForReply(ctx, agent.(askback.Asker), id)
}

// measureScale measures reads on the small and on the large database, then cycles, and last the deletion of
// old asks. It creates the databases that do not exist.
func measureScale(ctx context.Context, p plan, progress io.Writer) (s *scale, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-scale-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	paths := map[string]string{
		smallDatabase: filepath.Join(dir, "small.db"), largeDatabase: filepath.Join(dir, "large.db"),
	}
	if p.data != "" {
		paths[largeDatabase] = p.data
	}
	s = &scale{plan: p, databases: map[string]*scaleReads{}, cycles: map[scaleKey][]measurement{}}
	for name, d := range map[string]dataset{smallDatabase: smallDataset, largeDatabase: p.large} {
		if _, err := os.Stat(paths[name]); err == nil {
			continue
		}
		if err := d.write(ctx, paths[name], progress); err != nil {
			return nil, fmt.Errorf("write the %s database: %w", name, err)
		}
	}
	for range p.rounds {
		for _, name := range []string{smallDatabase, largeDatabase} {
			if s.databases[name] == nil {
				s.databases[name] = &scaleReads{}
			}
			if err := s.databases[name].measure(ctx, "reads", paths[name]); err != nil {
				return nil, fmt.Errorf("read the %s database: %w", name, err)
			}
		}
	}
	fmt.Fprintln(progress, "bench: reads are measured")
	if err := s.measureCycles(ctx, dir, paths[largeDatabase], progress); err != nil {
		return nil, err
	}
	for _, name := range []string{smallDatabase, largeDatabase} {
		if err := s.databases[name].measure(ctx, "clean", paths[name], cleanCount); err != nil {
			return nil, fmt.Errorf("delete old asks of the %s database: %w", name, err)
		}
	}
	return s, nil
}

// measureCycles measures cycles on new databases and on the large database, alternating in each round.
func (s *scale) measureCycles(ctx context.Context, dir, large string, progress io.Writer) error {
	patience := patience{s.plan.patience}
	for round := range s.plan.rounds {
		for _, runs := range s.plan.runs {
			for i, c := range scaleCases {
				paths := map[string]string{
					emptyDatabase: filepath.Join(dir, fmt.Sprintf("empty-%d-%d-%d.db", round, runs, i)),
					largeDatabase: large,
				}
				order := []string{emptyDatabase, largeDatabase}
				if round%2 == 1 {
					order = []string{largeDatabase, emptyDatabase}
				}
				for _, name := range order {
					patience.wait(ctx)
					m, err := measureAt(ctx, c, paths[name], s.plan, runs)
					if err != nil {
						return fmt.Errorf("cycle on the %s database, %s, %d runs: %w", name, c.place, runs, err)
					}
					k := scaleKey{name, c.place, runs}
					s.cycles[k] = append(s.cycles[k], m)
				}
				if err := removeDatabase(paths[emptyDatabase]); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(progress, "bench: round %d of %d\n", round+1, s.plan.rounds)
	}
	return nil
}

// measureAt measures cycles on the database at path.
func measureAt(ctx context.Context, c scaleCase, path string, p plan, runs int) (m measurement, err error) {
	subject, err := c.open(ctx, path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, subject.close()) }()
	return measureSubject(ctx, subject, p, runs)
}

// removeDatabase removes all files whose path begins with the path of a database.
func removeDatabase(path string) error {
	files, err := filepath.Glob(path + "*")
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// of returns the spread of a quantity on the large database divided by the quantity on an empty database. It
// divides the values of the same round.
func (s *scale) of(c scaleCase, runs int, q quantity) spread {
	values := func(database string) map[int]float64 {
		out := map[int]float64{}
		for round, m := range s.cycles[scaleKey{database, c.place, runs}] {
			out[round] = q(m)
		}
		return out
	}
	return spreadOf(ratios(values(largeDatabase), values(emptyDatabase)))
}

// spread returns the spread of a quantity on a database.
func (s *scale) spread(k scaleKey, q quantity) spread {
	var values []float64
	for _, m := range s.cycles[k] {
		values = append(values, q(m))
	}
	return spreadOf(values)
}

// A scaleLine is the JSON form of one figure.
type scaleLine struct {
	What    string `json:"what"` // "scale"
	Figure  string `json:"figure"`
	Pending int    `json:"pending"`
	Settled int    `json:"settled"`
	Value   spread `json:"value"`
}

// goalScale is the maximum time of a cycle on the large database, relative to an empty database.
const goalScale = 1.1

// figures calls do for each figure, in the order of the tables.
func (s *scale) figures(do func(name string, small, large, ratio spread)) {
	for i, op := range s.databases[largeDatabase].all() {
		small := s.databases[smallDatabase].all()[i]
		do(op.name, spreadOf(small.values), spreadOf(op.values), spreadOf(ratiosOf(op.values, small.values)))
	}
}

// ratiosOf divides each value by the value with the same index in by. It omits values whose divisor is zero
// or missing.
func ratiosOf(values, by []float64) (out []float64) {
	for i := range min(len(values), len(by)) {
		if by[i] != 0 {
			out = append(out, values[i]/by[i])
		}
	}
	return out
}

func (s *scale) lines() (all []scaleLine) {
	add := func(name string, v spread) {
		all = append(all, scaleLine{"scale", name, s.plan.large.pending, s.plan.large.settled, v})
	}
	for _, runs := range s.plan.runs {
		for _, c := range scaleCases {
			add(fmt.Sprintf("time of a cycle, %s, %d runs, of empty", c.place, runs), s.of(c, runs, timeEach))
		}
	}
	s.figures(func(name string, _, large, _ spread) { add(name, large) })
	return all
}

// print prints the tables.
func (s *scale) print(w io.Writer) error {
	p := s.plan
	fmt.Fprintf(w, "\nThe cycle on a database with %d pending and %d settled asks, of an empty one: median of %d "+
		"rounds of %s [min..max].\n",
		p.large.pending, p.large.settled, p.rounds, p.duration)
	t := newTable(w)
	fmt.Fprintln(t, "runs\tplace\tempty, cycles/s\tlarge, cycles/s\ttime of a cycle\tgoal\tp50\tp99\tCPU\tothers' load")
	for _, runs := range p.runs {
		for _, c := range scaleCases {
			empty, large := scaleKey{emptyDatabase, c.place, runs}, scaleKey{largeDatabase, c.place, runs}
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t≤ %g\t%s\t%s\t%s\t%.2f\n",
				runs, c.place, s.spread(empty, perSecond), s.spread(large, perSecond),
				s.of(c, runs, timeEach), goalScale, s.of(c, runs, p50), s.of(c, runs, p99), s.of(c, runs, cpu),
				max(s.spread(empty, others).Median, s.spread(large, others).Median))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nReads in ms, and deletions: a database with %d pending and %d settled asks, and the large one.\n"+
		"Lists with few matches may grow to 250 ms, and deletions with the number of pending asks that are older. "+
		"The others may not grow.\n",
		smallDataset.pending, smallDataset.settled)
	t = newTable(w)
	fmt.Fprintln(t, "what\tsmall\tlarge\tratio")
	s.figures(func(name string, small, large, ratio spread) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, small, large, ratio)
	})
	return t.Flush()
}

// scaleReads contains the figures of one database, keyed by name: times in ms, and the memory of the process
// in MB.
type scaleReads struct {
	names  []string
	values map[string][]float64
}

// A figure contains the values of one measurement in all rounds.
type figure struct {
	name   string
	values []float64
}

func (r *scaleReads) add(name string, v float64) {
	if r.values == nil {
		r.values = map[string][]float64{}
	}
	if r.values[name] == nil {
		r.names = append(r.names, name)
	}
	r.values[name] = append(r.values[name], v)
}

// all returns the figures in the order in which they were first added.
func (r *scaleReads) all() (list []figure) {
	for _, name := range r.names {
		list = append(list, figure{name, r.values[name]})
	}
	return list
}

// cleanCount is how many asks are deleted to measure the clean-up.
const cleanCount = 128

// measure runs a child command on the database at path, and adds its figures.
func (r *scaleReads) measure(ctx context.Context, command, path string, numbers ...int) error {
	c, err := start(ctx, command, path, numbers...)
	if err != nil {
		return err
	}
	for {
		var f scaleFigure
		if err := c.read(&f); err != nil || f.Name == "" {
			return errors.Join(err, c.kill())
		}
		r.add(f.Name, f.Value)
	}
}

// A scaleFigure is one result of a child. The last result has no name.
type scaleFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}
