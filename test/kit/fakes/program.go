package fakes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// Run is the program test/fakes: it starts the services that the arguments name, prints one line
// of JSON with their addresses, and runs until ctx ends.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("fakes", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o Options
	settings := flags.String("settings", "", "write settings of a server that sends to the fakes to a `file`")
	listen := flags.String("listen", "127.0.0.1:0", "`address` of the control")
	bound := flags.Bool("bound", false, "end when the standard input ends")
	flags.BoolVar(&o.Open, "open", false, "run ntfy without access control, as ntfy.sh does")
	flags.Usage = func() {
		fmt.Fprintf(stderr, "Usage: fakes [options] [all | %s]…\n", strings.Join(Names(), " | "))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 || len(names) == 1 && names[0] == "all" {
		names = Names()
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	stage := NewStage(ctx)
	defer stage.End()
	all, err := Start(stage, o, names...)
	if err != nil {
		return err
	}
	if *settings != "" {
		if err := os.WriteFile(*settings, []byte(Settings(all)), 0o600); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	out := started{Control: "http://" + l.Addr().String()}
	for _, s := range all {
		out.Services = append(out.Services, s.Describe())
	}
	server := &http.Server{Handler: Control(all)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	if *bound {
		go func() { defer end(); _, _ = io.Copy(io.Discard, stdin) }()
	}
	err = json.NewEncoder(stdout).Encode(out)
	if err == nil {
		<-ctx.Done()
	}
	err = errors.Join(err, server.Close())
	if why := <-served; !errors.Is(why, http.ErrServerClosed) {
		err = errors.Join(err, why)
	}
	return err
}

// A Program is a process with services.
type Program struct {
	Services []Service
	cmd      *exec.Cmd
	stdin    io.Closer
}

// StartProgram starts a command that calls [Run] with the argument -bound. It connects to the services of the
// command, and returns the program.
func StartProgram(cmd *exec.Cmd) (*Program, error) {
	var notes strings.Builder
	cmd.Stderr = &notes
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Program{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		p.Services, err = connect(line)
	}
	if err != nil {
		return nil, fmt.Errorf("start the fakes: %w", errors.Join(err, p.End(), errors.New(notes.String())))
	}
	return p, nil
}

// Service returns the service with a name, or nil.
func (p *Program) Service(name string) Service {
	for _, s := range p.Services {
		if s.Describe().Name == name {
			return s
		}
	}
	return nil
}

// End ends the process.
func (p *Program) End() error { return errors.Join(p.stdin.Close(), p.cmd.Wait()) }
