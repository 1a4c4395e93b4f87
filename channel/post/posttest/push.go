package posttest

import (
	"errors"
	"html"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// key matches the tokens and users of Pushover.
var key = regexp.MustCompile(`^[A-Za-z0-9]{30}$`)

func parsePushover(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Token, User, Title, Message, URL string
		URLTitle                         string `json:"url_title"`
		Priority, HTML                   int
	}
	if err := decode(body, false, &in); err != nil {
		return Message{}, err
	}
	long := func(s string, limit int) bool { return utf8.RuneCountInString(s) > limit }
	switch {
	case r.URL.Path != "/1/messages.json":
		return Message{}, problem{http.StatusNotFound, "no such page"}
	case !key.MatchString(in.Token):
		return Message{}, errors.New("application token is invalid")
	case !key.MatchString(in.User):
		return Message{}, errors.New("user identifier is not a valid user, group, or subscribed user key")
	case in.Message == "":
		return Message{}, errors.New("message cannot be blank")
	case long(in.Message, 1024), long(in.Title, 250), long(in.URL, 512), long(in.URLTitle, 100):
		return Message{}, errors.New("a field is too long")
	case in.Priority < -2 || in.Priority > 1: // priority 2 also requires retry and expire
		return Message{}, errors.New("priority is invalid")
	}
	m := Message{Title: in.Title, Text: in.Message, Link: in.URL, Quiet: in.Priority < 0, Password: in.Token}
	if in.HTML != 0 {
		m.Markup = append(m.Markup, "HTML")
	}
	return m, nil
}

func parseGotify(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Title, Message string
		Priority       int
		Extras         map[string]struct {
			ContentType string
			Click       struct{ URL string }
		}
	}
	if err := requireJSON(r); err != nil {
		return Message{}, err
	}
	token := r.Header.Get("X-Gotify-Key")
	if token == "" {
		return Message{}, problem{
			http.StatusUnauthorized, "you need to provide a valid access token or user credentials to access this api",
		}
	}
	if err := decode(body, false, &in); err != nil {
		return Message{}, err
	}
	if r.URL.Path != "/message" {
		return Message{}, problem{http.StatusNotFound, "page not found"}
	}
	if in.Message == "" {
		return Message{}, problem{http.StatusBadRequest, "Field 'message' is required"}
	}
	m := Message{
		Title: in.Title, Text: in.Message, Link: in.Extras["client::notification"].Click.URL, Quiet: in.Priority < 4,
		Password: token,
	}
	for name := range in.Extras {
		if !strings.Contains(name, "::") {
			return Message{}, errors.New("an extra has no namespace")
		}
	}
	if t := in.Extras["client::display"].ContentType; t != "" && t != "text/plain" {
		m.Markup = append(m.Markup, t)
	}
	if len(in.Message) > 65_535 {
		m.Damage = append(m.Damage, "MySQL cuts it")
	}
	return m, nil
}

// Texts that Home Assistant's app for Android changes.
var (
	lineEnd = regexp.MustCompile(`(\r\n|\r|\n)|(\\r\\n|\\r|\\n)`)
	tag     = regexp.MustCompile(`<[^>]*>`)
	emoji   = regexp.MustCompile(`:[-+\w|]+:`)
)

func onAndroid(s string) string {
	s = emoji.ReplaceAllString(lineEnd.ReplaceAllString(s, "<br>"), "☺")
	return html.UnescapeString(tag.ReplaceAllString(strings.ReplaceAll(s, "<br>", "\n"), ""))
}

func parseHomeAssistant(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Title, Message string
		Data           struct {
			Tag, URL, ClickAction, Group, Priority string
			TTL                                    int
		}
	}
	if err := requireJSON(r); err != nil {
		return Message{}, err
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok && strings.HasPrefix(r.URL.Path, "/api/services/") {
		return Message{}, problem{http.StatusUnauthorized, "401: Unauthorized"}
	}
	if err := decode(body, true, &in); err != nil {
		return Message{}, err
	}
	if in.Message == "" {
		return Message{}, errors.New("required key not provided @ data['message']")
	}
	m := Message{
		Tag: in.Data.Tag, Title: onAndroid(in.Title), Text: onAndroid(in.Message), Link: in.Data.ClickAction,
		Quiet: false, Password: token,
	}
	if in.Data.URL != in.Data.ClickAction {
		m.Damage = append(m.Damage, "iOS and Android open different pages")
	}
	if len(body) > 3584 { // push services accept 4096 bytes, including the part of Home Assistant
		return Message{}, problem{http.StatusInternalServerError, "the payload is too large for the push service"}
	}
	return m, nil
}
