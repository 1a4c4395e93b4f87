package acp

// MaxCalls is the number of tool calls of which the members are kept.
const MaxCalls = maxCalls

// Wait waits for the end of all dialogs.
func (p *Proxy) Wait() { p.dialogs.Wait() }

// Kept returns the number of tool calls of which something is kept.
func (p *Proxy) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) + len(p.reused)
}
