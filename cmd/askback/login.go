package main

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/connection"
	"github.com/askback/askback/web"
)

type loginCommand struct{}

// Run prints a link that logs one browser in.
func (loginCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	pages, err := conn.Pages(ctx)
	if err != nil {
		return err
	}
	if pages == "" {
		return exitError{exitRefused, "no server is running to log in to: start askback serve first"}
	}
	secret, err := conn.User.LoginSecret(ctx)
	if err != nil {
		return err
	}
	note(io.err, fmt.Sprintf("open this link within %d minutes; it works once:", int(askback.LoginTime.Minutes())))
	printLine(io.out, pages+web.LoginPath(secret))
	return nil
}
