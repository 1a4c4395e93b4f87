package main

import (
	"context"

	"github.com/askback/askback/internal/command/doctor"
)

type doctorCommand struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Also check the server at this address, as a phone reaches it: certificate, log-in and event streams."`
	Lanes     bool   `help:"Also ask a question through each agent that is configured here or for this user, and answer it."`
	JSON      bool   `name:"json" help:"Print the findings as JSON."`
}

// Run prints the findings of all checks. It returns an error if a finding is a failure.
func (c *doctorCommand) Run(ctx context.Context, io streams, all *commands) error {
	found := doctor.Check(ctx, doctor.Program{
		Config: all.Config, Listen: defaultListen, Settings: all.settings, Database: all.database, StateDir: stateDir,
		Connector: all.strictConnector, EngineSettings: engineSettings, CheckIssuer: checkIssuer, Origin: origin,
	}, doctor.Options{PublicURL: c.PublicURL, Lanes: c.Lanes})
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
