package acp

// MaxCalls is the maximum number of tool calls whose members are kept.
const MaxCalls = maxCalls

// Wait waits for the end of all dialogs.
func (p *Proxy) Wait() { p.dialogs.Wait() }

// Kept returns the number of tool calls for which members or a reused id are kept.
func (p *Proxy) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) + len(p.reused)
}
