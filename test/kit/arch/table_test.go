package arch_test

const module = "github.com/askback/askback"

// layers lists the packages of this module that each package may import.
//
// "." is the root package, "internal/*" means every package below internal and "*"
// all packages. A row that ends in "/..." applies to the folder and everything
// below it that has no row of its own: programs that are not imported, and agents.
var layers = map[string][]string{
	// The domain types and the pure state machines.
	".":                  {"internal/limits", "internal/wire/codec", "internal/text/lookalike"},
	"internal/lifecycle": {".", "internal/limits", "internal/wire/codec"},
	"internal/access":    {"."},
	"internal/limits":    {},
	"reports":            {"."},
	// The machine of hosted runs.
	"conversation": {"."},

	// Models of hosted runs.
	"agent": {
		".", "asktool", "conversation", "internal/wire/decode", "internal/directory", "internal/wire/jcs",
		"internal/hosted/schedule", "internal/text/spelling",
	},
	"agent/host":                          {".", "agent", "engine", "store/memstore", "store/sqlite"},
	"agent/scripted":                      {"agent", "conversation"},
	"agent/anthropic":                     {"agent", "conversation", "internal/hosted/modelhttp"},
	"agent/anthropic/anthropictest":       {"internal/hosted/modelhttp/modeltest"},
	"agent/openai":                        {"agent", "conversation", "internal/hosted/modelhttp"},
	"agent/openai/openaitest":             {"internal/hosted/modelhttp/modeltest"},
	"agent/mcptools":                      {"agent", "conversation"},
	"internal/command/completion":         {".", "internal/text/safetext", "internal/text/view"},
	"internal/hosted/demo":                {"agent", "conversation", "internal/pause"},
	"internal/hosted/modelhttp":           {"agent", "internal/egress"},
	"internal/hosted/modelhttp/modeltest": {"agent", "conversation"},

	// Storage.
	"store":           {},
	"store/memstore":  {"store"},
	"store/sqlite":    {"store"},
	"store/storetest": {"store"},

	// The engine combines time, storage and effects. It computes digests and ids itself;
	// docs/design/packages.md has the reason.
	"engine": {
		".", "reports", "internal/limits", "internal/lifecycle", "internal/access", "store", "engine/auth",
		"engine/internal/*", "internal/ids", "internal/wire/revision",
	},
	"engine/auth": {".", "internal/limits", "store", "internal/ids"},
	// The parts of the engine import the core of transactions, and do not import each other.
	"engine/internal/txn": {
		".", "internal/limits", "internal/lifecycle", "internal/access", "store", "internal/ids", "internal/wire/jcs",
		"internal/wire/revision",
	},
	"engine/internal/people": {
		".", "internal/limits", "engine/internal/txn", "engine/auth", "internal/lifecycle", "internal/access", "store",
		"internal/directory", "internal/ids", "internal/text/lookalike",
	},
	"engine/internal/send": {
		".", "internal/limits", "engine/internal/txn", "internal/lifecycle", "internal/access", "store", "internal/ids",
	},
	"engine/internal/runs": {
		".", "internal/limits", "engine/internal/txn", "conversation", "internal/lifecycle", "internal/access",
		"store", "internal/directory", "internal/ids",
	},
	"engine/internal/feed": {
		".", "reports", "internal/text/resumecontext", "internal/limits", "engine/internal/txn", "engine/auth",
		"conversation", "internal/lifecycle", "internal/access", "store", "internal/ids", "internal/text/search",
		"internal/wire/codec",
	},

	// Frontends for people and agents.
	"httpapi":   {".", "internal/*"},
	"mcpserver": {".", "asktool", "internal/*"},
	"terminal":  {".", "internal/*"},
	"web":       {".", "reports", "internal/*", "internal/pages"},
	// Templates use no root types, which keeps unsanitized agent text off the
	// pages.
	"internal/pages": {"internal/text/view"},

	// Channels carry asks to programs and people.
	"channel/telegram": {
		".", "internal/channels", "internal/egress", "internal/ids", "internal/mac", "internal/message/notice",
		"internal/pause", "internal/settings", "internal/text/safetext", "internal/text/view",
	},
	"channel/telegram/telegramtest": {},

	"channel/email": {
		".", "internal/channels", "internal/egress", "internal/mac", "internal/message/notice", "internal/pause",
		"internal/settings", "internal/text/view",
	},
	"channel/email/emailtest": {},
	"channel/post": {
		".", "internal/message/answerlink", "internal/channels", "internal/directory", "internal/egress",
		"internal/message/notice", "internal/pause", "internal/settings",
	},
	"channel/post/posttest": {
		".", "channel/channeltest", "channel/post", "engine", "internal/message/answerlink", "internal/egress",
	},
	"channel/channeltest": {".", "internal/limits", "engine", "store/memstore", "internal/text/safetext"},
	"channel/slack": {
		".", "internal/channels", "internal/egress", "internal/mac", "internal/message/notice", "internal/pause",
		"internal/settings", "internal/text/safetext", "internal/text/view",
	},
	"channel/slack/slacktest": {},
	"channel/webpush": {
		".", "internal/channels", "internal/egress", "internal/message/notice", "internal/pause", "internal/settings",
	},
	"channel/webpush/webpushtest": {".", "channel/channeltest", "channel/webpush", "engine", "internal/egress"},
	"channel/webhook": {
		".", "internal/channels", "internal/egress", "internal/message/notice", "internal/settings",
		"internal/text/safetext", "internal/text/view", "internal/wire/compat",
	},

	"internal/channels": {
		".", "internal/directory", "internal/message/answerlink", "internal/egress", "internal/settings",
	},
	"internal/channels/kinds": {"channel/*", "internal/channels"},

	"askbacktest":      {".", "engine", "store", "store/memstore"},
	"test/conformance": {".", "internal/text/resumecontext", "internal/limits"},
	// The ask tools for models, used by every program that serves them.
	"asktool": {
		".", "internal/text/outcometext", "internal/wire/jcs", "internal/wire/codec", "internal/wire/decode",
	},

	"test/kit/arch":        {},
	"test/kit/browsertest": {},
	"test/kit/freeport":    {},
	"test/kit/proctest":    {},
	"internal/command/doctor": {
		".", "agent/mcptools", "engine", "engine/auth", "internal/agents", "internal/agents/claudecode",
		"internal/agents/config", "internal/agents/hook", "internal/agents/opencode", "internal/egress",
		"internal/local/connection", "internal/local/instance", "internal/server/config", "internal/server/hosting",
		"internal/server/login", "internal/settings", "internal/text/safetext", "internal/text/view", "store",
		"store/sqlite",
	},
	"internal/egress": {"."},
	"test/kit/fakes": {
		"askbacktest", "channel/channeltest", "channel/email/emailtest", "channel/post/posttest",
		"channel/slack/slacktest", "channel/telegram/telegramtest", "channel/webpush/webpushtest", "internal/egress",
		"internal/pause",
	},
	"test/kit/filltest":      {},
	"test/kit/golden":        {},
	"internal/server/gctune": {},
	"internal/wire/jcs":      {"."},
	"internal/wire/codec":    {},
	"internal/wire/codecgen": {"internal/wire/codec"},
	"internal/server/config": {
		".", "internal/limits", "agent/anthropic", "channel/webhook", "internal/channels", "internal/channels/kinds",
		"internal/directory", "internal/egress", "internal/hosted/modelhttp", "internal/hosted/schedule",
		"internal/settings",
	},
	"internal/settings":  {".", "internal/text/spelling"},
	"internal/directory": {".", "internal/limits", "internal/text/lookalike"},
	"internal/wire/decode": {
		".", "internal/limits", "internal/wire/jcs", "internal/text/safetext", "internal/text/lookalike",
		"internal/text/spelling",
	},
	"internal/wire/compat": {
		".", "internal/text/outcometext", "internal/text/resumecontext", "internal/limits", "internal/wire/jcs",
		"internal/wire/decode",
	},
	"internal/command/githubaction": {".", "internal/limits", "asktool", "internal/text/safetext"},
	"internal/ids":                  {},
	"test/kit/leftout":              {},
	"internal/local/connection":     {".", "engine", "engine/auth", "httpapi", "store/sqlite", "internal/*"},
	"internal/local/instance":       {"internal/pause"},
	"internal/local/service":        {},
	"internal/local/waiting":        {"internal/local/instance"},
	"internal/server/hosting": {
		"agent", "agent/anthropic", "agent/mcptools", "agent/openai", "agent/scripted", "channel/webhook", "engine",
		"httpapi", "internal/hosted/demo", "internal/server/config",
	},
	"internal/server/login/logintest": {},
	"internal/server/login":           {".", "internal/wire/jcs", "internal/egress", "internal/mac"},
	"internal/message/notice":         {".", "internal/text/safetext", "internal/text/view"},
	"internal/wire/openapi":           {"."},
	"test/kit/racedetector":           {},
	"internal/text/lookalike":         {},
	"internal/text/markdown":          {"internal/text/safetext", "internal/text/lookalike"},
	"internal/mac":                    {},
	"internal/pause":                  {},
	"internal/text/qrcode":            {},
	"internal/text/qrcode/qrtest":     {},
	"internal/wire/revision":          {"."},
	"internal/text/safetext":          {"internal/text/lookalike"},
	"internal/hosted/schedule":        {},
	"internal/text/linediff":          {},
	"internal/text/resumecontext":     {},
	"internal/text/search":            {},
	"internal/message/answerlink":     {".", "internal/mac"},
	"internal/server/serverlog":       {".", "internal/access", "internal/message/answerlink"},
	"internal/server/telemetry":       {".", "engine", "internal/pause"},
	"internal/text/spelling":          {},
	"internal/text/view": {
		".", "reports", "internal/text/resumecontext", "internal/limits", "internal/text/lookalike",
		"internal/text/safetext", "internal/text/markdown", "internal/text/search", "internal/text/spelling",
		"internal/text/linediff", "internal/text/plan",
	},
	"internal/text/plan":        {},
	"internal/text/outcometext": {".", "internal/text/plan", "internal/wire/codec", "internal/wire/jcs"},

	// Coding agents. One row applies to the folders of all agents, so that no agent imports another.
	"internal/agents": {"internal/agents/*", "internal/wire/compat"},
	"internal/agents/...": {
		".", "internal/limits", "asktool", "internal/agents/config", "internal/agents/dialog",
		"internal/agents/dialog/jsonrpc2", "internal/agents/hook", "internal/pause", "internal/wire/compat",
		"internal/wire/decode", "internal/wire/jcs", "internal/text/outcometext", "internal/text/plan",
	},
	"internal/agents/codex/appserver": {
		".", "asktool", "internal/agents/codex", "internal/agents/dialog", "internal/agents/dialog/jsonrpc2",
		"internal/agents/hook", "internal/pause", "internal/wire/jcs",
	},
	"internal/agents/config":          {"internal/wire/jcs", "internal/text/linediff"},
	"internal/agents/dialog":          {".", "internal/agents/hook", "internal/pause"},
	"internal/agents/dialog/jsonrpc2": {"internal/wire/jcs"},
	"internal/agents/setup": {
		"internal/agents", "internal/agents/*", "internal/local/instance", "internal/text/spelling",
	},
	"internal/agents/hook": {
		".", "internal/limits", "asktool", "internal/wire/jcs", "internal/pause", "internal/text/outcometext",
		"internal/text/plan",
	},
	"internal/agents/hook/hooktest": {
		".", "engine", "internal/agents/hook", "internal/wire/decode", "store/memstore", "test/kit/golden",
	},

	"internal/command/githubaction/actiontest": {},
	"internal/wire/openapi/openapitest":        {"internal/wire/openapi"},

	// Programs.
	"cmd/askback":      {"*"},
	"examples/...":     {".", "agent", "agent/host", "conversation", "terminal"},
	"test/interop/...": {"*"},
	"test/bench/...":   {"*"},
	"test/faults/...":  {"*"},
	"test/fakes":       {"test/kit/fakes"},
	"test/providers": {
		"agent", "agent/anthropic", "agent/anthropic/anthropictest", "agent/openai", "agent/openai/openaitest",
		"engine", "internal/hosted/modelhttp/modeltest", "store/memstore",
	},
	"test/matrix": {"*"},
	// A module of its own, which completes and tests releases.
	"release/...": {"release/*"},

	"test/newcomer": {"test/kit/freeport", "internal/pause"},
	"test/program":  {},
	"test/screens":  {"*"},
	"scripts/...":   {},
}

// frontends do not import each other, even in tests. A suite that tests a
// frontend (test/conformance, storetest) is not a frontend.
var frontends = []string{"httpapi", "mcpserver", "terminal", "web"}

// pure packages only compute. Each may import one helper library.
var pure = map[string]string{
	".":                               "github.com/rivo/uniseg",
	"internal/lifecycle":              "",
	"conversation":                    "",
	"internal/access":                 "",
	"internal/limits":                 "",
	"reports":                         "",
	"internal/wire/codec":             "",
	"internal/wire/jcs":               "",
	"internal/agents/dialog/jsonrpc2": "",
	"internal/wire/decode":            "",
	"internal/wire/compat":            "",
	"internal/text/safetext":          "github.com/rivo/uniseg",
	"internal/text/lookalike":         "golang.org/x/text/unicode/norm",
	"internal/text/markdown":          "",
	"internal/text/outcometext":       "",
	"internal/text/plan":              "",
	"internal/hosted/schedule":        "github.com/robfig/cron/v3",
	"internal/text/linediff":          "",
	"internal/text/spelling":          "",
	"internal/text/resumecontext":     "",
	"internal/text/search":            "",
	"internal/message/notice":         "",
	"internal/text/view":              "",
}

// pureImports are the standard packages that pure packages may import.
var pureImports = []string{
	"bytes", "cmp", "context", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt",
	"io", "iter", "maps", "math", "math/big", "math/bits", "net/url", "path", "regexp", "slices", "strconv", "strings",
	"time", "unicode", "unicode/utf16", "unicode/utf8",
}

// pooled are pure packages that may import sync, for a pool of memory. No result depends on the pool.
var pooled = []string{"internal/wire/codec"}

// impure lists the names of standard packages that pure packages must not use. A trailing "*" matches any
// suffix.
var impure = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "New*", "Sleep", "LoadLocation"},
	"context": {"WithTimeout*", "WithDeadline*", "AfterFunc"},
	"fmt":     {"Print*", "Scan*"},
}

// withoutMaps are packages without maps, whose iteration order is random: the
// same inputs must give the same result.
var withoutMaps = []string{"internal/lifecycle", "conversation"}

// An owner lists the packages that may import a library, and the reason if
// there are several.
type owner struct {
	packages []string
	why      string
}

// owners has a row for each library, by import path or its prefix.
var owners = map[string]owner{
	"github.com/rivo/uniseg": {
		[]string{".", "internal/text/safetext"},
		"both count grapheme clusters, and safetext does not import the root",
	},

	"golang.org/x/text": {packages: []string{"internal/text/lookalike"}},

	"modernc.org/sqlite": {
		[]string{"store/sqlite", "test/bench"},
		"the benchmarks compare the plain driver",
	},
	"zombiezen.com/go/sqlite": {
		[]string{"store/sqlite", "test/bench"},
		"a reference runs the statements of the store with its driver",
	},
	"github.com/pressly/goose/v3": {packages: []string{"store/sqlite"}},

	"github.com/cloudwego/eino":         {packages: []string{"test/bench/peers/eino"}},
	"github.com/nats-io/nats-server/v2": {packages: []string{"test/bench/peers/nats"}},
	"github.com/nats-io/nats.go":        {packages: []string{"test/bench/peers/nats"}},

	"github.com/alecthomas/kong": {
		[]string{"cmd/askback", "internal/command/completion"},
		"one describes the command line, the other completes lines by the description",
	},

	"github.com/anthropics/anthropic-sdk-go": {packages: []string{"agent/anthropic"}},
	"github.com/sashabaranov/go-openai":      {packages: []string{"agent/openai"}},

	"github.com/pelletier/go-toml/v2": {packages: []string{"internal/agents/codex"}},

	"github.com/robfig/cron/v3": {packages: []string{"internal/hosted/schedule"}},

	"github.com/boombuler/barcode": {packages: []string{"internal/text/qrcode"}},

	"charm.land/bubbletea/v2": {packages: []string{"terminal"}},
	"golang.org/x/sys": {
		packages: []string{"internal/local/instance", "terminal"},
		why:      "one locks files on Windows, the other reads keys",
	},
	"golang.org/x/term": {packages: []string{"terminal"}},
	"github.com/a-h/templ": {
		[]string{"web", "internal/pages"}, "one defines the pages, the other renders them",
	},
	"github.com/coreos/go-oidc/v3": {packages: []string{"internal/server/login"}},
	"golang.org/x/oauth2":          {packages: []string{"internal/server/login"}},
	"golang.org/x/time":            {packages: []string{"internal/server/login"}},
	"github.com/google/jsonschema-go": {
		[]string{"internal/wire/openapi/openapitest", "agent"},
		"one validates what the server sends, the other makes schemas of the inputs of Go functions",
	},

	"github.com/modelcontextprotocol/go-sdk": {
		[]string{"mcpserver", "agent/mcptools", "examples/files-server"},
		"one serves the ask tools, one calls the tools of other servers, the last is an example of a server",
	},
	"github.com/goccy/go-yaml": {
		[]string{"internal/server/config", "agent/scripted", "internal/command/githubaction/actiontest"},
		"one reads settings, one scripts of models, and the last runs action.yml",
	},

	"github.com/standard-webhooks/standard-webhooks/libraries": {
		[]string{"channel/webhook", "test/interop/webhooks"}, "a test compares it with the library for JavaScript",
	},
	"github.com/wneessen/go-mail": {packages: []string{"channel/email"}},
	"github.com/emersion/go-message": {
		[]string{"channel/email", "channel/email/emailtest"}, "one reads replies, the other reads what was sent",
	},
	"github.com/emersion/go-msgauth": {packages: []string{"channel/email"}},
	"github.com/emersion/go-smtp":    {packages: []string{"channel/email/emailtest"}},
	"github.com/emersion/go-imap/v2": {
		[]string{"channel/email", "channel/email/emailtest"}, "one reads a mailbox, the other serves one to tests",
	},
	"github.com/emersion/go-sasl": {
		[]string{"channel/email", "channel/email/emailtest"}, "one logs in to a mailbox, the other serves one to tests",
	},
	"golang.org/x/net": {
		[]string{"channel/email", "internal/server/telemetry"}, "one reads HTML, the other checks names of headers",
	},
	"code.dny.dev/ssrf":         {packages: []string{"internal/egress"}},
	"github.com/slack-go/slack": {packages: []string{"channel/slack"}},
	"github.com/gorilla/websocket": {
		[]string{"channel/slack/slacktest", "internal/agents/codex/appserver"},
		"one is a fake of Slack, the other a client of Codex's app-server",
	},
	"github.com/prometheus/client_golang": {packages: []string{"internal/server/telemetry"}},
	"go.opentelemetry.io/otel":            {packages: []string{"internal/server/telemetry"}},
	"go.opentelemetry.io/proto/otlp": {
		[]string{"internal/server/telemetry", "cmd/askback"}, "a test of the program reads the traces that it sends",
	},
	"google.golang.org/protobuf": {
		[]string{"internal/server/telemetry", "cmd/askback"}, "one sends traces, tests of both decode them",
	},

	"github.com/go-json-experiment/json": {
		[]string{"internal/wire/codec", "internal/wire/jcs", "test/faults"},
		"tests of codec and jcs compare their results with it; the fault tests compare values with it",
	},
}

// testLibraries may be imported by test files and suites.
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

// suites are packages with code for tests.
var suites = []string{
	"test/kit/fakes", "channel/webpush/webpushtest", "channel/telegram/telegramtest", "store/storetest", "askbacktest",
	"test/conformance", "test/kit/filltest", "test/kit/golden", "test/kit/browsertest", "test/kit/freeport",
	"test/kit/proctest", "test/program", "test/screens", "channel/post/posttest", "channel/channeltest",
	"channel/email/emailtest", "channel/slack/slacktest", "internal/hosted/modelhttp/modeltest",
	"agent/anthropic/anthropictest", "agent/openai/openaitest",
}

// vagueNames are package names without a meaning.
var vagueNames = []string{
	"base", "common", "core", "helper", "helpers", "impl", "manager", "managers", "misc", "model",
	"models", "shared", "type", "types", "util", "utils",
}

// vagueFileNames are file names without a meaning.
var vagueFileNames = []string{"common.go", "helpers.go", "interfaces.go", "misc.go", "types.go", "util.go", "utils.go"}

// The maximum numbers of lines of a file, of a file of tests and of a function.
const (
	maxLines         = 450
	maxTestLines     = 600
	maxFunctionLines = 60
)

// maxFiles is the maximum number of Go files of a package without its tests. The program contains only flags,
// wiring and exit codes: each command beyond that is a package of its own.
var maxFiles = map[string]int{"cmd/askback": 56}

// maxRootNames is the maximum number of exported names of the root package. The package exports only names that
// users of the library need.
const maxRootNames = 250

// maxFolders is the maximum number of folders in a folder, so that a reader can read their names.
var maxFolders = map[string]int{"internal": 20}

// signers are the folders that may use crypto/hmac.New, and why. All other folders use internal/mac, so that
// no signature is valid for another purpose.
var signers = map[string]string{
	"internal/mac":                    "it is the one form",
	"channel/slack":                   "the form is Slack's",
	"channel/slack/slacktest":         "the form is Slack's",
	"askbacktest":                     "webhooks have this form",
	"engine":                          "secrets in databases are found by their fingerprints",
	"internal/local/connection":       "keys of earlier releases are derived so",
	"internal/local/instance":         "an old command checks the proof of a new server",
	"internal/server/login/logintest": "JSON web tokens have this form",
}
