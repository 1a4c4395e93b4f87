package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/setup"
	"github.com/askback/askback/internal/command/completion"
)

// completionTime is how long finding candidates may take. A person waits for them after each press of Tab.
const completionTime = 800 * time.Millisecond

type completionCommand struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"Print the script for this shell: bash, zsh or fish."`
	Words []string `arg:"" optional:"" sep:"none" name:"word" help:"Print the candidates for the last of these words. Write -- before them."`
}

// Run prints the script or, with words, the candidates for the last word. An error in finding candidates is
// not returned, because the shell would print it into the command line.
func (c *completionCommand) Run(ctx context.Context, io streams, all *commands) error {
	if len(c.Words) == 0 {
		script, err := completion.Script(c.Shell)
		if err == nil {
			_, err = io.out.Write(script)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found := make(chan completion.Candidates, 1)
	program := (&commands{}).parser().Model.Node
	last := len(c.Words) - 1
	words, _ := respell(program.Flags, c.Words[:last])
	words = append(slices.Clone(words), c.Words[last])
	go func() { found <- completion.Read(program, all.completionSource(), c.Shell, words).Find(ctx) }()
	select {
	case list := <-found:
		return list.Write(io.out)
	case <-ctx.Done(): // unfinished work, such as reading a file, ends with the process
		return completion.Candidates{}.Write(io.out)
	}
}

func (all *commands) completionSource() completion.Source {
	return completion.Source{
		Client: all.clientFor, Clients: setup.Names(), Latest: latest, Grants: allGrants, Endpoints: allEndpoints,
		TokenUse: usedBy,
		Get: func(ctx context.Context, client askback.Inbox, typed string) (askback.Ask, error) {
			return lookup{client: client, verb: "answer", decides: true}.get(ctx, typed)
		},
		Each: func(ctx context.Context, client askback.Inbox, status askback.Status, do func(askback.Ask)) error {
			return lookup{client: client}.each(ctx, status, do)
		},
	}
}

// clientFor returns a client for the server that the command on a line would use, and a function that closes
// the client. It does not connect to a database, and writes nothing.
func (all commands) clientFor(line *completion.Line) (askback.Client, func(), error) {
	all.DB, all.Config = line.Path("db", all.DB), line.Path("config", all.Config)
	file, err := all.settings()
	if err == nil {
		var database string
		if database, err = all.database(file); err == nil {
			_, err = os.Stat(filepath.Dir(database)) // otherwise options would create the directory
		}
		if err != nil {
			return nil, nil, err
		}
	}
	_, o, err := all.clientOptions(context.Background(), io.Discard, "")
	if err != nil {
		return nil, nil, err
	}
	o.ServerOnly = true
	conn, err := connector(o)
	if err != nil {
		return nil, nil, err
	}
	return conn.User, func() { _ = conn.Close() }, nil
}
