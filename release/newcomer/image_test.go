package newcomer_test

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"sigs.k8s.io/yaml"

	"github.com/askback/askback/release/fresh"
)

// imageFile matches the image in the folder of the artefacts.
const imageFile = "askback_*_image.tar"

// untar returns the files of a tar archive.
func untar(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

// readImage returns the files of the layout.
func readImage(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(artefact(t, imageFile))
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, bytes.NewReader(text))
}

// platforms returns the images of a layout, by platform.
func platforms(t *testing.T, files map[string][]byte) map[string]v1.Image {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := root.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := root.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.Image{}
	for _, m := range inner.Manifests {
		if images[m.Platform.String()], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return images
}

// Each platform of the image has a static program for its processor. QEMU runs the programs for other processors.
func TestImageHasAProgramForEachPlatform(t *testing.T) {
	images := platforms(t, readImage(t))
	for platform, want := range map[string]struct {
		machine  elf.Machine
		emulator string
	}{
		"linux/amd64":  {elf.EM_X86_64, ""},
		"linux/arm64":  {elf.EM_AARCH64, "qemu-aarch64-static"},
		"linux/arm/v7": {elf.EM_ARM, "qemu-arm-static"},
	} {
		img := images[platform]
		if img == nil && want.emulator != "" {
			t.Logf("LEFT OUT: the image for %s (this release is for the tested platform)", platform)
			continue
		}
		files := mutate.Extract(img)
		text := untar(t, files)["usr/bin/askback"]
		program, err := elf.NewFile(bytes.NewReader(text))
		if err = errors.Join(err, files.Close()); err != nil {
			t.Errorf("%s: %v", platform, err)
			continue
		}
		if program.Machine != want.machine {
			t.Errorf("the program of %s is for %v", platform, program.Machine)
		}
		if libraries, _ := program.ImportedLibraries(); len(libraries) > 0 {
			t.Errorf("the program of %s needs %v", platform, libraries)
		}
		checkVersion(t, platform, text, want.emulator)
	}
}

// checkVersion runs a program with an emulator, or without one if the name is "".
func checkVersion(t *testing.T, platform string, program []byte, emulator string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "askback")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "version")
	if emulator != "" {
		cmd = exec.CommandContext(t.Context(), emulator, path, "version")
	}
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Logf("LEFT OUT: running the program for %s (%s is missing)", platform, emulator)
		return
	}
	if want := strings.TrimSuffix(platform, "/v7") + "\n"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("the program of %s prints %q (%v), want %q", platform, out, err, want)
	}
}

// The image runs without a container engine, too: by chroot, as its user, with a root that is read-only. It needs
// no other files: neither /proc nor /dev is mounted.
func TestImageRunsByChroot(t *testing.T) {
	img := platforms(t, readImage(t))["linux/amd64"]
	s := fresh.New(t)
	s.Serve(t, map[string]http.Handler{"ask.example.com": http.NotFoundHandler()})
	files := mutate.Extract(img)
	defer files.Close()
	archive := filepath.Join(t.TempDir(), "image.tar")
	out, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, files)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	s.Copy(t, archive, "/root/image.tar")
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	inImage := func(environment string) string {
		return "env -i " + environment + " " + strings.Join(c.Env, " ") + " /usr/sbin/chroot --userspec=" + c.User +
			" /image " + c.Entrypoint[0] + " "
	}
	health := strings.Join(c.Healthcheck.Test[2:], " ")
	stdout := s.Run(t, "root", `mkdir /image && tar -C /image -xpf image.tar && cp /etc/hosts /image/etc
run='`+inImage("TZ=Europe/Berlin")+`'
list='`+inImage("ASKBACK_URL=https://ask.example.com ASKBACK_TOKEN=x")+`list'
$list 2>&1 | sed 's/^/unknown root: /'
roots=/image/etc/ssl/certs/ca-certificates.crt; [ -s $roots ] && cat /usr/local/share/ca-certificates/test.crt >>$roots
$list 2>&1 | sed 's/^/known root: /'
mount --bind /image /image && mount -o remount,bind,ro /image
mount -t tmpfs -o "mode=$(stat -c %a /image/data),uid=$(stat -c %u /image/data)" tmpfs /image/data
touch /image/tmp/x 2>/dev/null && echo "the root is writable"
$run `+health+`
$run `+strings.Join(c.Cmd, " ")+` 2>/tmp/log & server=$!
for i in $(seq 100); do $run `+health+` && break; sleep 0.1; done
kill -0 $server || { cat /tmp/log; exit 1; }
$run ask Which? A B </dev/null & ask=$!
for i in $(seq 100); do $run answer latest B >/dev/null 2>&1 && break; sleep 0.1; done
wait $ask
$run show "$($run list --status answered | cut -d ' ' -f 1)"
kill $server; wait $server; echo "the server ended with $?"`)
	for _, pattern := range []string{
		"(?m)^unknown root: .*certificate", "(?m)^known root: .*server replied", "(?m)^FAIL  server +no server",
		"(?m)^ok    server +the server at http://127.0.0.1:7575 is ready$", "(?m)^B$", "answered .* CET",
		"ended with 0",
	} {
		if !regexp.MustCompile(pattern).MatchString(stdout) {
			t.Errorf("%s is missing in:\n%s", pattern, stdout)
		}
	}
	if strings.Contains(stdout, "writable") {
		t.Error("the root is writable")
	}
}

// newDocker returns a fresh system with the command docker, which is Podman's. It pulls from a registry of the
// test, which has the name of the real one.
func newDocker(t *testing.T, files map[string][]byte) *fresh.System {
	t.Helper()
	s := fresh.New(t, "podman", "podman-docker", "crun", "containernetworking-plugins", "iptables", "iproute2", "curl")
	s.Serve(t, map[string]http.Handler{"ghcr.io": registry(t, files)})
	// No systemd and no control groups here, and no right to raise limits.
	s.Run(t, "root", `mkdir -p /etc/containers /sys/fs/cgroup; touch /etc/containers/nodocker
mountpoint -q /sys || mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /sys/fs/cgroup
cat >/etc/containers/containers.conf <<'END'
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
END
printf '[storage]\ndriver = "vfs"\ngraphroot = "/var/lib/containers/storage"\nrunroot = "/run/containers/storage"\n' \
	>/etc/containers/storage.conf`)
	return s
}

// registry serves the images of a layout as a registry does.
func registry(t *testing.T, files map[string][]byte) http.Handler {
	t.Helper()
	var index struct{ Manifests []struct{ Digest string } }
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, found := strings.Cut(r.URL.Path, "/v2/askback/askback/")
		name = strings.TrimPrefix(strings.TrimPrefix(name, "manifests/"), "blobs/")
		if name == "latest" {
			name = index.Manifests[0].Digest
		}
		data, ok := files["blobs/"+strings.Replace(name, ":", "/", 1)]
		var about struct{ MediaType string }
		switch {
		case !found && r.URL.Path == "/v2/":
		case !ok:
			http.NotFound(w, r)
		case json.Unmarshal(data, &about) == nil:
			w.Header().Set("Content-Type", about.MediaType)
			fallthrough
		default:
			w.Header().Set("Docker-Content-Digest", name)
			_, _ = w.Write(data)
		}
	})
}

// containerCommands returns the commands of the section of docs/operations.md that begin with the given words.
func containerCommands(t *testing.T, beginning string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## In a container\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, rest, found := strings.Cut(section, "```sh\n"+beginning)
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("docs/operations.md has no commands that begin with %q", beginning)
	}
	return beginning + block
}

// The commands of docs/operations.md lead from nothing to an answered question, as pasted into a terminal.
func TestFirstQuestionInAContainer(t *testing.T) {
	s := newDocker(t, readImage(t))
	start := time.Now()
	terminal := startPasted(t, s, containerCommands(t, "docker run"))
	link := terminal.wait(t, `http://127\.0\.0\.1:7575/login\?secret=(\S+)`)
	t.Logf("from docker run to the link for a browser, with the pull from a local registry: %v", time.Since(start))
	terminal.wait(t, "Which database should we use")
	// A browser outside of the container logs in with the link, and sees the question.
	page := s.Run(t, "ana", "curl -sS --fail '"+link[0]+"' && curl -sS --fail -c jar -o /dev/null "+
		"-d secret='"+link[1]+"' http://127.0.0.1:7575/login && curl -sS --fail -b jar http://127.0.0.1:7575/")
	if !strings.Contains(page, "Which database should we use?") {
		t.Errorf("the inbox has no question:\n%s", page)
	}
	s.Run(t, "root", "docker exec askback askback answer latest PostgreSQL")
	terminal.wait(t, `(?m)^PostgreSQL\s*$`)
	t.Logf("from docker run to the answer: %v", time.Since(start))
	if <-terminal.ended; terminal.err != nil {
		t.Errorf("the commands failed: %v\n%s", terminal.err, terminal.output())
	}
	checkBackup(t, s)
}

// checkBackup backs up the state of the container and restores it, with the commands of docs/operations.md.
func checkBackup(t *testing.T, s *fresh.System) {
	t.Helper()
	const answered = "docker exec askback askback list --status answered"
	s.Run(t, "root", containerCommands(t, "docker stop")+`docker rm -f askback && docker volume rm askback
stat -c '%a' askback.tar | grep -x 600`)
	out := s.Run(t, "root", containerCommands(t, "docker create")+ready+answered)
	if !strings.Contains(out, "PostgreSQL") {
		t.Errorf("the restored container has the asks:\n%s", out)
	}
	if code := s.Run(t, "root",
		"docker stop -t 30 askback >&2; docker inspect -f '{{.State.ExitCode}}' askback"); code != "0\n" {
		t.Errorf("the stopped server has the exit code %s", code)
	}
	if out, _, err := s.Try(t, "root", "docker start askback >&2; "+ready+"docker run --rm -v askback:/data "+
		"--entrypoint askback ghcr.io/askback/askback doctor --ready"); err == nil {
		t.Errorf("another container is healthy: %s", out)
	}
}

// ready is a command that waits until the server is healthy, with the health check of the image.
const ready = `for i in $(seq 100); do docker exec askback /usr/bin/askback doctor --ready >/tmp/ready && break
sleep 0.1; done; grep -q '^ok ' /tmp/ready || { cat /tmp/ready; exit 1; }
`

// A paste is a script that runs in a terminal.
type paste struct {
	path  string        // of the output
	ended chan struct{} // closed after the script has ended
	err   error         // of the script, after its end
}

// startPasted runs commands in a terminal of the system.
func startPasted(t *testing.T, s *fresh.System, commands string) *paste {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s.Run(t, "root", "cat >/root/pasted <<'END'\n"+commands+"END")
	cmd := s.Command(ctx, "root", "exec script -qefc 'sh -e /root/pasted' /dev/null")
	p := &paste{path: filepath.Join(t.TempDir(), "screen"), ended: make(chan struct{})}
	out, err := os.Create(p.path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = errors.Join(cmd.Wait(), out.Close())
	}()
	return p
}

// patience is how long a command may take.
const patience = 5 * time.Minute

// output returns what the terminal shows.
func (p *paste) output() string {
	text, _ := os.ReadFile(p.path)
	return plain(string(text))
}

// plain returns the output of a terminal without the codes for colours and the cursor.
func plain(out string) string {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\r`).ReplaceAllString(out, "")
}

// wait waits for a text in the terminal, and returns the text and its groups.
func (p *paste) wait(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for ended := false; ; {
		if found := re.FindStringSubmatch(p.output()); found != nil {
			return found
		}
		if ended {
			t.Fatalf("the terminal does not show %s:\n%s", pattern, p.output())
		}
		select {
		case <-p.ended:
			ended = true
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// The container of kubernetes.yaml runs on a volume as Kubernetes mounts it: its root belongs to root, and to the
// group of the pod. Podman runs it with the same arguments and rights, because there is no cluster here.
func TestContainerOfKubernetesManifestKeepsItsState(t *testing.T) {
	s := newDocker(t, readImage(t))
	text, err := os.ReadFile("../../packaging/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, document, _ := strings.Cut(string(text), "\n---\n")
	var set struct {
		Spec struct {
			Template struct {
				Spec struct {
					SecurityContext struct{ RunAsUser, RunAsGroup, FSGroup int }
					Containers      []struct {
						Args         []string
						VolumeMounts []struct{ MountPath string }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(document), &set); err != nil {
		t.Fatal(err)
	}
	pod := set.Spec.Template.Spec
	// Without a registry: a release has the image as a file, too.
	s.Copy(t, artefact(t, imageFile), "/root/image.tar")
	loaded := s.Run(t, "root", "docker load -i image.tar")
	name := regexp.MustCompile(`ghcr\.io/askback/askback:\d\S*`).FindString(loaded)
	run := fmt.Sprintf(`docker run --pull never -d --name askback --user %d:%d --read-only --cap-drop all `+
		`--security-opt no-new-privileges -v /volume:%s %s`, pod.SecurityContext.RunAsUser,
		pod.SecurityContext.RunAsGroup, pod.Containers[0].VolumeMounts[0].MountPath, name)
	for _, arg := range pod.Containers[0].Args {
		run += " '" + arg + "'"
	}
	s.Run(t, "root", fmt.Sprintf("mkdir /volume; chown 0:%d /volume; chmod 2775 /volume", pod.SecurityContext.FSGroup))
	s.Run(t, "root", run+"\n"+ready+
		"docker exec askback askback ask --timeout 1s 'Which?' || [ $? = 3 ]; docker rm -f -t 30 askback")
	out := s.Run(t, "root", run+"\n"+ready+"docker exec askback askback list --status expired; "+
		"docker exec askback askback login; stat -c '%a %u' /volume/askback /volume/askback/user.token")
	for _, want := range []string{"Which?", "https://ask.example.com/login?secret=", "2700 65532\n600 65532\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("after a restart, %q is missing:\n%s", want, out)
		}
	}
}
