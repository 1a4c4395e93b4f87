// Fakes runs fakes of the services that Askback sends to, on free ports of this machine: ntfy, Slack,
// Telegram, a mail server, a push service of browsers and a receiver of webhooks. It prints one line of JSON
// with their addresses and the address of a control. The control uses plain HTTP: through it, a test in
// another process or a person with curl reads the messages, presses buttons, writes replies and makes
// requests fail.
//
// Usage:
//
//	go run ./test/fakes [-settings FILE] [-listen ADDRESS] [-open]
//	    [all | ntfy | slack | telegram | email | push | webhook]…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/askback/askback/test/kit/fakes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := fakes.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "fakes: %v\n", err)
		os.Exit(1)
	}
}
