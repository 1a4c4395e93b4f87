package slack

import (
	"context"
	"io"
	"log"
	"math/rand/v2"
	"time"

	"github.com/slack-go/slack/socketmode"

	"github.com/askback/askback/internal/pause"
)

// maxReconnect is the maximum pause between attempts to connect after the library has given up, for example
// because Slack rejected the token. Options.Reconnect is the first pause.
const maxReconnect = 5 * time.Minute

// maxHandled is the maximum number of concurrent actions over Socket Mode.
const maxHandled = 64

// Run receives actions over Socket Mode until ctx ends. Without an app token it only checks the settings.
func (c *Channel) Run(ctx context.Context, engine Engine) {
	if err := c.checkTeam(ctx); err != nil && ctx.Err() == nil {
		c.options.Log.Error("Slack: the settings do not work", "error", err)
	}
	if c.options.AppToken == "" {
		return
	}
	for pauses := (pause.Backoff{First: c.options.Reconnect, Max: maxReconnect}); ctx.Err() == nil; {
		began := time.Now()
		err := c.connect(ctx, engine)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxReconnect {
			pauses.Reset()
		}
		next := pauses.Next()
		c.options.Log.Error("Slack: Socket Mode has no connection", "error", c.failed("apps.connections.open", err),
			"retry", next)
		_ = pause.For(ctx, next+rand.N(next/10)) // the loop ends with ctx
	}
}

// connect keeps a connection until ctx ends or Slack rejects the app. Before it returns, it waits until the
// actions that have begun are performed.
func (c *Channel) connect(ctx context.Context, engine Engine) error {
	ctx, cancel := context.WithCancel(ctx)
	client := socketmode.New(c.api, socketmode.OptionReadLimit(maxRequest),
		socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	slots := make(chan struct{}, maxHandled)
	for {
		select {
		case err := <-ended:
			cancel()
			for range maxHandled { // wait for actions that are being performed
				slots <- struct{}{}
			}
			return err
		case event := <-client.Events:
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				c.receive(ctx, client, engine, event)
			}()
		}
	}
}

// receive performs an event of the connection and acknowledges it.
func (c *Channel) receive(ctx context.Context, client *socketmode.Client, engine Engine, event socketmode.Event) {
	switch event.Type {
	case socketmode.EventTypeConnected:
		c.options.Log.Info("Slack: connected by Socket Mode")
	case socketmode.EventTypeInteractive:
		var reply []any
		if r := c.interact(ctx, engine, event.Request.Payload); r != nil {
			reply = append(reply, r)
		}
		c.acknowledge(ctx, client, event, reply...)
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeSlashCommand:
		c.acknowledge(ctx, client, event)
	}
}

func (c *Channel) acknowledge(ctx context.Context, client *socketmode.Client, event socketmode.Event, reply ...any) {
	var payload any
	if len(reply) > 0 {
		payload = reply[0]
	}
	if err := client.AckCtx(ctx, event.Request.EnvelopeID, payload); err != nil {
		c.options.Log.Warn("Slack did not get an acknowledgement", "error", err)
	}
}
