package askback_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
)

// fill puts something into every field of v, however deep: two entries into
// every list, so that a field added tomorrow is in the test as well.
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

// spoil changes everything that a and whatever shares memory with it can see.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("after")
	case reflect.Uint8:
		v.SetUint('a')
	case reflect.Slice:
		spoil(v.Index(0))
		spoil(v.Index(1))
	case reflect.Pointer:
		spoil(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				spoil(f)
			}
		}
	}
}

func TestACloneSharesNothing(t *testing.T) {
	var a, want askback.Ask
	fill(reflect.ValueOf(&a).Elem())
	fill(reflect.ValueOf(&want).Elem())
	clone := a.Clone()
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Fatalf("the clone differs; want -, got +:\n%s", diff)
	}
	spoil(reflect.ValueOf(&a).Elem())
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Errorf("the clone changed with the original; want -, got +:\n%s", diff)
	}
}

func TestACloneIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAsk().Draw(t, "ask")
		if diff := cmp.Diff(a, a.Clone()); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

func TestAnAskIsSettledOnceItHasAnOutcome(t *testing.T) {
	for _, outcome := range []*askback.Outcome{nil, {}} {
		a := askback.Ask{Outcome: outcome, Context: json.RawMessage(`{}`)}
		if got, want := a.Settled(), outcome != nil; got != want {
			t.Errorf("outcome %v: got %v, want %v", outcome, got, want)
		}
	}
}
