// Package scripts_test tests the shell functions of the scripts.
package scripts_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script runs commands of Bash after sourcing steps.sh. It returns the output, with times
// replaced by 0:00, and the exit code.
func script(t *testing.T, text string) (output string, code int) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("LEFT OUT: the scripts (bash is not installed)")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "try.sh")
	if err := os.WriteFile(path, []byte("set -uo pipefail\nsource "+here+"/steps.sh\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), bash, path)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the script left %v behind (%v)", left, err)
	}
	return regexp.MustCompile(`\b\d+:\d\d\b`).ReplaceAllString(string(out), "0:00"), cmd.ProcessState.ExitCode()
}

// The output of a background command is printed together, and its failure counts.
func TestBackgroundCommandIsAwaited(t *testing.T) {
	got, code := script(t, `
slow() { echo one; until [[ -e $scratch/go ]]; do sleep 0.01; done; echo two; return 3; }
begin slow slow
step first touch "$scratch/go"
finish
summary`)
	want := `== try: slow begins, beside what follows (0:00 so far)
== try: first (0:00 so far)
== try: slow ended (0:00 so far)
one
two
== try: summary (0:00 in all)
            time  cores  step
   ok       0:00   0:00  first
   FAILED beside   0:00  slow
try: FAILED: [slow]
`
	if d := cmp.Diff(want, got); d != "" || code != 1 {
		t.Errorf("exit code %d, want 1; -want +got\n%s", code, d)
	}
}

func TestStepsAfterAFailedStepRun(t *testing.T) {
	got, code := script(t, `
bad() { echo "it is bad"; false; }
step first true
step second bad
step third echo hello
leave_out "the moon (no rocket)"
echo "FAILED: ./web TestX" >>"$notes"
summary`)
	want := `== try: first (0:00 so far)
== try: second (0:00 so far)
it is bad
== try: third (0:00 so far)
hello
LEFT OUT: the moon (no rocket)
== try: summary (0:00 in all)
            time  cores  step
   ok       0:00   0:00  first
   FAILED   0:00   0:00  second
   ok       0:00   0:00  third
   FAILED: ./web TestX
   LEFT OUT: the moon (no rocket)
try: FAILED: [second]
`
	if d := cmp.Diff(want, got); d != "" || code != 1 {
		t.Errorf("exit code %d, want 1; -want +got\n%s", code, d)
	}
}

// A process that a step leaves behind is printed and killed, even if it has a session of its own. The step
// that searches for it fails.
func TestStepFailsIfAProcessIsLeftBehind(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	got, code := script(t, `
patience=1
mark=left=$scratch/
env "$mark" sh -c 'sleep 1000 &'
step left left_behind "$mark"
step none left_behind "$mark"
summary`)
	if !strings.Contains(got, "is left behind: sleep 1000 (in ") ||
		!strings.HasSuffix(got, "try: FAILED: [left]\n") || code != 1 {
		t.Errorf("exit code %d, want 1, and the process in\n%s", code, got)
	}
}

func TestSummaryReportsOmittedSteps(t *testing.T) {
	for left, want := range map[string]string{
		"":                     "try: all good\n",
		"leave_out 'the moon'": "try: all good, apart from what was left out\n",
	} {
		got, code := script(t, "step one true\n"+left+"\nsummary")
		if !strings.HasSuffix(got, want) || code != 0 {
			t.Errorf("exit code %d, want 0, and %q at the end of\n%s", code, want, got)
		}
	}
}

func TestSummaryReportsThatNothingRan(t *testing.T) {
	if got, _ := script(t, "leave_out 'the moon'\nsummary"); !strings.HasSuffix(got, "try: NOTHING RAN\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestMissingProgramsArePrintedBeforeInstallation(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		// The script replaces apt_install, which would run apt-get.
		"INSTALL=": "no-such-program is not installed; it is for the moon\nINSTALLS no-such-package and-another\n" +
			"LEFT OUT: the moon (no-such-program is not installed)\n",
		// Without a PATH there is no apt-get. The script needs only builtins.
		"PATH=": "no-such-program is not installed; it is for the moon\nthere is no apt-get to install it " +
			"with\nLEFT OUT: the moon (no-such-program is not installed)\n",
		"INSTALL=no": "no-such-program is not installed; it is for the moon\nINSTALL=no: nothing is installed\nLEFT " +
			"OUT: the moon (no-such-program is not installed)\n",
	} {
		got, _ := script(t, `
source `+here+`/need.sh
apt-get() { :; }
[[ `+how+` != PATH= ]] || unset -f apt-get
apt_install() { echo "INSTALLS ${missing[*]}"; }
need bash "what is there already" bash
need no-such-program "the moon" no-such-package and-another
before=$PATH
INSTALL= # make test INSTALL=no runs this test, too
`+how+`
install_missing
PATH=$before`)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", how, d)
		}
	}
}
