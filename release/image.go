package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	ociarchive "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	imageName = "ghcr.io/askback/askback"
	// imageUser is the number of the user and of its group. Kubernetes accepts runAsNonRoot only with a number.
	imageUser = 65532
	// imagePort is the default port of askback serve, so that the links of askback login are right outside of
	// the container, too, if the port has the same number there.
	imagePort = 7575
	// imageData is the volume. The program makes its private folder below it: the root of a volume may
	// belong to another user, as in Kubernetes.
	imageData = "/data"
)

// manifestFiles are the files of the folder packaging that run the image.
var manifestFiles = []string{"compose.yaml", "kubernetes.yaml"}

// imagePlatforms are the platforms of the image.
var imagePlatforms = []v1.Platform{
	{OS: "linux", Architecture: "amd64"},
	{OS: "linux", Architecture: "arm64"},
	{OS: "linux", Architecture: "arm", Variant: "v7"},
}

// image makes the image for all platforms, as a tar archive of an OCI layout. Nothing of it depends on a base
// image or a daemon.
func image(b build) error {
	base, err := baseLayer(b)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range imagePlatforms {
		at := slices.IndexFunc(b.programs, func(p program) bool {
			return p.OS == platform.OS && p.Arch == platform.Architecture &&
				p.ARM == strings.TrimPrefix(platform.Variant, "v")
		})
		if at < 0 && os.Getenv("PLATFORMS") == "tested" {
			continue
		}
		if at < 0 {
			return fmt.Errorf("%s: the release has no program for it", platform)
		}
		img, err := platformImage(b, base, platform, b.programs[at])
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &platform},
		})
	}
	index, ok := mutate.Annotations(index, imageLabels(b)).(v1.ImageIndex)
	if !ok {
		return fmt.Errorf("the index has no annotations")
	}
	return writeLayout(filepath.Join(b.dist, "askback_"+b.version+"_image.tar"), index, b)
}

// manifests copies the files that run the image into the release. Their image is this version, because a later
// version migrates the database, and cannot be undone.
func manifests(b build) error {
	for _, name := range manifestFiles {
		text, err := os.ReadFile(filepath.Join(b.repository, "packaging", name))
		if err != nil {
			return err
		}
		text, err = replaceOnce(text, imageName+":latest\n", imageName+":"+b.version+"\n")
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(b.dist, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// platformImage returns the image for a platform.
func platformImage(b build, base v1.Layer, platform v1.Platform, p program) (v1.Image, error) {
	files := []file{
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/askback/", mode: 0o755},
	}
	for _, f := range []struct {
		name, from string
		mode       fs.FileMode
	}{
		{"usr/bin/askback", p.Path, 0o755},
		{"usr/share/doc/askback/LICENSE", filepath.Join(b.repository, "LICENSE"), 0o644},
		{
			"usr/share/doc/askback/THIRD_PARTY_LICENSES",
			filepath.Join(b.repository, "bin", "share", "THIRD_PARTY_LICENSES"), 0o644,
		},
	} {
		data, err := os.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: f.name, mode: f.mode, data: data})
	}
	top, err := newLayer(files, nil, b.time)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: b.time}
	if img, err = mutate.Append(img,
		mutate.Addendum{Layer: base, History: v1.History{Created: created, CreatedBy: "certificates and user"}},
		mutate.Addendum{Layer: top, History: v1.History{Created: created, CreatedBy: "askback " + b.version}},
	); err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created, config.OS = created, platform.OS
	config.Architecture, config.Variant = platform.Architecture, platform.Variant
	config.Config = imageConfig(b)
	return mutate.ConfigFile(img, config)
}

// imageConfig returns how containers run.
func imageConfig(b build) v1.Config {
	return v1.Config{
		User:         fmt.Sprintf("%d:%d", imageUser, imageUser),
		ExposedPorts: map[string]struct{}{strconv.Itoa(imagePort) + "/tcp": {}},
		Env:          []string{"PATH=/usr/bin", "HOME=" + imageData, "XDG_STATE_HOME=" + imageData},
		Entrypoint:   []string{"/usr/bin/askback"},
		// All addresses of the container. Which machines reach it is up to the port that the user publishes.
		Cmd:     []string{"serve", "--listen", fmt.Sprintf(":%d", imagePort)},
		Volumes: map[string]struct{}{imageData: {}},
		// SQLite puts large temporary files into the current folder if the root is read-only.
		WorkingDir: imageData,
		Labels:     imageLabels(b),
		// OCI has no health checks. Docker reads this field, Podman and Kubernetes do not.
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/bin/askback", "doctor", "--ready"},
			Interval: 30 * time.Second, Timeout: 10 * time.Second, StartPeriod: 30 * time.Second, Retries: 3,
		},
	}
}

// imageLabels returns the labels of each image, which are also the annotations of the index.
func imageLabels(b build) map[string]string {
	const key = "org.opencontainers.image."
	return map[string]string{
		key + "title":         "Askback",
		key + "description":   "The place where AI agents ask people and get an answer, however long it takes",
		key + "source":        "https://github.com/askback/askback",
		key + "documentation": "https://github.com/askback/askback/blob/v" + b.version + "/docs/operations.md",
		key + "licenses":      "Apache-2.0",
		key + "version":       b.version,
		key + "created":       b.time.Format(time.RFC3339),
		// The registry of MCP servers compares it.
		"io.modelcontextprotocol.server.name": mcpName,
	}
}

// baseLayer returns the layer below the program. It has no database of time zones, because the program has it.
func baseLayer(b build) (v1.Layer, error) {
	user := fmt.Sprintf("askback:x:%d:%[1]d:Askback:%s:/usr/sbin/nologin\n", imageUser, imageData)
	data := strings.TrimPrefix(imageData, "/") + "/"
	return newLayer([]file{
		{name: data, mode: 0o700},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\naskback:x:%d:\n", imageUser)},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/root:/usr/sbin/nologin\n" + user)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates()},
		{name: "tmp/", mode: 0o1777},
	}, map[string]int{data: imageUser}, b.time)
}

// certificates returns the roots that Mozilla trusts, as PEM. Roots that are trusted only for certificates
// issued before a day are left out, because a PEM file cannot have such a condition.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

// newLayer returns a compressed layer with files.
func newLayer(files []file, owners map[string]int, at time.Time) (v1.Layer, error) {
	data, err := zippedTarball(files, owners, at)
	if err != nil {
		return nil, err
	}
	return ociarchive.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}, ociarchive.WithMediaType(types.OCILayer))
}

// writeLayout writes an OCI layout with the index as a tar archive.
func writeLayout(path string, index v1.ImageIndex, b build) error {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := imageName + ":" + b.version
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": name,
		"io.containerd.image.name":          name,
	})); err != nil {
		return err
	}
	var files []file
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files = append(files, file{name: name, mode: 0o644, data: data})
		return err
	}); err != nil {
		return err
	}
	data, err := tarball(files, nil, b.time)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
