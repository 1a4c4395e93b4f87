package main

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/web"
)

type loginCommand struct{}

// Run prints a link that logs one browser in.
func (loginCommand) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, serving{}, func(d *desk) error {
		at, err := d.connect(ctx)
		if err != nil {
			return err
		}
		if at.pages == "" {
			return ended{exitRefused, "there is nothing to log in to: start askback serve first"}
		}
		secret, err := d.user.LoginSecret(ctx)
		if err != nil {
			return err
		}
		say(io.err, fmt.Sprintf("open this once, within %d minutes:", int(askback.LoginTime.Minutes())))
		printLine(io.out, at.pages+web.LoginPath(secret))
		return nil
	})
}

// waiting is what a command serves while it waits.
var waiting = serving{kind: instance.KindAsk, listen: defaultListen}
