package main

import (
	"crypto/rand"

	"github.com/askback/askback/channel/webhook"
)

// webhookCommand has the commands for the webhooks that the server sends.
type webhookCommand struct {
	Secret webhookSecretCommand `cmd:"" help:"Print a new secret for channels.webhook.secret in the settings."`
}

type webhookSecretCommand struct{}

// Run prints a new secret. It stores nothing.
func (webhookSecretCommand) Run(io streams) error {
	secret, err := webhook.NewSecret(rand.Reader)
	if err != nil {
		return err
	}
	printLine(io.out, secret)
	return nil
}
