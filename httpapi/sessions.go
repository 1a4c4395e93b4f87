package httpapi

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// startSession serves POST /sessions. It starts a hosted agent, or creates a session for a run of another
// program. The status is 200 if the session existed already.
func (c *call) startSession() error {
	r, err := decode.SessionRequest(c.body)
	if err != nil {
		return err
	}
	s, err := c.client.Start(c.r.Context(), r)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if s.Repeated {
		status = http.StatusOK
	}
	c.w.Header().Set("Location", base+"/sessions/"+s.ID)
	return c.reply(status, s)
}

func (c *call) hostedAgents() error {
	return c.result(itemsOf(c.client.HostedAgents(c.r.Context())))
}

func (c *call) session() error {
	return c.result(c.client.Session(c.r.Context(), c.id()))
}

func (c *call) sessions() error {
	return c.result(c.client.Sessions(c.r.Context(), askback.SessionQuery{
		Status: askback.SessionStatus(c.param("status")), Agent: c.param("agent"), Search: c.param("q"),
		Cursor: c.param("cursor"), Limit: limit(c.param("limit")),
	}))
}

func (c *call) messages() error {
	return c.result(c.client.Messages(c.r.Context(), c.id(), c.param("cursor"), limit(c.param("limit"))))
}

// postMessage adds a message to a session. If the body has no role, a message of an agent is from the
// assistant, and a message of a person is from the user.
func (c *call) postMessage() error {
	role := askback.RoleUser
	if c.principal.Kind == askback.Agent {
		role = askback.RoleAssistant
	}
	t, err := decode.Message(c.body, role)
	return c.sendCommand(http.StatusAccepted, t, err)
}

func (c *call) endSession() error {
	reason, err := decode.Reason(c.body)
	return c.sendCommand(http.StatusOK, askback.EndSession{Reason: reason}, err)
}

// endTurn serves POST /conversations/{id}/cancel. The next message of the conversation starts a new turn.
func (c *call) endTurn() error {
	reason, err := decode.Reason(c.body)
	return c.sendCommand(http.StatusOK, askback.EndTurn{Reason: reason}, err)
}

func (c *call) resume() error {
	t, err := decode.Resume(c.body)
	return c.sendCommand(http.StatusOK, t, err)
}

func (c *call) complete() error {
	t, err := decode.Complete(c.body)
	return c.sendCommand(http.StatusOK, t, err)
}

func (c *call) setTodos() error {
	t, err := decode.Todos(c.body)
	return c.sendCommand(http.StatusOK, t, err)
}

// sendCommand sends a command to the session and replies with the session. If err is not nil,
// it returns err and sends nothing.
func (c *call) sendCommand(status int, t askback.Command, err error) error {
	if err != nil {
		return err
	}
	s, err := c.client.Send(c.r.Context(), c.id(), t)
	if err != nil {
		return err
	}
	return c.reply(status, s)
}
