package clienttest

import (
	"errors"
	"strings"
	"time"
)

// Contains returns a condition that holds if the screen contains all strings.
func Contains(parts ...string) func(string) error {
	return func(text string) error {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return errors.New("the screen does not contain " + part)
			}
		}
		return nil
	}
}

// Lacks returns a condition that holds if the screen does not contain the string.
func Lacks(part string) func(string) error {
	return func(text string) error {
		if strings.Contains(text, part) {
			return errors.New("the screen still contains " + part)
		}
		return nil
	}
}

// WaitFor waits until all strings are on the screen.
func (s *Screen) WaitFor(parts ...string) {
	s.t.Helper()
	s.Until(Contains(parts...))
}

// Until waits until a condition holds.
func (s *Screen) Until(what func(string) error) {
	s.t.Helper()
	if err := s.within(patience, what); err != nil {
		s.t.Fatalf("%v:\n%s", err, s.Text())
	}
}

func (s *Screen) within(limit time.Duration, what func(string) error) error {
	over := time.After(limit)
	for {
		err := what(s.Text())
		if err == nil {
			return nil
		}
		select {
		case <-over:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// echoTime is how long a key may take to have an effect. A new dialog ignores keys
// at first, and a repeated key could reach the next dialog.
const echoTime = 3 * time.Second

// PressUntil presses a key until a condition holds. The program may exit.
func (s *Screen) PressUntil(key string, what func(string) error) {
	s.t.Helper()
	for over := time.Now().Add(patience); time.Now().Before(over); {
		if err := s.Press(key); err != nil && s.Gone() != nil {
			s.t.Fatalf("%s: %v", key, err)
		}
		if s.within(echoTime, what) == nil {
			return
		}
	}
	s.t.Fatalf("%s had no effect: %v:\n%s", key, what(s.Text()), s.Text())
}
