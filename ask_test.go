package askback_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
)

// fill sets every field of v recursively, and gives each slice two elements. It uses
// reflection so that the test covers fields that are added later.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("before")
	case reflect.Uint8:
		v.SetUint('b')
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				fill(f)
			}
		}
	}
}

// overwrite changes every value that is reachable from v.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("after")
	case reflect.Uint8:
		v.SetUint('a')
	case reflect.Slice:
		overwrite(v.Index(0))
		overwrite(v.Index(1))
	case reflect.Pointer:
		overwrite(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				overwrite(f)
			}
		}
	}
}

func TestCloneSharesNoMemory(t *testing.T) {
	var a, want askback.Ask
	fill(reflect.ValueOf(&a).Elem())
	fill(reflect.ValueOf(&want).Elem())
	clone := a.Clone()
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Fatalf("the clone differs; want -, got +:\n%s", diff)
	}
	overwrite(reflect.ValueOf(&a).Elem())
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Errorf("the clone changed with the original; want -, got +:\n%s", diff)
	}
}

func TestCloneIsEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAsk().Draw(t, "ask")
		if diff := cmp.Diff(a, a.Clone()); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

func TestAskWithOutcomeIsSettled(t *testing.T) {
	for _, outcome := range []*askback.Outcome{nil, {}} {
		a := askback.Ask{Outcome: outcome, Context: json.RawMessage(`{}`)}
		if got, want := a.Settled(), outcome != nil; got != want {
			t.Errorf("outcome %v: got %v, want %v", outcome, got, want)
		}
	}
}

func TestPageURLBeginsWithBase(t *testing.T) {
	a := askback.Ask{ID: "ask_1"}
	for base, want := range map[string]string{"": "", "https://ask.example.com": "https://ask.example.com/asks/ask_1"} {
		if got := a.WithPageURL(base).PageURL; got != want {
			t.Errorf("at %q: got %q, want %q", base, got, want)
		}
	}
	if got := (askback.Ask{}).WithPageURL("https://ask.example.com").PageURL; got != "" {
		t.Errorf("an ask without an id has the page %q", got)
	}
	if got, want := askback.PagePath("ask_1/../x"), "/asks/ask_1%2F..%2Fx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
