package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/wire/codec"
)

// A directCall is a tool call over HTTP that is served without the SDK. The SDK decodes a call thirteen times
// and opens a session for the call (docs/design/mcp.md, "Direct calls"). The SDK serves every call that it
// may reject, and every call whose result may be a task or a page.
type directCall struct {
	id     json.RawMessage // as the client wrote it
	params mcp.CallToolParamsRaw
	call   *call
	run    toolFunc

	jsonrpc, method string
	meta            json.RawMessage
	unusual         bool // only the SDK can serve the message
}

// The headers of the protocol.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// callMethod is the method of a tool call.
const callMethod = "tools/call"

// maxNesting is the maximum number of levels of objects and arrays that the SDK accepts in a message.
const maxNesting = 1000

// newDirectCall returns the call with the headers h and the body raw, or nil if the SDK must
// serve the message.
func (s *Server) newDirectCall(caller *caller, h http.Header, raw []byte) *directCall {
	if !usualHeaders(h) || bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) > maxNesting {
		return nil
	}
	d := &directCall{}
	err := codec.Read(raw, d.read)
	if err != nil || d.unusual || d.jsonrpc != "2.0" || d.method != callMethod || d.id == nil || !d.validMeta(h) {
		return nil
	}
	if name, known := asktool.Canonical(d.params.Name); known {
		d.params.Name = name
	}
	d.run = s.tools[d.params.Name]
	d.call = &call{Server: s, caller: caller, req: &mcp.CallToolRequest{Params: &d.params}}
	if d.run == nil || d.call.acceptsTask() || d.call.canShowPage() {
		return nil
	}
	return d
}

// usualAccepts lists the values of the header Accept that the SDKs of MCP send.
var usualAccepts = []string{"application/json, text/event-stream", "text/event-stream, application/json"}

// directVersions lists the revisions of the protocol whose rules for calls a directCall follows.
var directVersions = []string{"2025-03-26", "2025-06-18", "2025-11-25", statelessVersion}

// usualHeaders reports whether a request has the headers that most clients send for a call.
func usualHeaders(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	accept := h["Accept"]
	return err == nil && mediaType == "application/json" && len(accept) == 1 &&
		slices.Contains(usualAccepts, accept[0]) &&
		len(h.Values("Last-Event-ID")) == 0 && slices.Contains(directVersions, h.Get(versionHeader))
}

func (d *directCall) read(r *codec.Reader) {
	if !r.Object() {
		d.unusual = true
		return
	}
	for name, ok := r.Member(); ok; name, ok = r.Member() {
		switch name {
		case "jsonrpc":
			d.jsonrpc = r.String()
		case "id":
			d.id = readID(r)
		case "method":
			d.method = r.String()
		case "params":
			d.readParams(r)
		default:
			d.unusual = true
			r.Skip()
		}
	}
}

// readID reads the id of a request. For an id that the SDK may write differently in its
// reply, it returns nil.
func readID(r *codec.Reader) json.RawMessage {
	id := r.Raw()
	isNumber := len(id) > 0 && len(id) < 16 && len(bytes.Trim(id, "0123456789")) == 0
	isText := bytes.HasPrefix(id, []byte{'"'}) && !bytes.ContainsFunc(id, mayBeEscaped)
	if isNumber || isText {
		return id
	}
	return nil
}

// mayBeEscaped reports whether JSON can have c in a string in more than one way. Package encoding/json
// escapes <, > and &, and some letters outside ASCII.
func mayBeEscaped(c rune) bool { return c == '\\' || c == '<' || c == '>' || c == '&' || c >= 0x80 }

func (d *directCall) readParams(r *codec.Reader) {
	if !r.Object() {
		d.unusual = true
		return
	}
	for name, ok := r.Member(); ok; name, ok = r.Member() {
		switch name {
		case "name":
			d.params.Name = r.String()
		case "arguments":
			d.params.Arguments = r.Raw()
			d.unusual = d.params.Arguments == nil || d.unusual
		case "_meta":
			d.meta = r.Raw()
		default:
			d.unusual = true
			r.Skip()
		}
	}
}

// validMeta reads _meta and reports whether a directCall can follow it. In a revision without sessions, its
// version, the method and the tool must match the headers, and it must declare a valid client. In other
// revisions, it must not declare a version.
func (d *directCall) validMeta(h http.Header) bool {
	if d.meta != nil && json.Unmarshal(d.meta, &d.params.Meta) != nil {
		return false
	}
	version, declares := d.params.Meta[mcp.MetaKeyProtocolVersion]
	if h.Get(versionHeader) < statelessVersion {
		return !declares
	}
	info, named := d.params.Meta[mcp.MetaKeyClientInfo]
	_, valid := info.(map[string]any)
	var client struct {
		Info         mcp.Implementation     `json:"io.modelcontextprotocol/clientInfo"`
		Capabilities mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	}
	return version == h.Get(versionHeader) && d.method == h.Get(methodHeader) && d.params.Name == h.Get(nameHeader) &&
		(valid || !named) && declared(d.params.Meta, mcp.MetaKeyClientCapabilities) != nil &&
		json.Unmarshal(d.meta, &client) == nil
}

// serve runs the tool and writes the reply as the SDK does: as an event stream, in which
// notifications may precede the result.
func (d *directCall) serve(ctx context.Context, w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Type", "text/event-stream")
	h.Set("Connection", "keep-alive")
	notified := false
	d.call.notify = func(_ context.Context, p *mcp.ProgressNotificationParams) error {
		notified = true
		return writeNotification(w, p)
	}
	result, err := d.call.do(context.WithoutCancel(ctx), d.run) // a disconnect ends only the wait
	event := d.event(result, err)
	if !notified {
		h.Set("Content-Length", strconv.Itoa(len(event)))
	}
	_, _ = w.Write(event) // deadlineWriter records an error
}
