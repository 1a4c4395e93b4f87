package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/askback/askback/conversation"
)

// A Function is a tool that is a Go function. [Func] and [ReadOnlyFunc] return a Function. A program can also
// set the fields itself, for example with its own schema.
type Function struct {
	ToolInfo
	// Call runs the tool with an input, which is a JSON object that a model wrote. The text of an
	// error is the result that the model reads.
	Call func(ctx context.Context, input json.RawMessage) (string, error)

	err error // the error of its schema
}

// Func returns a tool that calls a Go function. A person must approve each call, unless the definition of the
// agent allows the tool. If [DangerousName] reports true for its name, people see that the tool may destroy
// something. For another tool that may, set its field Destructive.
//
// The schema of the input describes In, a struct. A field has its name of encoding/json. It is required
// unless it has omitempty or omitzero, and the tag jsonschema is its description. If an input is not valid,
// the model gets an error, and call is not called. If In is [json.RawMessage], any object is valid.
//
// The model reads the result of call: a string unchanged, and any other value as JSON. It also reads the text
// of an error.
func Func[In, Out any](name, description string, call func(ctx context.Context, in In) (Out, error)) Function {
	schema, decode, err := inputOf[In]()
	if err != nil {
		err = fmt.Errorf("the input of the tool %s: %w", name, err)
	}
	return Function{
		ToolInfo: ToolInfo{
			Tool: Tool{Name: name, Description: description, Schema: schema}, Destructive: DangerousName(name),
		},
		Call: func(ctx context.Context, input json.RawMessage) (string, error) {
			in, err := decode(input)
			if err != nil {
				return "", fmt.Errorf("%s was not called, because its input is not valid: %w", name, err)
			}
			out, err := call(ctx, in)
			if err != nil {
				return "", err
			}
			return textOf(out)
		},
		err: err,
	}
}

// ReadOnlyFunc is like [Func], for a function that changes nothing. Its calls need no approval, and a call
// that a crash interrupts is repeated.
func ReadOnlyFunc[In, Out any](name, description string, call func(ctx context.Context, in In) (Out, error)) Function {
	f := Func(name, description, call)
	f.ReadOnly, f.Destructive = true, false
	return f
}

// inputOf returns the JSON schema of In, and a function that validates and decodes an input. If In is
// [json.RawMessage], the schema is nil and the function does not validate.
func inputOf[In any]() (json.RawMessage, func(json.RawMessage) (In, error), error) {
	if reflect.TypeFor[In]() == reflect.TypeFor[json.RawMessage]() {
		return nil, decodeJSON[In], nil
	}
	none := func(json.RawMessage) (in In, err error) { return in, errors.New("it has no schema") }
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, none, err
	}
	if s.Type != "object" {
		return nil, none, fmt.Errorf("%s is not a struct", reflect.TypeFor[In]())
	}
	valid, err := s.Resolve(nil)
	if err != nil {
		return nil, none, err
	}
	text, err := json.Marshal(s)
	return text, func(input json.RawMessage) (in In, err error) {
		value, err := decodeJSON[any](input)
		if err == nil {
			err = valid.Validate(value)
		}
		if err != nil {
			return in, err
		}
		return decodeJSON[In](input)
	}, err
}

func decodeJSON[T any](input json.RawMessage) (v T, err error) {
	err = json.Unmarshal(input, &v)
	return v, err
}

// textOf returns out, the result of a function, as text for the model. A string is unchanged, and any other
// value becomes JSON.
func textOf(out any) (string, error) {
	if s, ok := out.(string); ok {
		return s, nil
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// Functions returns a toolset with the given name and tools.
func Functions(name string, tools ...Function) Toolset { return functions{name, tools} }

type functions struct {
	name  string
	tools []Function
}

func (f functions) Name() string { return f.name }

func (f functions) Tools(context.Context) ([]ToolInfo, error) {
	all := make([]ToolInfo, len(f.tools))
	for i, t := range f.tools {
		all[i] = t.ToolInfo
	}
	return all, nil
}

func (f functions) Call(ctx context.Context, tool string, input json.RawMessage) conversation.Executed {
	for _, t := range f.tools {
		if t.Name != tool {
			continue
		}
		text, err := t.Call(ctx, input)
		if err != nil {
			return conversation.Executed{Text: err.Error(), IsError: true}
		}
		return conversation.Executed{Text: text}
	}
	return conversation.Executed{Text: fmt.Sprintf("%s has no tool %s.", f.name, tool), IsError: true}
}

// check returns the mistakes in the functions.
func (f functions) check() (all []error) {
	for _, t := range f.tools {
		if t.err != nil {
			all = append(all, t.err)
		} else if t.Call == nil {
			all = append(all, fmt.Errorf("the tool %s has no function", t.Name))
		}
	}
	return all
}
