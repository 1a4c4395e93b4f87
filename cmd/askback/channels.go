package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/answerlink"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/web"
)

// A channelSet has the channels of the settings.
type channelSet struct {
	send     map[string]engine.Channel                      // what the engine sends with, by name
	run      []func(ctx context.Context, e *engine.Engine)  // each reads answers until ctx ends
	handlers map[string]func(e *engine.Engine) http.Handler // what services call, by path
	pages    *answerlink.Signer                             // signs the links to pages that need no log-in
	settings atomic.Pointer[engine.Settings]                // the present ones, for channels

	push web.Push // lets people turn on notifications; nil: they cannot
}

// chats returns the names of the channels whose chats people link by a code, in order.
func (set *channelSet) chats() (names []string) {
	for name, c := range set.send {
		if _, ok := c.(engine.CodeChannel); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// apply lets the channels use the settings that apply now, as far as they can.
func (set *channelSet) apply(s engine.Settings) { set.settings.Store(&s) }

// channelOptions are what channels need in addition to the settings.
type channelOptions struct {
	// key signs links and what services send back. It is called while this process has the
	// database; see [connection.Tokens.SecretKey].
	key func() ([]byte, error)
	log *slog.Logger // nil: nothing is logged

	publicURL string // of the server, if it is not that of the settings
}

// newChannelSet returns the channels of the settings, which were checked when they were read.
func newChannelSet(file config.Config, o channelOptions) *channelSet {
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	set := &channelSet{send: map[string]engine.Channel{}, handlers: map[string]func(*engine.Engine) http.Handler{}}
	set.pages = answerlink.New(o.key, answerlink.Page)
	c := file.Channels
	if w := c.Webhook; w.Enabled {
		set.send["webhook"] = must(webhook.New(webhook.Options{Secret: w.Secret, Allow: w.Allow, Version: version()}))
	}
	if len(c.Post) > 0 {
		phones := postChannel(c, post.Options{Pages: set.pages, Replies: answerlink.New(o.key, answerlink.Reply), Log: o.log})
		set.send["post"] = phones
		set.run = append(set.run, func(ctx context.Context, e *engine.Engine) { phones.Run(ctx, e) })
	}
	if c.Telegram.Token != "" {
		bot := telegramChannel(c.Telegram, set.linkVia(askback.ChannelTelegram), o.log)
		set.send[telegram.Name] = bot
		set.run = append(set.run, func(ctx context.Context, e *engine.Engine) { bot.Run(ctx, e) })
	}
	if c.Email.Enabled {
		mails := emailChannel(file, email.Options{
			Key: o.key, Link: set.linkVia(askback.ChannelEmail), Log: o.log, People: func() map[string]string { return addressesOf(set.settings.Load().People) },
		})
		set.send[emailName] = mails
		set.run = append(set.run, func(ctx context.Context, e *engine.Engine) { mails.Run(ctx, e) })
	}
	set.addSlack(file, o)
	set.addWebpush(file, o)
	set.apply(engineSettings(file))
	return set
}

// linkVia returns a function for a channel. It returns the address of the page where a person
// answers an ask without a log-in, or "" if the server has no address that people reach.
func (set *channelSet) linkVia(via askback.Channel) func(a askback.Ask, person string) string {
	return func(a askback.Ask, person string) string {
		page, ok := strings.CutSuffix(a.PageURL, askback.PagePath(a.ID))
		if u, err := url.Parse(page); !ok || err != nil || egress.IsLoopback(u.Host) {
			return ""
		}
		return set.pages.URL(page, answerlink.Link{AskID: a.ID, Person: person, Channel: via})
	}
}

// links returns what the pages of links need.
func (set *channelSet) links(e *engine.Engine) *web.Links {
	return &web.Links{Signer: set.pages, Person: e.Person}
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
