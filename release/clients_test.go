package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/release/npmtest"
)

// clientBuild returns a build of a version without programs.
func clientBuild(t *testing.T, version string) build {
	t.Helper()
	return build{dist: t.TempDir(), repository: "..", version: version, time: time.Unix(1_800_000_000, 0)}
}

// Python imports the client from the wheel, and reads the version of the release from its metadata. The sums
// in the wheel are right, and a second build has the same bytes.
func TestPythonWheelIsInstallable(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("LEFT OUT: the client for Python (python3 is missing)")
	}
	b, again := clientBuild(t, "0.3.0"), clientBuild(t, "0.3.0")
	for _, one := range []build{b, again} {
		if err := pythonPackages(one); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"askback-0.3.0-py3-none-any.whl", "askback-0.3.0.tar.gz"} {
		one, err := os.ReadFile(filepath.Join(b.dist, "python", name))
		if err != nil {
			t.Fatal(err)
		}
		if two, err := os.ReadFile(filepath.Join(again.dist, "python", name)); err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: two builds differ: %v", name, err)
		}
	}
	wheel := filepath.Join(b.dist, "python", "askback-0.3.0-py3-none-any.whl")
	site := t.TempDir()
	unzip(t, wheel, site)
	const check = `
import askback, askback.langchain, base64, csv, hashlib, importlib.metadata, pathlib, sys
about = importlib.metadata.distribution("askback")
assert about.version == "0.3.0", about.version
assert about.metadata["License-Expression"] == "Apache-2.0" and about.metadata["Metadata-Version"] == "2.4"
assert "Let an agent stop" in about.metadata.get_payload(), "the page is missing"
site, recorded = pathlib.Path(sys.argv[1]), set()
for name, sum, size in csv.reader((site / "askback-0.3.0.dist-info/RECORD").open()):
    recorded.add(name)
    if sum:
        data = (site / name).read_bytes()
        own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert sum == "sha256=" + own and size == str(len(data)), name
there = {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()}
assert recorded == there, recorded ^ there
assert {"askback/py.typed", "askback-0.3.0.dist-info/licenses/LICENSE"} <= there
print(askback.Askback.__name__, askback.__file__)
`
	cmd := exec.Command(python, "-c", check, site)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + site, "PYTHONDONTWRITEBYTECODE=1"}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "Askback "+site) {
		t.Errorf("%v: %s", err, out)
	}
}

// pip installs the wheel.
func TestPipInstallsTheWheel(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	folder := t.TempDir()
	if err == nil {
		err = exec.Command(python, "-m", "venv", folder).Run()
	}
	if err != nil {
		t.Skip("LEFT OUT: pip (python3 with venv is missing)")
	}
	b := clientBuild(t, "0.3.0")
	if err := pythonPackages(b); err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(b.dist, "python", "askback-0.3.0-py3-none-any.whl")
	pip := exec.Command(filepath.Join(folder, "bin", "pip"), "install", "--no-index", wheel)
	if out, err := pip.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const check = `import askback, importlib.metadata; print(importlib.metadata.version("askback"))`
	out, err := exec.Command(filepath.Join(folder, "bin", "python3"), "-c", check).CombinedOutput()
	if err != nil || string(out) != "0.3.0\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// setuptools builds the same modules and metadata from the source distribution.
func TestPythonSourceDistributionBuilds(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err == nil {
		const check = "import setuptools; assert int(setuptools.__version__.split('.')[0]) >= 77"
		err = exec.Command(python, "-c", check).Run()
	}
	if err != nil {
		t.Skip("LEFT OUT: building the client for Python (python3 with setuptools 77 is missing)")
	}
	b := clientBuild(t, "0.3.0-rc.2")
	if err := pythonPackages(b); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(b.dist, "python", "askback-0.3.0rc2.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, content := range npmtest.Archived(t, data) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-c", `import setuptools.build_meta as build; build.build_wheel("built")`)
	cmd.Dir = filepath.Join(root, "askback-0.3.0rc2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const wheel = "askback-0.3.0rc2-py3-none-any.whl"
	got := wheelFiles(t, filepath.Join(b.dist, "python", wheel))
	want := wheelFiles(t, filepath.Join(cmd.Dir, "built", wheel))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wheelFiles returns the names of the modules in a wheel, sorted, and the lines of its metadata.
func wheelFiles(t *testing.T, path string) (all []string) {
	t.Helper()
	folder := t.TempDir()
	unzip(t, path, folder)
	modules, err := readFolder(folder, ".py", ".typed")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		all = append(all, m.name)
	}
	text, err := os.ReadFile(filepath.Join(folder, "askback-0.3.0rc2.dist-info", "METADATA"))
	if err != nil {
		t.Fatal(err)
	}
	head, page, _ := strings.Cut(string(text), "\n\n")
	for _, line := range slices.Sorted(strings.SplitSeq(head, "\n")) {
		if !strings.HasPrefix(line, "Dynamic:") { // it is for tools that read a source distribution
			all = append(all, line)
		}
	}
	return append(all, page)
}

// Versions of Python have another form for pre-releases.
func TestPythonVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.1.0": "0.1.0", "0.1.0-rc.1": "0.1.0rc1", "1.2.3-alpha.10": "1.2.3a10", "1.0.0-beta.2": "1.0.0b2",
		"0.1.1-SNAPSHOT-7be99701": "0.1.1.dev0+snapshot.7be99701", "0.1.1-next": "0.1.1.dev0+next",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

// Node imports the client for TypeScript from its package, which has the version of the release and types. A
// second build has the same bytes.
func TestTypescriptPackageIsInstallable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: the client for TypeScript (%s is missing)", name)
		}
	}
	b, again := clientBuild(t, "0.3.0"), clientBuild(t, "0.3.0")
	for _, one := range []build{b, again} {
		switch err := typescriptPackage(one); {
		case err != nil && strings.Contains(err.Error(), "npm error network"):
			t.Skip("LEFT OUT: the client for TypeScript (npm does not get the compiler)")
		case err != nil:
			t.Fatal(err)
		}
	}
	path := filepath.Join(b.dist, "npm", "askback-sdk-0.3.0.tgz")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(filepath.Join(again.dist, "npm", filepath.Base(path)))
	if err != nil || !bytes.Equal(data, two) {
		t.Errorf("two builds differ: %v", err)
	}
	files := npmtest.Archived(t, data)
	var m struct{ Name, Version string }
	if err := json.Unmarshal(files["package/package.json"], &m); err != nil || m.Name != "@askback/sdk" ||
		m.Version != "0.3.0" {
		t.Errorf("got %+v, %v", m, err)
	}
	if files["package/dist/index.d.ts"] == nil || files["package/LICENSE"] == nil || files["package/README.md"] == nil {
		t.Error("the types, the licence or the page are missing")
	}
	folder := t.TempDir()
	cmd := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", path)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd = exec.Command("node", "--input-type=module", "-e", `
import { Askback } from "@askback/sdk";
import { settle } from "@askback/sdk/mastra";
console.log(Askback.name, typeof settle)`)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "Askback function\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// The clients in the repository have no version of their own, so the version of a release is the only one.
func TestClientsHaveNoVersionOfTheirOwn(t *testing.T) {
	t.Parallel()
	for path, prefix := range map[string]string{
		"../sdk/typescript/package.json": `"version": "`, "../sdk/python/pyproject.toml": `version = "`,
		"../packaging/npm/package.json": `"version": "`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := withVersion(text, prefix, "1.2.3"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		text = bytes.ReplaceAll(text, []byte("0.0.0"), []byte("0.1.0"))
		if _, err := withVersion(text, prefix, "1.2.3"); err == nil {
			t.Errorf("%s: another version is accepted", path)
		}
	}
}

// unzip writes the files of an archive to a folder.
func unzip(t *testing.T, path, folder string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.CopyFS(folder, r); err != nil {
		t.Fatal(err)
	}
}
