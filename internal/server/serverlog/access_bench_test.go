package serverlog_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/serverlog"
)

func BenchmarkAccess(b *testing.B) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelWarn} {
		b.Run(level.String(), func(b *testing.B) {
			log := serverlog.New(io.Discard, serverlog.Text, level)
			handler := log.Access(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				serverlog.SetPrincipal(r.Context(), askback.Principal{Kind: askback.Agent, Name: "deploy-bot"})
			}))
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/asks/ask_01k00000000000000000000000",
				nil)
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(w, r)
			}
		})
	}
}
