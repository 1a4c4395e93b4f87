package mcpserver

import "time"

// Memory is what a server remembers of what it gave.
type Memory = memory

// The ways of a memory, for tests.
func NewMemory(now time.Time) Memory     { return newMemory(now) }
func Knows(m *Memory, at time.Time) bool { return m.knows(at) }
func Tell(m *Memory, mark string)        { m.tell(mark) }
func Told(m *Memory, mark string) bool   { return m.told(mark) }
func Size(m *Memory) int                 { return len(m.now) + len(m.old) }

// Judge reads an input as the small tools and the prompt do.
func Judge(raw []byte) (waits, prompts error) {
	_, waits = readInput(raw, "question_id", "max_wait_s")
	_, prompts = readPrompt(raw)
	return waits, prompts
}
