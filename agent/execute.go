package agent

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/conversation"
)

// maxResult is the maximum length of the result of a tool in characters. A longer result would fill the
// context of the model.
const maxResult = 100_000

// Execute runs the tool of a call of [conversation.KindTool] with its input. If the tool cannot run, the
// result has the reason and IsError is set.
func (r *Runner) Execute(ctx context.Context, run conversation.Run, call conversation.Call) conversation.Executed {
	s, ok := r.session(run)
	if !ok {
		return failed(gone(run.Agent))
	}
	if call.Tool == TodoWrite {
		list, err := todos(call.Input)
		if err != nil {
			return failed(err.Error())
		}
		return conversation.Executed{
			Text: fmt.Sprintf("The list is stored. It has %d entries.", len(list)), Todos: list,
		}
	}
	t, err := s.served(ctx, call.Tool)
	switch {
	case err != nil:
		return failed(err.Error())
	case t.confirm && !call.Confirm: // the new definition requires approval
		return failed(fmt.Sprintf("%s was not called: a person must approve it now. Call it again.", call.Tool))
	}
	return limit(t.call(ctx, call))
}

func failed(text string) conversation.Executed {
	return conversation.Executed{Text: text, IsError: true}
}

// served returns the tool of a server with the name that the model uses. It lists the tools of a server only
// if the tool's name can begin with the server's name. So other servers may be unreachable.
func (s session) served(ctx context.Context, name string) (served, error) {
	for _, server := range s.servers {
		if !strings.HasPrefix(name, server.set.Name()+separator) {
			continue
		}
		tools, err := s.serves(ctx, server)
		if err != nil {
			return served{}, fmt.Errorf("%s was not called: %w", name, err)
		}
		for _, t := range tools {
			if modelName(server.set.Name(), t.Name) == name {
				return t, nil
			}
		}
	}
	return served{}, fmt.Errorf("%s was not called: the agent does not have this tool any more", name)
}

// call calls the tool. A panic becomes a result with IsError set, so that other runs continue.
func (t served) call(ctx context.Context, call conversation.Call) (result conversation.Executed) {
	defer func() {
		if p := recover(); p != nil {
			result = failed(fmt.Sprintf(
				"%s panicked, and its outcome is unknown. Check what it did before you call it again.", call.Tool,
			))
		}
	}()
	return t.set.Call(ctx, t.Name, call.Input)
}

// limit returns e with its text in valid UTF-8. A text of more than maxResult characters is truncated, and a
// note about its length is added.
func limit(e conversation.Executed) conversation.Executed {
	e.Text = strings.ToValidUTF8(e.Text, "�")
	if n := utf8.RuneCountInString(e.Text); n > maxResult {
		end := 0
		for range maxResult {
			_, size := utf8.DecodeRuneInString(e.Text[end:])
			end += size
		}
		e.Text = e.Text[:end] + fmt.Sprintf(
			"\n[Cut here: the result has %d characters, and at most %d are shown. Ask for less.]", n, maxResult,
		)
	}
	return e
}
