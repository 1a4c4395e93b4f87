package config

import (
	"iter"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/channels/kinds"
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
