package mcpserver

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/internal/wire/codec"
	"github.com/askback/askback/internal/wire/jcs"
)

// eventStart and eventEnd enclose a message in an event stream.
const (
	eventStart = "event: message\ndata: "
	eventEnd   = "\n\n"
)

// event returns the reply to a call as an event: result or, if err is not nil, the error.
func (d *directCall) event(result *mcp.CallToolResult, err error) []byte {
	b := append(make([]byte, 0, 1<<10), eventStart...)
	if err == nil {
		b = append(append(b, `{"jsonrpc":"2.0","id":`...), d.id...)
		b, err = d.appendResult(append(b, `,"result":`...), result)
		b = append(b, '}')
	}
	if err != nil {
		b = append(b[:len(eventStart)], d.errorMessage(err)...)
	}
	return append(b, eventEnd...)
}

// appendResult appends the result of a directCall, whose content is always text.
func (d *directCall) appendResult(b []byte, r *mcp.CallToolResult) ([]byte, error) {
	_, stateless := d.params.Meta[mcp.MetaKeyProtocolVersion]
	b = append(b, '{')
	if stateless {
		b = append(append(append(b, `"_meta":{"`+mcp.MetaKeyServerInfo+`":`...), d.call.identity...), '}')
	}
	b = append(codec.AppendName(b, "content"), '[')
	for i, content := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = codec.AppendString(append(b, `{"type":"text","text":`...), content.(*mcp.TextContent).Text)
		b = append(b, '}')
	}
	b = append(b, ']')
	if r.StructuredContent != nil {
		structured, ok := r.StructuredContent.(json.RawMessage)
		if !ok {
			var err error
			if structured, err = jcs.Marshal(r.StructuredContent); err != nil {
				return b, err
			}
		}
		if len(structured) > 0 {
			b = append(codec.AppendName(b, "structuredContent"), structured...)
		}
	}
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	if stateless {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}'), nil
}

// errorMessage returns the reply to a call that failed.
func (d *directCall) errorMessage(err error) []byte {
	var raw any
	_ = json.Unmarshal(d.id, &raw) // the id is valid JSON, because readID accepted it
	id, _ := jsonrpc.MakeID(raw)   // a string or a number
	b, _ := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: err})
	return b
}

// writeNotification writes a notification about the progress of a call.
func writeNotification(w http.ResponseWriter, p *mcp.ProgressNotificationParams) error {
	params, err := json.Marshal(p)
	if err != nil {
		return err
	}
	message, err := jsonrpc.EncodeMessage(&jsonrpc.Request{Method: "notifications/progress", Params: params})
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(eventStart + string(message) + eventEnd)); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
