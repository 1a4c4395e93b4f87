package webpush

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
)

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "Browser", Via: askback.ChannelPush, Read: readSettings}

// Open implements [channels.Settings]. If the settings have no subject, the subject is the public address of
// the server.
func (s Settings) Open(h channels.Host) channels.Channel {
	if s.Subject == "" && SubjectProblem(h.PublicURL) == "" {
		s.Subject = h.PublicURL
	}
	push := channels.Must(New(Options{
		Subject: s.Subject, Allow: s.Allow, Zone: h.Zone, Log: h.Log, Version: h.Version,
	}))
	return channels.Channel{Sender: push, Run: func(ctx context.Context, e channels.Engine) { push.Run(ctx, e) }}
}
