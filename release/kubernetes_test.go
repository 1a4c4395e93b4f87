package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the schemas in testdata")

// kubernetesSchemas are the schemas in testdata/kubernetes, and the definitions from which they are made. The
// source is the OpenAPI document of Kubernetes 1.27, which the module k8s.io/kube-openapi has as test data.
var kubernetesSchemas = map[string]string{
	"service-v1.json":          "io.k8s.api.core.v1.Service",
	"statefulset-apps-v1.json": "io.k8s.api.apps.v1.StatefulSet",
}

const schemaFolder = "testdata/kubernetes"

// problemsOf returns what kubeconform rejects in a manifest, or "".
func problemsOf(t *testing.T, text string) string {
	t.Helper()
	v, err := validator.New([]string{schemaFolder + "/{{ .ResourceKind }}{{ .KindSuffix }}.json"},
		validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	results := v.Validate("kubernetes.yaml", io.NopCloser(strings.NewReader(text)))
	for _, r := range results {
		if r.Status != validator.Valid {
			problems = append(problems, r.Err.Error())
		}
	}
	if len(results) == 0 {
		return "there is no resource"
	}
	return strings.Join(problems, "; ")
}

func readManifest(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The file was not applied to a cluster. The tests in newcomer run its container with Podman.
func TestKubernetesManifestIsValid(t *testing.T) {
	text := readManifest(t, "kubernetes.yaml")
	if problems := problemsOf(t, text); problems != "" {
		t.Errorf("kubernetes.yaml: %s", problems)
	}
	for what, replace := range map[string][2]string{
		"an unknown field":       {"readOnlyRootFilesystem: true", "readonlyRootFilesystem: true"},
		"a text for a number":    {"runAsUser: 65532", `runAsUser: "65532"`},
		"a missing field":        {"  serviceName: askback\n", ""},
		"another version":        {"apiVersion: apps/v1", "apiVersion: apps/v1beta1"},
		"a field twice":          {"replicas: 1", "replicas: 1\n  replicas: 2"},
		"a port that is a list":  {"port: 7575", "port: [7575]"},
		"a number for arguments": {`":7575"`, "7575"},
	} {
		wrong := strings.Replace(text, replace[0], replace[1], 1)
		if wrong == text {
			t.Fatalf("%s: the manifest has no %q", what, replace[0])
		}
		if problemsOf(t, wrong) == "" {
			t.Errorf("%s is not rejected", what)
		}
	}
}

// The schemas are exactly what their source says, with the strictness of kubeconform's own schemas.
func TestKubernetesSchemasMatchTheirSource(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kube-openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/schemaconv/testdata/swagger.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Info        struct{ Title, Version string }
		Definitions map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	if document.Info.Title != "Kubernetes" || document.Info.Version != "v1.27.0" {
		t.Errorf("the source is %s %s", document.Info.Title, document.Info.Version)
	}
	for name, definition := range kubernetesSchemas {
		used := map[string]any{}
		addDefinition(document.Definitions, used, definition)
		want, err := json.MarshalIndent(map[string]any{
			"$comment": "from Kubernetes v1.27.0 (Apache-2.0)", "definitions": used,
			"$ref": "#/definitions/" + definition,
		}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		want, path := append(want, '\n'), filepath.Join(schemaFolder, name)
		if *update {
			if err := errors.Join(os.MkdirAll(schemaFolder, 0o755), os.WriteFile(path, want, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date (%v): run go test -run Schemas -update", path, err)
		}
	}
}

// addDefinition adds a definition, and all to which it refers, without descriptions. Objects get no
// fields that their definition does not have.
func addDefinition(all map[string]map[string]any, used map[string]any, name string) {
	if used[name] != nil {
		return
	}
	used[name] = true // for definitions that refer to themselves
	var clean func(any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = clean(v[i])
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				switch text, isText := v[key].(string); {
				case isText && (key == "description" || strings.HasPrefix(key, "x-kubernetes-")):
				case strings.HasPrefix(key, "x-kubernetes-"):
				case key == "$ref":
					out[key] = text
					addDefinition(all, used, strings.TrimPrefix(text, "#/definitions/"))
				default:
					out[key] = clean(v[key])
				}
			}
			return out
		}
		return v
	}
	out := clean(map[string]any(all[name])).(map[string]any)
	if out["properties"] != nil {
		out["additionalProperties"] = false
	}
	switch { // the source says only string
	case out["format"] == "int-or-string":
		out = map[string]any{"type": []string{"integer", "string"}}
	case strings.HasSuffix(name, ".resource.Quantity"):
		out = map[string]any{"type": []string{"number", "string"}}
	}
	used[name] = out
}

// A statefulSet has what the tests read in the manifest.
type statefulSet struct {
	Kind string
	Spec struct {
		Replicas int
		Template struct {
			Spec struct {
				SecurityContext struct {
					RunAsNonRoot                   bool
					RunAsUser, RunAsGroup, FSGroup int
					FSGroupChangePolicy            string
				}
				Containers []struct {
					Image, Name     string
					Args            []string
					Ports           []struct{ ContainerPort int }
					SecurityContext struct{ ReadOnlyRootFilesystem bool }
					VolumeMounts    []struct{ MountPath string }
				}
			}
		}
	}
}

// The manifest and the image agree. One pod has the database.
func TestKubernetesManifestMatchesTheImage(t *testing.T) {
	var set statefulSet
	for document := range strings.SplitSeq(readManifest(t, "kubernetes.yaml"), "\n---\n") {
		if strings.Contains(document, "kind: StatefulSet") {
			if err := yaml.Unmarshal([]byte(document), &set); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := set.Spec.Template.Spec
	if s := pod.SecurityContext; s.RunAsUser != imageUser || s.RunAsGroup != imageUser || s.FSGroup != imageUser ||
		!s.RunAsNonRoot || s.FSGroupChangePolicy != "OnRootMismatch" {
		t.Errorf("the pod runs as %+v", s)
	}
	if len(pod.Containers) != 1 || set.Spec.Replicas != 1 {
		t.Fatalf("there are %d containers in %d pods, want one", len(pod.Containers), set.Spec.Replicas)
	}
	c := pod.Containers[0]
	if len(c.Ports) != 1 || c.Ports[0].ContainerPort != imagePort || len(c.VolumeMounts) != 1 ||
		c.VolumeMounts[0].MountPath != imageData || !c.SecurityContext.ReadOnlyRootFilesystem ||
		!slices.Equal(c.Args[:3], imageConfig(build{}).Cmd) {
		t.Errorf("the container is %+v", c)
	}
}
