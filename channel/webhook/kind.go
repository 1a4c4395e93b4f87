package webhook

import "github.com/askback/askback/internal/channels"

// Name is the name of the channel.
const Name = "webhook"

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "Webhook", Read: readSettings}

// Open implements [channels.Settings].
func (s Settings) Open(h channels.Host) channels.Channel {
	return channels.Channel{Sender: channels.Must(New(Options{Secret: s.Secret, Allow: s.Allow, Version: h.Version}))}
}
