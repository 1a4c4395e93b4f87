// Package anthropic has the models of Anthropic.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/internal/hosted/modelhttp"
)

// Options are the optional settings of a [Model].
type Options struct {
	BaseURL   string // default https://api.anthropic.com
	AllowHTTP bool   // BaseURL may be http to another machine
	Prices    agent.Prices
	// MaxTokens is the maximum length of a reply without its thoughts, for requests without a maximum. If it
	// is 0, the maximum is [DefaultMaxTokens].
	MaxTokens int
	// ThinkingTokens is the maximum number of tokens that the model may think before it replies. If it is 0,
	// the model does not think. With Adaptive, which newer models require, the model decides, and
	// ThinkingTokens is ignored.
	ThinkingTokens int
	Adaptive       bool
	Idle           time.Duration // the longest time without data from the provider; default 5 minutes
}

// DefaultMaxTokens is the default maximum length of a reply in tokens. It is enough for a file of some length
// in the input of a tool, and less than the maximum of every model that is still served.
const DefaultMaxTokens = 16_384

// A Model is a model of Anthropic.
type Model struct {
	name     string
	key      string
	o        Options
	http     *http.Client
	messages sdk.MessageService
}

var _ agent.Model = (*Model)(nil)

// New returns the model with the given name, such as claude-sonnet-4-5. If o is nil, the zero Options apply.
// New reads no environment variables.
func New(name, key string, o *Options) (*Model, error) {
	m := &Model{name: name, key: strings.TrimSpace(key)}
	if o != nil {
		m.o = *o
	}
	if m.o.BaseURL == "" {
		m.o.BaseURL = "https://api.anthropic.com"
	}
	if m.o.MaxTokens == 0 {
		m.o.MaxTokens = DefaultMaxTokens
	}
	if name == "" {
		return nil, errors.New("the model has no name")
	}
	if m.key == "" {
		return nil, errors.New("the model has no api_key")
	}
	if err := errors.Join(modelhttp.CheckKey(m.key), modelhttp.CheckBaseURL(m.o.BaseURL, m.o.AllowHTTP)); err != nil {
		return nil, err
	}
	m.http = modelhttp.NewClient(m.o.Idle)
	m.messages = sdk.NewMessageService(
		option.WithBaseURL(m.o.BaseURL),
		option.WithAPIKey(m.key),
		option.WithHTTPClient(m.http),
		option.WithMaxRetries(0), // the machine of the run repeats failed requests
	)
	return m, nil
}

// Close closes the idle connections.
func (m *Model) Close() { m.http.CloseIdleConnections() }

// Reply implements [agent.Model]. The error is an [*agent.ModelError].
func (m *Model) Reply(ctx context.Context, r agent.ModelRequest, text func(piece string)) (agent.ModelReply, error) {
	params, err := m.params(r)
	if err != nil {
		return agent.ModelReply{}, &agent.ModelError{Err: err}
	}
	stream := m.messages.NewStreaming(ctx, params)
	defer stream.Close()
	in := &incoming{model: m, text: text}
	for !in.done && stream.Next() {
		if failed := in.event(stream.Current()); failed != nil {
			failed.Usage = in.usage()
			return agent.ModelReply{}, failed
		}
	}
	if in.done {
		reply, failed := in.reply()
		if failed != nil {
			failed.Usage = in.usage()
			return agent.ModelReply{}, failed
		}
		return reply, nil
	}
	failed := m.failed(ctx, stream.Err())
	failed.Usage = in.usage()
	return agent.ModelReply{}, failed
}

// failed returns the error of a stream that ended before the provider's end of the reply.
func (m *Model) failed(ctx context.Context, err error) *agent.ModelError {
	var event *sdk.Error // the error in an event of the stream; errors by status do not reach this function
	if errors.As(err, &event) {
		return modelhttp.ParseProblem([]byte(event.RawJSON())).Error(m.key)
	}
	return modelhttp.Error(ctx, err, m.key)
}
