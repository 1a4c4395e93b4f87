package main

import (
	"context"

	"github.com/askback/askback/internal/command/doctor"
)

type doctorCommand struct {
	Ready     bool   `xor:"public,lanes" help:"Check only that the server accepts requests, as the health check of a container does."`
	PublicURL string `name:"public-url" xor:"public" placeholder:"URL" help:"Also check the server at this address, as a phone reaches it: certificate, log-in and event streams."`
	Lanes     bool   `xor:"lanes" help:"Also ask a question through each agent that is configured here or for this user, and answer it."`
	JSON      bool   `name:"json" help:"Print the findings as JSON."`
}

// Run prints the findings of all checks. It returns an error if a finding is a failure.
func (c *doctorCommand) Run(ctx context.Context, io streams, all *commands) error {
	program := doctor.Program{
		Config: all.Config, Listen: defaultListen, Settings: all.settings, Database: all.database, StateDir: stateDir,
		Connector: all.strictConnector, EngineSettings: engineSettings, CheckIssuer: checkIssuer, Origin: origin,
	}
	var found doctor.Findings
	if c.Ready {
		found = doctor.Ready(ctx, program)
	} else {
		found = doctor.Check(ctx, program, doctor.Options{PublicURL: c.PublicURL, Lanes: c.Lanes})
	}
	var err error
	if c.JSON {
		err = printJSON(io.out, map[string]doctor.Findings{"checks": found})
	} else {
		err = found.Write(io.out)
	}
	if err == nil && found.Failed() {
		err = exitError{code: exitNo}
	}
	return err
}
