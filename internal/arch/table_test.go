package arch_test

const module = "github.com/askback/askback"

// layers says what each package may import from this module.
//
// "." is the root package. "internal/*" stands for every internal package and
// "*" for all. A row that ends in "/..." covers the folder and what is below
// it; it is meant for whole programs, not for packages that others import.
var layers = map[string][]string{
	// The words and the pure machines.
	".":         {},
	"lifecycle": {"."},
	"access":    {"."},

	// What is kept, and where.
	"store":           {},
	"store/memstore":  {"store"},
	"store/sqlite":    {"store"},
	"store/storetest": {"store"},

	// The one place where time, storage and effects meet. It makes digests and
	// ids, so it may also see jcs and ids; docs/design.md says why.
	"engine":      {".", "lifecycle", "access", "store", "engine/auth", "internal/jcs", "internal/ids"},
	"engine/auth": {".", "store", "internal/ids"},

	// Doors let people and agents in.
	"httpapi":   {".", "internal/*"},
	"mcpserver": {".", "asktool", "internal/*"},
	"terminal":  {".", "internal/*"},
	"web":       {".", "internal/*", "web/pages"},
	// Templates never see a root type: that keeps plain agent text off the page.
	"web/pages": {"internal/view"},

	"askbacktest":      {".", "engine", "store/memstore"},
	"test/conformance": {"."},
	// The ask tools as a model meets them, for every program that hosts one.
	"asktool": {".", "internal/jcs", "internal/decode"},

	"internal/arch":            {},
	"internal/browsertest":     {},
	"internal/golden":          {},
	"internal/gctune":          {},
	"internal/jcs":             {"."},
	"internal/config":          {".", "internal/loopback"},
	"internal/decode":          {".", "internal/jcs", "internal/safetext"},
	"internal/compat":          {".", "internal/jcs", "internal/decode"},
	"internal/claudehook":      {".", "asktool", "internal/jcs", "internal/decode", "internal/compat"},
	"internal/ids":             {},
	"internal/leftout":         {},
	"internal/connection":      {".", "engine", "engine/auth", "httpapi", "store/sqlite", "internal/*"},
	"internal/instance":        {"internal/pause"},
	"internal/loopback":        {},
	"internal/login/logintest": {},
	"internal/login":           {"internal/jcs", "internal/loopback"},
	"internal/openapi":         {"."},
	"internal/markdown":        {"internal/safetext"},
	"internal/pause":           {},
	"internal/safetext":        {},
	"internal/serverlog":       {"."},
	"internal/agentconfig":     {},
	"internal/view":            {".", "internal/safetext", "internal/markdown"},

	// Whole programs wire everything together.
	"cmd/askback":      {"*"},
	"test/interop/...": {"*"},
	"test/bench/...":   {"*"},
	"test/faults/...":  {"*"},
	"scripts/...":      {},
}

// doors never import each other, in tests neither. A suite that a door is held
// to (askbacktest, storetest) is no door.
var doors = []string{"httpapi", "mcpserver", "terminal", "web"}

// pure packages compute and nothing else. Each may name one helper library.
var pure = map[string]string{
	".":                 "github.com/rivo/uniseg",
	"lifecycle":         "",
	"access":            "",
	"internal/jcs":      "",
	"internal/decode":   "",
	"internal/compat":   "",
	"internal/safetext": "github.com/rivo/uniseg",
	"internal/markdown": "",
	"internal/view":     "",
}

// pureImports is the standard library of pure packages.
var pureImports = []string{
	"bytes", "cmp", "context", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt",
	"io", "iter", "maps", "math", "net/url", "path", "slices", "strconv", "strings", "time",
	"unicode", "unicode/utf16", "unicode/utf8",
}

// impure names what pure packages must not use of those imports: the clock and
// the terminal. A name that ends in "*" stands for all that begin so.
var impure = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "New*", "Sleep", "LoadLocation"},
	"context": {"WithTimeout*", "WithDeadline*", "AfterFunc"},
	"fmt":     {"Print*", "Scan*"},
}

// mapless packages have no map of any type: the order of a map is chance, and
// the same events must always give the same end.
var mapless = []string{"lifecycle"}

// owner says which packages may import a library, and why when it is not one.
type owner struct {
	packages []string
	why      string
}

// owners has one row for each library, by import path or a prefix of it.
var owners = map[string]owner{
	"github.com/rivo/uniseg": {
		[]string{".", "internal/safetext"},
		"limits and columns are both counted in grapheme clusters, and safetext sees no root type",
	},

	"modernc.org/sqlite": {
		[]string{"store/sqlite", "test/bench"},
		"the bench measures the bare driver beside us",
	},
	"github.com/pressly/goose/v3": {packages: []string{"store/sqlite"}},

	"github.com/alecthomas/kong": {packages: []string{"cmd/askback"}},

	"golang.org/x/term":               {packages: []string{"terminal"}},
	"github.com/a-h/templ":            {[]string{"web", "web/pages"}, "pages are made in one and written in the other"},
	"github.com/coreos/go-oidc/v3":    {packages: []string{"internal/login"}},
	"golang.org/x/oauth2":             {packages: []string{"internal/login"}},
	"golang.org/x/time":               {packages: []string{"internal/login"}},
	"github.com/google/jsonschema-go": {packages: []string{"internal/openapi"}},

	"github.com/modelcontextprotocol/go-sdk": {packages: []string{"mcpserver"}},
	"github.com/goccy/go-yaml":               {packages: []string{"internal/config"}},

	// As another reader to compare with: jcs itself is pure.
	"github.com/go-json-experiment/json": {
		[]string{"internal/jcs", "test/faults"},
		"proofs compare meanings with a reader that is not ours",
	},
}

// testLibraries are free in test files and in the suites.
var testLibraries = []string{
	"pgregory.net/rapid",
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	"github.com/rogpeppe/go-internal",
	"github.com/creack/pty",
	"github.com/hinshun/vt10x",
	"github.com/chromedp/chromedp",
	"github.com/chromedp/cdproto",
	"github.com/getkin/kin-openapi",
}

// suites are packages of tests that other packages run.
var suites = []string{"store/storetest", "askbacktest", "test/conformance", "internal/golden", "internal/browsertest"}

// emptyNames say nothing about what a package is for.
var emptyNames = []string{
	"base", "common", "core", "helper", "helpers", "impl", "manager", "managers", "misc", "model",
	"models", "shared", "type", "types", "util", "utils",
}

// emptyFiles are the same for files, which carry the name of the noun inside.
var emptyFiles = []string{"common.go", "helpers.go", "interfaces.go", "misc.go", "types.go", "util.go", "utils.go"}

// maxLines keeps a file readable in one sitting. Tests count too.
const maxLines = 600

// wordingPending are folders whose wording is not plain yet, with what is below
// them.
var wordingPending = []string{
	"asktool", "cmd/askback", "docs", "httpapi", "internal/claudehook",
	"internal/compat", "internal/decode", "internal/login", "internal/markdown", "internal/openapi",
	"internal/view", "mcpserver", "web",
}
