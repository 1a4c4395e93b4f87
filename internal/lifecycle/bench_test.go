package lifecycle_test

import (
	"testing"

	"github.com/askback/askback/internal/lifecycle"
)

func BenchmarkDecodeAsk(b *testing.B) {
	fixed, moving := sample(b, "testdata/states/v2/answered_in_full")
	b.SetBytes(int64(len(fixed) + len(moving)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lifecycle.DecodeAsk(lifecycle.Row{}, fixed, moving); err != nil {
			b.Fatal(err)
		}
	}
}
