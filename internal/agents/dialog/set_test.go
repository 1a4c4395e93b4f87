package dialog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/askback/askback/internal/agents/dialog"
)

var errTest = errors.New("the reason")

func all(string) bool { return true }

// is returns a function that reports whether its argument is equal to text.
func is(text string) func(string) bool { return func(about string) bool { return about == text } }

// opened opens a dialog whose ask ends with its context, and returns the dialog. The returned channel
// receives the cause of the end.
func opened(t *testing.T, s *dialog.Set[string], id, about string) (*dialog.Dialog[string], <-chan error) {
	t.Helper()
	d := s.Open(t.Context(), id, about)
	if d == nil {
		t.Fatalf("%s cannot be opened", id)
	}
	cause := make(chan error, 1)
	s.Ask(d, func(ctx context.Context) {
		<-ctx.Done()
		cause <- context.Cause(ctx)
	})
	return d, cause
}

func TestRequestIsAskedOnce(t *testing.T) {
	t.Parallel()
	var s dialog.Set[string]
	d, _ := opened(t, &s, "1", "a")
	if s.Open(t.Context(), "1", "b") != nil {
		t.Error("the open dialog was opened again")
	}
	if !s.Close(d) || s.Close(d) {
		t.Error("the dialog is not closed once")
	}
	again, _ := opened(t, &s, "1", "a")
	if s.Close(d) || !s.Close(again) {
		t.Error("the first dialog ended when the second one did")
	}
}

func TestMatchingDialogsEnd(t *testing.T) {
	t.Parallel()
	var s dialog.Set[string]
	a, ended := opened(t, &s, "1", "a")
	b, _ := opened(t, &s, "2", "b")
	s.End(errTest, is("a"))
	if got := <-ended; !errors.Is(got, errTest) {
		t.Errorf("ended by %v, want %v", got, errTest)
	}
	if s.Close(a) || !s.Close(b) {
		t.Error("the dialog that ended can be answered, or the other one cannot")
	}
}

func TestNoDialogOpensAfterTheEnd(t *testing.T) {
	t.Parallel()
	var s dialog.Set[string]
	_, ended := opened(t, &s, "1", "a")
	waiting := s.Open(t.Context(), "2", "b")
	s.EndAll(errTest)
	if got := <-ended; !errors.Is(got, errTest) {
		t.Errorf("ended by %v, want %v", got, errTest)
	}
	s.Ask(waiting, func(context.Context) { t.Error("a dialog that has ended is asked about") })
	if s.Open(t.Context(), "3", "c") != nil {
		t.Error("a dialog was opened")
	}
	s.Wait()
}

// If people could confuse dialogs, Askback does not ask about them. Only the program shows these dialogs,
// until they end.
func TestAmbiguousDialogsAreMuted(t *testing.T) {
	t.Parallel()
	var s dialog.Set[string]
	one, ended := opened(t, &s, "1", "a")
	s.MuteAmbiguous(errTest, is("a"))
	two, other := s.Open(t.Context(), "2", "a"), s.Open(t.Context(), "3", "b")
	s.MuteAmbiguous(errTest, is("a"))
	if got := <-ended; !errors.Is(got, errTest) {
		t.Errorf("ended by %v, want %v", got, errTest)
	}
	s.MuteAmbiguous(errTest, is("b"))
	s.Ask(two, func(context.Context) { t.Error("an ambiguous dialog is asked about") })
	if s.Close(one) || s.Close(two) || !s.Close(other) {
		t.Error("an ambiguous dialog can be answered, or another one cannot")
	}
	if s.Open(t.Context(), "1", "a") != nil {
		t.Error("the muted dialog is not open")
	}
	s.End(errTest, all)
	if s.Open(t.Context(), "1", "a") == nil {
		t.Error("the muted dialog did not end")
	}
}
