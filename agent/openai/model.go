// Package openai has the models of OpenAI, and of all servers with the same Chat Completions
// API, such as Ollama, vLLM and llama.cpp on this machine.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/internal/hosted/modelhttp"
)

// Options are the optional settings of a [Model].
type Options struct {
	BaseURL   string // with the version; default https://api.openai.com/v1
	AllowHTTP bool   // allow an http BaseURL on another machine
	Prices    agent.Prices
	// MaxTokens is the maximum length of a reply, for requests without a maximum. If it is 0, the maximum is
	// the maximum of the model.
	MaxTokens int
	Effort    string        // the effort of models that think, such as low, or "" for the default of the model
	Idle      time.Duration // the longest time without data from the provider; default 5 minutes
}

const openaiURL = "https://api.openai.com/v1"

// A Model is a model of OpenAI or of another provider with the same API.
type Model struct {
	name   string
	key    string
	o      Options
	host   string
	http   *http.Client
	client *sdk.Client
}

var _ agent.Model = (*Model)(nil)

// New returns the model with the given name. The key may be empty, unless the provider is OpenAI. If o is
// nil, the zero Options apply.
func New(name, key string, o *Options) (*Model, error) {
	m := &Model{name: name, key: strings.TrimSpace(key)}
	if o != nil {
		m.o = *o
	}
	if m.o.BaseURL == "" {
		m.o.BaseURL = openaiURL
	}
	if name == "" {
		return nil, errors.New("the model has no name")
	}
	if m.key == "" && m.o.BaseURL == openaiURL {
		return nil, errors.New("the model has no api_key")
	}
	if err := errors.Join(modelhttp.CheckKey(m.key), modelhttp.CheckBaseURL(m.o.BaseURL, m.o.AllowHTTP)); err != nil {
		return nil, err
	}
	if u, err := url.Parse(m.o.BaseURL); err == nil {
		m.host = u.Hostname()
	}
	m.http = modelhttp.NewClient(m.o.Idle)
	c := sdk.DefaultConfig(m.key)
	c.BaseURL, c.HTTPClient = m.o.BaseURL, m.http
	c.EmptyMessagesLimit = math.MaxInt32 // some providers send a comment each second until the model replies
	m.client = sdk.NewClientWithConfig(c)
	return m, nil
}

// Close closes the idle connections.
func (m *Model) Close() { m.http.CloseIdleConnections() }

// Reply implements [agent.Model]. The error is an [*agent.ModelError].
func (m *Model) Reply(ctx context.Context, r agent.ModelRequest, text func(piece string)) (agent.ModelReply, error) {
	request, err := m.request(r)
	if err != nil {
		return agent.ModelReply{}, &agent.ModelError{Err: err}
	}
	stream, err := m.client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		if _, sent := errors.AsType[*url.Error](err); !sent {
			return agent.ModelReply{}, &agent.ModelError{
				Err: fmt.Errorf("this request cannot be sent to the model: %v", err),
			}
		}
		return agent.ModelReply{}, modelhttp.Error(ctx, err, m.key)
	}
	defer stream.Close()
	in := &incoming{model: m, text: text}
	for {
		chunk, err := stream.Recv()
		if err == io.EOF { // the end that the provider marks; the end of the connection is another error
			break
		}
		if err != nil {
			failed := m.failed(ctx, err)
			failed.Usage = in.usage()
			return agent.ModelReply{}, failed
		}
		in.chunk(chunk)
	}
	reply, failed := in.reply()
	if failed != nil {
		failed.Usage = in.usage()
		return agent.ModelReply{}, failed
	}
	return reply, nil
}

// failed returns the error of a stream that ended before the provider's end of the reply.
func (m *Model) failed(ctx context.Context, err error) *agent.ModelError {
	if event, ok := errors.AsType[*sdk.APIError](err); ok {
		p := modelhttp.Problem{Type: event.Type, Message: event.Message}
		if event.Code != nil {
			p.Code = fmt.Sprint(event.Code)
		}
		return p.Error(m.key)
	}
	return modelhttp.Error(ctx, err, m.key)
}
