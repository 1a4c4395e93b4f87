package httpapi_test

import "github.com/askback/askback/engine"

// A chat is a channel to contacts that are linked by a code.
type chat struct{ engine.Channel }

func (chat) CodeTarget(code string) (to, url string) {
	return "@askback_bot", "https://t.me/askback_bot?start=" + code
}

// browsers is a channel to contacts that are added by their address.
type browsers struct{ engine.Channel }

func (browsers) CheckAddress(address string) (string, error) { return address, nil }
