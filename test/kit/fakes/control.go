package fakes

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/internal/egress"
)

// Control returns a handler through which another process, or a person with curl, acts as the people at the
// services:
//
//	GET  /                             the services
//	GET  /SERVICE                      its state
//	GET  /SERVICE/PERSON?text=TEXT     the messages, or the messages with the text
//	POST /SERVICE/PERSON/press         message, button[, value]
//	POST /SERVICE/PERSON/write         text[, message]
//	POST /SERVICE/PERSON/subscribe     key
//	POST /SERVICE/fail                 how[, skip][, count]
//
// The body of a POST is a form. A press without a value presses the button in its current state.
func Control(all []Service) http.Handler {
	c := control{}
	var descriptions []Description
	for _, s := range all {
		c[s.Describe().Name] = s
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		descriptions = nil
		for _, s := range all {
			descriptions = append(descriptions, s.Describe())
		}
		reply(w, descriptions, nil)
	})
	handle := func(pattern string, do func(Service, *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s := c[r.PathValue("service")]
			if s == nil {
				http.NotFound(w, r)
				return
			}
			out, err := do(s, r)
			reply(w, out, err)
		})
	}
	handle("GET /{service}", func(s Service, _ *http.Request) (any, error) { return s.State() })
	handle("GET /{service}/{person}", func(s Service, r *http.Request) (any, error) {
		all, err := s.Messages(r.PathValue("person"), r.URL.Query()["text"]...)
		if all == nil {
			all = []Message{} // not null
		}
		return all, err
	})
	handle("POST /{service}/{person}/press", press)
	handle("POST /{service}/{person}/write", func(s Service, r *http.Request) (any, error) {
		text, err := s.Write(r.Context(), r.PathValue("person"), r.FormValue("message"), r.FormValue("text"))
		return shown{text}, err
	})
	handle("POST /{service}/{person}/subscribe", func(s Service, r *http.Request) (any, error) {
		browsers, ok := s.(Subscriber)
		if !ok {
			return nil, errUnsupported
		}
		subscription, err := browsers.Subscribe(r.PathValue("person"), r.FormValue("key"))
		return json.RawMessage(subscription), err
	})
	handle("POST /{service}/fail", fail)
	return onLoopback(mux)
}

type control map[string]Service

// shown is the immediate reply to an action of a person.
type shown struct {
	Reply string `json:"reply"`
}

// press presses a button of a message, and returns the reply to the person. Without a value in the request,
// it presses the button with its current value.
func press(s Service, r *http.Request) (any, error) {
	person, id := r.PathValue("person"), r.FormValue("message")
	b := Button{Label: r.FormValue("button"), Value: r.FormValue("value")}
	if b.Value == "" {
		all, err := s.Messages(person)
		if err != nil {
			return nil, err
		}
		err = errors.New("there is no message " + strconv.Quote(id))
		for _, m := range all {
			if m.ID == id {
				b, err = m.Button(b.Label)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	text, err := s.Press(r.Context(), person, id, b)
	return shown{text}, err
}

// fail lets skip requests of the service succeed, and makes the next count requests fail. The defaults of
// skip and count are 0 and 1.
func fail(s Service, r *http.Request) (any, error) {
	n := map[string]int{"skip": 0, "count": 1}
	for name := range n {
		if text := r.FormValue(name); text != "" {
			var err error
			if n[name], err = strconv.Atoi(text); err != nil || n[name] < 0 {
				return nil, errors.New(name + " must be a number")
			}
		}
	}
	switch how := channeltest.Failure(r.FormValue("how")); how {
	case channeltest.TooMany, channeltest.Broken, channeltest.LostReply, channeltest.Slow:
		return struct{}{}, s.Fail(how, n["skip"], n["count"])
	}
	return nil, errors.New("how must be one of: too many, broken, lost reply, slow")
}

func reply(w http.ResponseWriter, out any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the caller may have left
}

// onLoopback returns a handler that rejects requests from pages in a browser.
func onLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !egress.IsLoopback(r.Host) || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
			http.Error(w, "only programs on this machine may control the fakes", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
