package config

import (
	"iter"
	"net/url"
	"slices"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// EachChannel yields the channels in the settings, in the order of [kinds.All].
func (c Config) EachChannel() iter.Seq2[channels.Kind, channels.Settings] {
	return func(yield func(channels.Kind, channels.Settings) bool) {
		for _, k := range kinds.All {
			if s, ok := c.Channels[k.Name]; ok && !yield(k, s) {
				return
			}
		}
	}
}

// channels returns a function that reads the settings of the channels into c.
func (l *loader) channels(c *Config) func(settings.Value) {
	table := make([]settings.Setting, len(kinds.All))
	for i, k := range kinds.All {
		table[i] = settings.Setting{Key: k.Name, Read: func(v settings.Value) {
			s := k.Read(&l.Reader, v)
			if s == nil {
				return
			}
			if c.Channels == nil {
				c.Channels = map[string]channels.Settings{}
			}
			c.Channels[k.Name] = s
		}}
	}
	return l.Group(table)
}

// LinkedChannels returns the channels in the settings whose messages link to pages, such as "channels.email".
func (c Config) LinkedChannels() (names []string) {
	for k := range c.EachChannel() {
		if k.Linked {
			names = append(names, "channels."+k.Name)
		}
	}
	slices.Sort(names)
	return names
}

// FixOfLinks describes how to remove the reason that [LinkProblem] returns.
const FixOfLinks = "set public_url to the address where people reach this server, or give askback serve --public-url"

// LinkProblem returns the reason why messages have no link that a phone opens, and its effect. It returns "" if the
// address can be opened elsewhere.
func LinkProblem(publicURL string) string {
	const effect = ", so messages have no link that a phone opens, and asks that need the page, such as dangerous " +
		"calls and several questions, cannot be answered on a phone"
	u, err := url.Parse(publicURL)
	switch {
	case publicURL == "":
		return "public_url is not set" + effect
	case err == nil && egress.IsLoopback(u.Host):
		return "public_url is " + publicURL + ", which only this machine reaches" + effect
	}
	return ""
}
