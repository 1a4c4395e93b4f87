package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/connection"
	"github.com/askback/askback/internal/instance"
)

// laneTime is how long the question of a lane may take, from the start of its command.
const laneTime = 20 * time.Second

// checkLanes asks a question through each client that is configured in this folder or for the
// user, as the client would: with its command or URL, and with the environment that it passes
// on. It answers the question itself. If people would be notified, it only lists the open
// questions. It runs and reaches only what askback init writes, because the folder can be that of a
// stranger's project.
func (d *doctor) checkLanes(ctx context.Context) {
	const check = "lanes"
	conn, err := d.all.connector(instance.KindAsk)
	if err != nil {
		d.fail(check, "", "%v", err)
		return
	}
	own := d.ownEntries()
	var found bool
	for _, f := range clientFiles() {
		if lane, ok := agentconfig.LaneIn(f.client, f.name, f.content); ok {
			found = true
			d.checkLane(ctx, conn, own, f, lane)
		}
	}
	if !found {
		d.warn(check, "askback init", "no agent is configured in this folder or for this user")
	}
	if err := conn.Close(); err != nil {
		d.fail(check, "", "%v", err)
	}
}

// checkLane checks one lane and adds its finding.
func (d *doctor) checkLane(ctx context.Context, conn *connection.Connector, own ownEntries, f clientFile, lane agentconfig.Lane) {
	const check = "lane"
	name := fmt.Sprintf("%s (%s)", f.client, f.shown)
	if !own.written.HasLane(f.client, f.scope, lane) {
		d.refuse(own, name, strings.Join(lane.Command, " "), lane.URL)
		return
	}
	headers, expanded := lane.Expand(os.Getenv)
	if !expanded {
		d.warn(check, "set "+agentconfig.TokenVariable+" where the client starts; check again with it", "%s needs a token that is not set here", name)
		return
	}
	command := slices.Clone(lane.Command)
	if len(command) > 0 {
		command[0] = own.paths[command[0]]
	}
	server, err := mcptools.New("askback", mcptools.Options{
		Command: command, URL: lane.URL, Headers: headers, Env: lane.Environment(os.Environ()), Start: laneTime, Call: laneTime,
	})
	if err != nil {
		d.fail(check, "askback init writes the entry again", "%s: %v", name, err)
		return
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(ctx, laneTime)
	defer cancel()
	if !conn.IsLocal() || lane.URL != "" || !reflect.ValueOf(d.file.Channels).IsZero() {
		if out := server.Call(ctx, "list_open_questions", json.RawMessage(`{}`)); out.IsError {
			d.fail(check, "run what the file has yourself; askback init writes it again", "%s: %s", name, out.Text)
			return
		}
		d.ok(check, "%s is connected; nothing was asked, because people could be notified", name)
		return
	}
	if err := askCanary(ctx, conn, server); err != nil {
		d.fail(check, "run what the file has yourself; askback init writes it again", "%s: %v", name, err)
		return
	}
	d.ok(check, "asked through %s, answered, arrived", name)
}

// canaryText is the beginning of all questions of a check.
const canaryText = "This is a check by askback doctor, which answers it itself"

// askCanary asks a question through a server, answers it as the local user, and returns an
// error if the answer does not arrive. The question is withdrawn if it is still open then.
func askCanary(ctx context.Context, conn *connection.Connector, server *mcptools.Server) error {
	question := fmt.Sprintf("%s (%s).", canaryText, rand.Text())
	input, err := json.Marshal(map[string]any{"questions": []any{map[string]any{"question": question, "options": []any{"arrived", "lost"}}}})
	if err != nil {
		return err
	}
	answered := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { answered <- settleCanary(waiting, conn, question, true) }()
	out := server.Call(ctx, "ask_user_question", input)
	stop()
	err = <-answered
	if !out.IsError && strings.Contains(out.Text, "arrived") {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pollTime)
	defer cancel()
	_ = settleCanary(last, conn, question, false) // it was not asked, or is answered
	if out.IsError {
		return errors.New(out.Text)
	}
	return errors.Join(fmt.Errorf("the answer did not arrive: %s", out.Text), err)
}

// pollTime is the interval in which a check looks for its question.
const pollTime = 100 * time.Millisecond

// settleCanary answers the question with this text as soon as it is asked, or declines it.
func settleCanary(ctx context.Context, conn *connection.Connector, question string, answer bool) error {
	for {
		page, err := conn.Person.List(ctx, askback.Query{Status: askback.Pending, Limit: askback.MaxLimit})
		for _, ask := range page.Items {
			if len(ask.Questions) != 1 || ask.Questions[0].Text != question {
				continue
			}
			if answer {
				_, err = conn.Person.Answer(ctx, ask.ID, askback.Choose("arrived"))
			} else {
				_, err = conn.Person.Decline(ctx, ask.ID, "the check is over")
			}
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, errors.New("the question was not asked"))
		case <-time.After(pollTime):
		}
	}
}
