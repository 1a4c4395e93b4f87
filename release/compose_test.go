package main

import (
	"context"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// readCompose reads a compose file as docker compose does.
func readCompose(ctx context.Context, text string) (*types.Project, error) {
	return loader.LoadWithContext(ctx, types.ConfigDetails{
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}},
	}, func(o *loader.Options) { o.SetProjectName("askback", true) })
}

// The file runs the image as docs/operations.md does: on this machine only, with a read-only root.
func TestComposeFileIsValid(t *testing.T) {
	text := readManifest(t, "compose.yaml")
	project, err := readCompose(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	s := project.Services["askback"]
	if s.Image != imageName+":latest" || !s.ReadOnly || s.ContainerName != "askback" || s.HealthCheck != nil ||
		len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || len(s.Ports) != 1 || len(s.Volumes) != 1 {
		t.Fatalf("the service is %+v", s)
	}
	if p := s.Ports[0]; p.HostIP != "127.0.0.1" || p.Published != "7575" || p.Target != imagePort {
		t.Errorf("the port is %+v", p)
	}
	if v := s.Volumes[0]; v.Type != types.VolumeTypeVolume || v.Source != "askback" || v.Target != imageData ||
		project.Volumes["askback"].Name != "askback" {
		t.Errorf("the volume is %+v", v)
	}
	for what, replace := range map[string][2]string{
		"an unknown key":    {"read_only:", "readonly:"},
		"an unknown volume": {"  askback:\n    name: askback", "  other:\n    name: askback"},
		"a wrong port":      {"7575:7575", "7575:port"},
		"a wrong type":      {"read_only: true", "read_only: [true]"},
	} {
		wrong := strings.Replace(text, replace[0], replace[1], 1)
		if wrong == text {
			t.Fatalf("%s: the file has no %q", what, replace[0])
		}
		if _, err := readCompose(t.Context(), wrong); err == nil {
			t.Errorf("%s is not rejected", what)
		}
	}
}
