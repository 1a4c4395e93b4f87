package httpapi

import (
	"bytes"
	"sync"

	"github.com/askback/askback"
)

// eventFrame returns the frame for ev. The frame needs no escaping: JSON is one line, and cursors and types
// have no line breaks.
func eventFrame(ev askback.Event) ([]byte, error) {
	b := make([]byte, 0, len(ev.Data)+256)
	if ev.Cursor != "" { // an empty id would make the client forget its position
		b = append(append(append(b, "id: "...), ev.Cursor...), '\n')
	}
	b = append(append(b, "event: "...), ev.Type...)
	b, err := ev.AppendJSON(append(b, "\ndata: "...))
	return append(b, "\n\n"...), err
}

// frames caches the frames of the last few events, because most streams send the same frames. Snapshots and
// frames of more than maxSharedFrame bytes are not cached.
type frames struct {
	mu     sync.Mutex
	recent [4]sentFrame
	next   int // index of the oldest frame
}

// A sentFrame is an event with its encoded form.
type sentFrame struct {
	event   askback.Event
	encoded []byte
}

// maxSharedFrame is the maximum size in bytes of a frame in the cache.
const maxSharedFrame = 64 << 10

// of returns the frame for ev. The caller must not change the frame.
func (f *frames) of(ev askback.Event) ([]byte, error) {
	f.mu.Lock()
	known := f.find(ev)
	f.mu.Unlock()
	if known != nil {
		return known, nil
	}
	b, err := eventFrame(ev)
	if err != nil || len(b) > maxSharedFrame || ev.Type == askback.EventSnapshot {
		return b, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.find(ev); known != nil { // another stream has encoded the event meanwhile
		return known, nil
	}
	f.recent[f.next] = sentFrame{ev, b}
	f.next = (f.next + 1) % len(f.recent)
	return b, nil
}

// find returns the cached frame for an event that equals ev, or nil. The caller holds the mutex.
func (f *frames) find(ev askback.Event) []byte {
	for i := range f.recent {
		e := &f.recent[i].event
		if e.Cursor == ev.Cursor && e.Seq == ev.Seq && e.SessionID == ev.SessionID && e.Type == ev.Type &&
			e.At.Equal(ev.At) && bytes.Equal(e.Data, ev.Data) {
			return f.recent[i].encoded
		}
	}
	return nil
}
