package main

import (
	"cmp"
	"context"

	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/config"
)

// addWebpush adds the channel to browsers. Its subject is the public address of the server,
// unless the settings have another one.
func (set *channelSet) addWebpush(file config.Config, o channelOptions) {
	c := file.Channels.Webpush
	if !c.Enabled {
		return
	}
	if public := cmp.Or(o.publicURL, file.PublicURL); c.Subject == "" && webpush.SubjectProblem(public) == "" {
		c.Subject = public
	}
	push := must(webpush.New(webpush.Options{Subject: c.Subject, Allow: c.Allow, Log: o.log, Version: version()}))
	set.send[webpush.Name], set.push = push, push
	set.run = append(set.run, func(ctx context.Context, e *engine.Engine) { push.Run(ctx, e) })
}
