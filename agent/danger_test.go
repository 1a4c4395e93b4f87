package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/agent"
)

func TestDangerousNamesAreFound(t *testing.T) {
	for name, want := range map[string]bool{
		"delete": true, "delete_file": true, "deleteFile": true, "file-delete": true, "db.dropTable": true,
		"DROP_TABLE": true, "HTTPDelete": true, "deleteURL": true, "rm": true, "git_force_push": true,
		"forcePush": true,
		"pay":       true, "pay_invoice": true, "refundOrder": true, "transfer-funds": true, "create_payment": true,
		"uninstall2": true, "2delete": true, "get_and_delete": true, "close_account": true, "purge": true,
		"list_refund": false, "getPayment": false, "search": false, "write_file": false, "undelete": false,
		"deleted_items": false, "list_deleted": false, "form": false, "alarm": false, "push": false, "force": false,
		"payload": false, "dropdown": false, "display": false, "skill": false, "wireframe": false, "": false,
		"→": false,
	} {
		if got := agent.DangerousName(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// docs/hosted.md lists each word, and no other.
func TestDangerousWordsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/hosted.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "<!-- dangerous names -->")
	list, _, _ = strings.Cut(list, "<!-- end -->")
	if !found {
		t.Fatal("docs/hosted.md has no list of dangerous names")
	}
	var words []string
	for i, part := range strings.Split(list, "`") {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	if len(words) < 40 {
		t.Errorf("got only %d words", len(words))
	}
	for _, word := range words {
		if !agent.DangerousName(strings.ReplaceAll(word, " ", "_")) {
			t.Errorf("%s is documented, and is not dangerous", word)
		}
	}
	for _, word := range agent.DangerousWords() {
		if !strings.Contains(list, "`"+word+"`") {
			t.Errorf("%s is dangerous, and not documented", word)
		}
	}
}

// A tool is dangerous if it says so, if its name says so and it does not contradict, or if a pattern says so.
// The pattern also requires approval.
func TestPatternMarksToolAsDangerous(t *testing.T) {
	d := agent.Definition{Dangerous: []string{"mail.send*"}, Allow: []string{"mail.*"}}
	tool := func(name string, destructive bool) agent.ToolInfo {
		return agent.ToolInfo{Tool: agent.Tool{Name: name}, Destructive: destructive}
	}
	if !d.IsDangerous("mail", tool("send", false)) || d.IsDangerous("mail", tool("search", false)) ||
		d.IsDangerous("fax", tool("send", false)) || !d.IsDangerous("fax", tool("burn", true)) {
		t.Error("the wrong tools are dangerous")
	}
	if !d.Confirms("mail", "send", true) || d.Confirms("mail", "search", false) {
		t.Error("a dangerous tool needs approval, also if allow matches or the tool only reads")
	}
}
