// Package kinds has the list of the channels.
package kinds

import (
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/internal/channels"
)

// All lists the channels, in the order in which people read their names.
var All = []channels.Kind{webhook.Kind, post.Kind, webpush.Kind, telegram.Kind, slack.Kind, email.Kind}

// Titles returns the titles of the channels by name.
func Titles() map[string]string {
	titles := map[string]string{}
	for _, k := range All {
		titles[k.Name] = k.Title
	}
	return titles
}

// Routed returns the names of the channels that a route may name: the channels to people.
func Routed() (names []string) {
	for _, k := range All {
		if k.Via != "" {
			names = append(names, k.Name)
		}
	}
	return names
}
