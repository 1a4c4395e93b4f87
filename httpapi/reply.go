package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Header values that all messages share. Nothing may change the slices: a handler that sends another value
// sets another slice.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
)

// writeTime is how long a client may take to read a reply. The reply stays in memory until then.
const writeTime = 30 * time.Second

// result replies with status 200 and v as JSON, or returns err.
func (c *call) result(v any, err error) error {
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, v)
}

// reply replies with v as JSON. An error means that nothing was written.
func (c *call) reply(status int, v any) error {
	return c.replyJSON(status, func(b []byte) ([]byte, error) { return appendJSON(b, v) })
}

// replyJSON replies with the JSON that encode appends to a buffer. An error means that
// nothing was written.
func (c *call) replyJSON(status int, encode func([]byte) ([]byte, error)) error {
	b := newBuffer()
	if err := b.encode(encode); err != nil {
		b.release()
		return fmt.Errorf("encode the reply: %w", err)
	}
	c.writeBody(status, jsonType, b.bytes, b.release)
	return nil
}

// replyRaw replies with status 200 and body, whose Content-Type is kind. The error is always nil.
func (c *call) replyRaw(kind string, body []byte) error {
	c.writeBody(http.StatusOK, []string{kind}, body, func() {})
	return nil
}

// writeBody writes a reply in one piece, then calls release. After an error it does not call
// release, since an HTTP/2 connection may still be reading the body.
func (c *call) writeBody(status int, contentType []string, body []byte, release func()) {
	// The error is ignored: only a ResponseRecorder of a test returns an error.
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime))
	if err := writeBody(c.w, status, contentType, body); err != nil {
		c.h.log.Debug("a reply did not arrive", "error", err)
		return
	}
	release()
}

func writeBody(w http.ResponseWriter, status int, contentType []string, body []byte) error {
	header := w.Header()
	header["Content-Type"] = contentType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// appendJSON appends v as JSON. It calls AppendJSON or MarshalJSON of v if v has such a method, because
// json.Encoder would scan the result of MarshalJSON once more.
func appendJSON(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case interface {
		AppendJSON(b []byte) ([]byte, error)
	}:
		return v.AppendJSON(b)
	case json.Marshaler:
		raw, err := v.MarshalJSON()
		return append(b, raw...), err
	}
	w := bytes.NewBuffer(b)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	err := out.Encode(v)
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), err
}

// A buffer is memory for the body of a message. It can be reused for other messages.
type buffer struct{ bytes []byte }

var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, 4<<10)} }}

// maxBuffer is the capacity in bytes above which a buffer is not reused. Most asks need less.
const maxBuffer = 64 << 10

// newBuffer returns an empty buffer.
func newBuffer() *buffer {
	b := buffers.Get().(*buffer)
	b.bytes = b.bytes[:0]
	return b
}

// release makes the memory available to other messages, unless it has more than maxBuffer
// bytes. The caller must not use the buffer again.
func (b *buffer) release() {
	if cap(b.bytes) <= maxBuffer {
		buffers.Put(b)
	}
}

// encode calls the function encode to append to b, and appends a line feed. If the function returns an error,
// b is unchanged.
func (b *buffer) encode(encode func([]byte) ([]byte, error)) error {
	raw, err := encode(b.bytes)
	if err == nil {
		b.bytes = append(raw, '\n')
	}
	return err
}

// readAll reads r until EOF and appends the data to b.
func (b *buffer) readAll(r io.Reader) error {
	for {
		if len(b.bytes) == cap(b.bytes) {
			b.bytes = slices.Grow(b.bytes, cap(b.bytes))
		}
		n, err := r.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}
