package agent

import "github.com/askback/askback/conversation"

// Prices are the prices of a model's tokens, in US dollars for a million tokens. The zero value means that
// the prices are not known.
type Prices struct {
	Input  float64
	Output float64
	// Cached is the price of input that the provider had in its cache. Stored is the price of input that the
	// provider adds to its cache. If Cached or Stored is 0, its price is Input.
	Cached float64
	Stored float64
}

// Cost returns the cost of a request. stored is the number of input tokens that the provider added to its
// cache.
func (p Prices) Cost(u conversation.Usage, stored int64) float64 {
	or := func(price float64) float64 {
		if price == 0 {
			return p.Input
		}
		return price
	}
	plain := u.InputTokens - u.CachedTokens - stored
	return (float64(plain)*p.Input + float64(u.CachedTokens)*or(p.Cached) + float64(stored)*or(p.Stored) +
		float64(u.OutputTokens)*p.Output) / 1e6
}
