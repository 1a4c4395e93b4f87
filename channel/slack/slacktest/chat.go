package slacktest

import (
	"fmt"
	"slices"
	"strings"
)

// conversation returns the conversation that an argument names: a channel with the app, or the direct
// messages of a user.
func conversation(channel string) (string, error) {
	switch {
	case channel == Room || channel == RoomName:
		return Room, nil
	case strings.HasPrefix(channel, "U"):
		if slices.ContainsFunc([]User{Ana, Ben, Stranger}, func(u User) bool { return u.ID == channel }) {
			return "D" + channel[1:], nil
		}
		return "", failure("user_not_found")
	case strings.HasPrefix(channel, "D"):
		return channel, nil
	case strings.HasPrefix(channel, "C"):
		return "", failure("not_in_channel")
	}
	return "", failure("channel_not_found")
}

// content sets the content of m to the arguments of a call.
func (s *Server) content(m *Message, args map[string]string) error {
	if args["link_names"] != "" || args["parse"] == "full" {
		return fmt.Errorf("names and addresses in the text become links")
	}
	m.Text, m.Blocks = args["text"], nil
	if raw := args["blocks"]; raw != "" {
		blocks, err := parseBlocks(raw, maxMessageBlocks)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if b.Type == "input" {
				return fmt.Errorf("this message has an input, which needs a modal")
			}
		}
		m.Blocks = blocks
	}
	if m.Text == "" && m.Blocks == nil {
		return failure("no_text")
	}
	if length(m.Text) > 40_000 {
		return failure("msg_too_long")
	}
	m.Live = live(m.Text, m.Blocks)
	return nil
}

// post implements chat.postMessage.
func (s *Server) post(args map[string]string) (map[string]any, error) {
	channel, err := conversation(args["channel"])
	if err != nil {
		return nil, err
	}
	s.clock++
	m := &Message{
		Channel: channel, TS: fmt.Sprintf("%d.%06d", s.clock, s.clock%1000), Thread: args["thread_ts"],
		Broadcast: args["reply_broadcast"] == "true",
		Unfurl:    args["unfurl_links"] != "false" || args["unfurl_media"] != "false",
	}
	if m.Thread != "" && s.messages[channel+":"+m.Thread] == nil {
		return nil, failure("cannot_reply_to_message")
	}
	if err := s.content(m, args); err != nil {
		return nil, err
	}
	s.messages[channel+":"+m.TS] = m
	s.order = append(s.order, channel+":"+m.TS)
	return map[string]any{"channel": channel, "ts": m.TS, "message": map[string]any{"text": m.Text}}, nil
}

// update implements chat.update. The channel must not be the id of a user.
func (s *Server) update(args map[string]string) (map[string]any, error) {
	if strings.HasPrefix(args["channel"], "U") {
		return nil, failure("channel_not_found")
	}
	m := s.messages[args["channel"]+":"+args["ts"]]
	if m == nil {
		return nil, failure("message_not_found")
	}
	changed := *m
	if err := s.content(&changed, args); err != nil {
		return nil, err
	}
	changed.Edits++
	*m = changed
	return map[string]any{"channel": m.Channel, "ts": m.TS, "text": m.Text}, nil
}

// ephemeral implements chat.postEphemeral.
func (s *Server) ephemeral(args map[string]string) (map[string]any, error) {
	channel, err := conversation(args["channel"])
	if err != nil {
		return nil, err
	}
	var m Message
	if err := s.content(&m, args); err != nil {
		return nil, err
	}
	if len(m.Live) > 0 {
		s.problems = append(s.problems, "chat.postEphemeral: live markup: "+strings.Join(m.Live, " "))
	}
	text := m.Text
	if m.Blocks != nil {
		text = m.Shown()
	}
	s.private = append(s.private, Ephemeral{args["user"], channel, args["thread_ts"], text})
	return map[string]any{"message_ts": "1.1"}, nil
}

// Links returns the addresses of the links in a message, one per line.
func (m Message) Links() string {
	var all []string
	for _, b := range m.Blocks {
		for _, r := range b.Rich {
			for _, p := range r.Elements {
				if p.Type == "link" {
					all = append(all, p.URL)
				}
			}
		}
	}
	return strings.Join(all, "\n")
}
