package main

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/web"
)

// A channelSet holds the channels that the settings configure.
type channelSet struct {
	send     map[string]engine.Channel // the senders of the engine, by the name of their channel
	open     []channels.Channel
	pages    *answerlink.Signer              // signs the links to pages that need no log-in
	settings atomic.Pointer[engine.Settings] // the current settings

	push web.Push // lets people turn on notifications; nil if the server sends no notifications
}

// A channelEngine is an engine with the method History, which the channels need.
type channelEngine struct{ *engine.Engine }

// History implements [channels.Engine]. An admin may read all asks and deliveries.
func (e channelEngine) History() channels.History {
	return e.As(askback.Principal{Kind: askback.Admin, Name: "askback"})
}

// chats returns the names of the channels whose chats people link with a code, sorted.
func (set *channelSet) chats() (names []string) {
	for name, c := range set.send {
		if _, ok := c.(engine.CodeChannel); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// apply stores the settings that apply now, for the channels to read.
func (set *channelSet) apply(s engine.Settings) { set.settings.Store(&s) }

// people returns the people in the settings that apply now.
func (set *channelSet) people() []askback.Person { return set.settings.Load().People }

// zoneOf returns the time zone of a person in the directory, or nil.
func (set *channelSet) zoneOf(person string) *time.Location {
	return directory.ZoneOf(set.people(), person)
}

// newChannelSet returns the channels of the settings file, which must be valid. The caller sets host.Key.
// host.Log and host.PublicURL are optional; host.PublicURL overrides the public URL in the settings.
func newChannelSet(file config.Config, host channels.Host) *channelSet {
	set := &channelSet{send: map[string]engine.Channel{}, pages: answerlink.New(host.Key, answerlink.Page)}
	host.Log, host.PublicURL = cmp.Or(host.Log, slog.New(slog.DiscardHandler)), cmp.Or(host.PublicURL, file.PublicURL)
	host.Version, host.User, host.Pages, host.People = version(), connection.UserName(), set.pages, set.people
	for k, s := range file.EachChannel() {
		c := s.Open(host)
		set.send[k.Name], set.open = c.Sender, append(set.open, c)
		if push, ok := c.Sender.(web.Push); ok {
			set.push = push
		}
	}
	set.apply(engineSettings(file))
	return set
}

// links returns the signer and the people for the pages of links.
func (set *channelSet) links(e *engine.Engine) *web.Links {
	return &web.Links{Signer: set.pages, Person: e.Person}
}

// handle adds to mux the routes that services call.
func (set *channelSet) handle(mux *http.ServeMux, e *engine.Engine) {
	for _, c := range set.open {
		for path, handler := range c.Handlers {
			mux.Handle(path, handler(channelEngine{e}))
		}
	}
}

// start starts reading answers. stop ends the reading, and waits for the end.
func (set *channelSet) start(e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, c := range set.open {
		if c.Run != nil {
			group.Go(func() { c.Run(ctx, channelEngine{e}) })
		}
	}
	return func() {
		cancel()
		group.Wait()
	}
}
