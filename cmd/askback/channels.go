package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/config"
)

// A channelSet has the channels of the settings.
type channelSet struct {
	send     map[string]engine.Channel                      // what the engine sends with, by name
	run      []func(ctx context.Context, e *engine.Engine)  // each reads answers until ctx ends
	handlers map[string]func(e *engine.Engine) http.Handler // what services call, by path
}

// channelOptions are what channels need in addition to the settings.
type channelOptions struct {
	key []byte       // signs links and what services send back; see [connection.Tokens.Key]
	log *slog.Logger // nil: nothing is logged
}

// newChannelSet returns the channels of the settings, which were checked when they were read.
func newChannelSet(file config.Config, o channelOptions) *channelSet {
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	set := &channelSet{send: map[string]engine.Channel{}, handlers: map[string]func(*engine.Engine) http.Handler{}}
	c := file.Channels
	if w := c.Webhook; w.Enabled {
		set.send["webhook"] = must(webhook.New(webhook.Options{Secret: w.Secret, Allow: w.Allow, Version: version()}))
	}
	if len(c.Post) > 0 {
		set.send["post"] = postChannel(c)
	}
	if c.Telegram.Token != "" {
		bot := telegramChannel(c.Telegram, nil, o.log)
		set.send[telegram.Name] = bot
		set.run = append(set.run, func(ctx context.Context, e *engine.Engine) { bot.Run(ctx, e) })
	}
	return set
}

// must returns a channel. The settings were checked, so there is no error.
func must[C any](channel C, err error) C {
	if err != nil {
		panic(err)
	}
	return channel
}

// start begins to read answers. It returns a function that ends it and waits.
func (set *channelSet) start(e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, run := range set.run {
		group.Go(func() { run(ctx, e) })
	}
	return func() {
		cancel()
		group.Wait()
	}
}
