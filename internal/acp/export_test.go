package acp

// Wait waits for the end of all dialogs.
func (p *Proxy) Wait() { p.asks.Wait() }
