package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/proctest"
)

// applies contains the scenarios of the suite that Askback must pass.
var applies = []string{
	"caching", "dns-rebinding-protection", "http-header-validation", "input-required-result-unsupported-methods",
	"input-required-result-validate-input", "logging-set-level", "ping", "prompts-list", "resources-list",
	"sep-2164-resource-not-found", "server-initialize", "server-session-lifecycle", "server-sse-multiple-streams",
	"tools-list",
}

// An exemption is the reason why a scenario, or some of its checks, does not apply. The messages of the suite
// for these checks contain one of the texts.
type exemption struct {
	why  string
	says []string
}

// fixture returns the exemption of a scenario that needs the tools or prompts of a server made for the suite.
func fixture(names ...string) exemption { return exemption{"needs a fixture of the suite", names} }

const (
	resources   = "there are no resources: what agents need is behind the tools"
	completions = "there are no prompts or resources to complete arguments for"
	skills      = "skills are an extension that is not spoken here"
	resuming    = "an answer is fetched by wait_for_answer, also after days; a stream is not resumed"
	headers     = "no tool mirrors an argument into a header"
)

// exempt contains the scenarios that do not apply, or apply in part.
var exempt = map[string]exemption{
	"completion-complete":                          {completions, []string{`method not found: "completion/complete"`}},
	"elicitation-sep1034-defaults":                 fixture("test_elicitation_sep1034_defaults"),
	"elicitation-sep1330-enums":                    fixture("test_elicitation_sep1330_enums"),
	"http-custom-header-server-validation":         {headers, []string{"no tool with x-mcp-header annotations"}},
	"input-required-result-basic-elicitation":      fixture("test_input_required_result_elicitation"),
	"input-required-result-basic-list-roots":       fixture("test_input_required_result_list_roots"),
	"input-required-result-basic-sampling":         fixture("test_input_required_result_sampling"),
	"input-required-result-capability-check":       fixture("test_input_required_result_capabilities"),
	"input-required-result-ignore-extra-params":    fixture("test_input_required_result_elicitation"),
	"input-required-result-missing-input-response": fixture("Server returned JSON-RPC error instead of re-requesting"),
	"input-required-result-multi-round": fixture(
		"Expected InputRequiredResult with inputRequests and requestState",
	),
	"input-required-result-multiple-input-requests": fixture("test_input_required_result_multiple_inputs"),
	"input-required-result-non-tool-request":        fixture("test_input_required_result_prompt"),
	"input-required-result-request-state":           fixture("test_input_required_result_request_state"),
	"input-required-result-result-type":             fixture("test_input_required_result_elicitation"),
	"input-required-result-tampered-state":          fixture("could not get initial InputRequiredResult"),
	"json-schema-2020-12":                           fixture("json_schema_2020_12_tool"),
	"prompts-get-embedded-resource":                 fixture("test_prompt_with_embedded_resource"),
	"prompts-get-simple":                            fixture("test_simple_prompt"),
	"prompts-get-with-args":                         fixture("test_prompt_with_arguments"),
	"prompts-get-with-image":                        fixture("test_prompt_with_image"),
	"resources-read-binary":                         {resources, []string{"Resource not found"}},
	"resources-read-text":                           {resources, []string{"Resource not found"}},
	"resources-subscribe":                           {resources, []string{`method not found: "resources/subscribe"`}},
	"resources-templates-read":                      {resources, []string{"Resource not found"}},
	"resources-unsubscribe":                         {resources, []string{`method not found: "resources/subscribe"`}},
	"sep-2640-skills-directory": {
		skills, []string{"did not declare the io.modelcontextprotocol/skills extension"},
	},
	"sep-2640-skills-enumeration": {skills, []string{"did not declare the io.modelcontextprotocol/skills extension"}},
	"sep-2640-skills-manifest":    {skills, []string{"did not declare the io.modelcontextprotocol/skills extension"}},
	"server-sse-polling": {
		resuming, []string{"Server did not send priming event", "Server did not send retry field"},
	},
	"server-stateless": {"of 28 checks one, and four that need fixtures: an empty list of prompts is not refused, " +
		"which old clients ask for unasked", []string{
		"handles prompts but did not declare prompts", "test_missing_capability", "test_streaming_elicitation",
		"test_logging_tool",
	}},
	"tasks-capability-negotiation": fixture("slow_compute"),
	"tasks-dispatch-and-envelope":  fixture("failing_job", "greet", "slow_compute"),
	"tasks-lifecycle": fixture("failing_job", "greet", "slow_compute", "protocol_error_job",
		"no task was created by the preceding step"),
	"tasks-mrtr-composition":       fixture("test_tool_with_task"),
	"tasks-mrtr-input":             fixture("confirm_delete", "multi_input"),
	"tasks-request-headers":        fixture("greet", "slow_compute", "routing-task fixture from Check 2 unavailable"),
	"tasks-request-state-removal":  fixture("slow_compute"),
	"tasks-required-task-error":    fixture("failing_job"),
	"tasks-status-notifications":   {"the suite leaves it out itself", []string{"Skipped: SEP-2663"}},
	"tasks-wire-fields":            fixture("slow_compute", "no task was created by the preceding step"),
	"tools-call-audio":             fixture("test_audio_content"),
	"tools-call-elicitation":       fixture("test_elicitation"),
	"tools-call-embedded-resource": fixture("test_embedded_resource"),
	"tools-call-error":             fixture("test_error_handling"),
	"tools-call-image":             fixture("test_image_content"),
	"tools-call-mixed-content":     fixture("test_multiple_content_types"),
	"tools-call-sampling":          fixture("test_sampling"),
	"tools-call-simple-text":       fixture("test_simple_text"),
	"tools-call-with-logging":      fixture("test_tool_with_logging"),
	"tools-call-with-progress":     fixture("test_tool_with_progress"),
}

// Every applicable scenario of the conformance suite of the protocol passes in each revision. The other
// scenarios are listed with a reason, and must fail (B7).
func TestConformanceSuitePasses(t *testing.T) {
	packages := clienttest.Packages(t)
	t.Parallel()
	p := clienttest.New(t)
	address := withToken(t, p)
	known := slices.Concat(applies, slices.Collect(maps.Keys(exempt)))
	slices.Sort(known)
	seen := map[string]bool{}
	for name, args := range map[string][]string{
		"all": nil, "2025-11-25": {"--spec-version", "2025-11-25"}, "2026-07-28": {"--spec-version", "2026-07-28"},
	} {
		for scenario, checks := range conformance(t, packages, address, args) {
			seen[scenario] = true
			if err := checkScenario(scenario, checks); err != nil {
				t.Errorf("%s, %s: %v", name, scenario, err)
			}
		}
	}
	if diff := cmp.Diff(known, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("the suite has other scenarios than the lists here (-listed +run)\n%s", diff)
	}
}

// A check is one check of a scenario.
type check struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// checkScenario returns an error if the result of a scenario is not as listed in
// applies or exempt.
func checkScenario(scenario string, checks []check) error {
	passed, troubles := false, []check{}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS": // every scenario also checks the schema of the messages
			passed = passed || c.ID != "wire-schema-valid"
		case "FAILURE", "WARNING":
			troubles = append(troubles, c)
		}
	}
	if !passed && len(troubles) == 0 {
		troubles = slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.Status != "SKIPPED" })
	}
	e, exempted := exempt[scenario]
	if exempted && len(troubles) == 0 {
		return fmt.Errorf("it is listed as %q, but passes", e.why)
	}
	for _, c := range troubles {
		if !slices.ContainsFunc(e.says, func(part string) bool { return strings.Contains(c.Message, part) }) {
			return fmt.Errorf("%s %s: %s", c.Status, c.ID, c.Message)
		}
		if c.ID == "wire-schema-valid" {
			return fmt.Errorf("what went over the wire: %s", c.Message)
		}
	}
	if !passed && !exempted {
		return fmt.Errorf("nothing was checked: %v", checks)
	}
	return nil
}

// conformance runs the suite and returns the checks of each scenario. The error with
// which the suite exits after a failed check is ignored.
func conformance(t *testing.T, packages, address string, args []string) map[string][]check {
	t.Helper()
	dir, out := scriptFolder(t), t.TempDir()
	program := filepath.Join(packages, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{
		"--import", filepath.Join(dir, "suite.mjs"), program, "server", "--url", address, "--suite", "all",
		"--output-dir", out,
	}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	proctest.Bind(cmd)
	output, _ := cmd.CombinedOutput()
	paths, err := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d scenarios were run: %v\n%s", len(paths), err, output)
	}
	named := regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT`)
	checks := map[string][]check{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := named.FindStringSubmatch(filepath.Base(filepath.Dir(path)))
		var c []check
		if err := json.Unmarshal(raw, &c); err != nil || parts == nil {
			t.Fatalf("%s: %v", path, err)
		}
		checks[parts[1]] = c
	}
	return checks
}

// withToken starts a proxy that adds the agent token, which the suite cannot send, and returns its address.
// The proxy does not change the requests otherwise, and keeps the header Host.
func withToken(t *testing.T, p *clienttest.Instance) string {
	t.Helper()
	server, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			// If a response begins before the request body was read, this proxy
			// sometimes truncates responses to Node.
			body, _ := io.ReadAll(r.In.Body)
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.SetURL(server)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+p.AgentToken)
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // the suite does not close streams, which is logged
	})
	t.Cleanup(proxy.Close)
	return proxy.URL + "/mcp"
}

// checkScenario returns an error for an exempt scenario that passes, a failure for a
// reason that is not listed, and a scenario without checks.
func TestUnexpectedScenarioResultIsAnError(t *testing.T) {
	good, schema := check{"one", "SUCCESS", ""}, check{"wire-schema-valid", "SUCCESS", ""}
	for name, test := range map[string]struct {
		scenario string
		checks   []check
		fine     bool
	}{
		"passes":         {"ping", []check{good, schema}, true},
		"fails":          {"ping", []check{good, {"two", "FAILURE", "no"}}, false},
		"warns":          {"ping", []check{good, {"two", "WARNING", "no"}}, false},
		"checks nothing": {"ping", []check{schema}, false},
		"exempt": {
			"tools-call-image", []check{schema, {"two", "FAILURE", `unknown tool "test_image_content"`}}, true,
		},
		"exempt, but passes":       {"tools-call-image", []check{good, schema}, false},
		"exempt for another cause": {"tools-call-image", []check{{"two", "FAILURE", "the server crashed"}}, false},
		"bad on the wire": {"tools-call-image", []check{
			{"two", "FAILURE", `unknown tool "test_image_content"`},
			{"wire-schema-valid", "FAILURE", "test_image_content: no jsonrpc"},
		}, false},
		"unknown": {"a-new-one", []check{{"two", "FAILURE", "no"}}, false},
	} {
		if err := checkScenario(test.scenario, test.checks); (err == nil) != test.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
