package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/plan"
)

// describePlan sets the description of an approval of a plan. If the arguments have no plan, the context states
// that. It does nothing for other calls.
func describePlan(c *askback.Confirmation) {
	if !plan.IsTool(c.ToolName) {
		return
	}
	if text := plan.Text(c.ToolName, c.Input); text != "" {
		c.Description = plan.Heading(text)
		return
	}
	describeMissingPlan(c, "which was not read")
}

// describeMissingPlan states that the plan is not in the call, and where it is. The call is marked as
// dangerous, so that no single key approves a plan that was not shown.
func describeMissingPlan(c *askback.Confirmation, problem string) {
	c.Description, c.Dangerous = "Approve a plan that is not shown here?", true
	c.Context = "The plan is not in this request, which does not name its file either. Read it in the agent's own " +
		"dialog before you approve it."
	if path := plan.Path(c.Input); path != "" {
		c.Context = fmt.Sprintf("The plan is not in this request, but in the file %s, %s. Read it there, or in the "+
			"agent's own dialog, before you approve it.", path, problem)
	}
}

// ReadPlan adds the text of a plan that is only in a file to the approval of the plan, and states the file. It
// returns the text. If c is nil, is not about a plan, or has the plan in its arguments, ReadPlan returns "" and
// changes nothing. If the file cannot be read, the context of c states the reason. The file must be a Markdown
// file in one of the folders, because an agent could name any file.
func ReadPlan(c *askback.Confirmation, folders ...string) string {
	if c == nil || !plan.IsTool(c.ToolName) || plan.Text(c.ToolName, c.Input) != "" {
		return ""
	}
	path := plan.Path(c.Input)
	if path == "" {
		return ""
	}
	text, err := readPlanFile(path, folders)
	if err != nil {
		describeMissingPlan(c, "which could not be read: "+err.Error())
		return ""
	}
	c.Description, c.Dangerous = plan.Heading(text), false
	c.Context = "The plan is not in this request. It was read from the file " + path + ":\n\n" + text
	return text
}

// maxPlanFile is the maximum size of the file of a plan in bytes. The text is part of a context.
const maxPlanFile = limits.MaxContext - 1<<13

// readPlanFile reads a Markdown file that is in one of the folders. A path that begins with ~/ is in the first
// folder.
func readPlanFile(path string, folders []string) (string, error) {
	switch {
	case !strings.EqualFold(filepath.Ext(path), ".md"):
		return "", errors.New("it is not a Markdown file")
	case len(path) > limits.MaxQuestion:
		return "", errors.New("its name is too long")
	case strings.HasPrefix(path, "~/") && len(folders) > 0:
		path = filepath.Join(folders[0], path[2:])
	}
	for _, folder := range folders {
		inside := path
		if filepath.IsAbs(path) {
			inside, _ = filepath.Rel(folder, path) // "" after an error
		}
		if !filepath.IsAbs(folder) || !filepath.IsLocal(inside) {
			continue
		}
		text, err := readInside(folder, inside)
		if !errors.Is(err, os.ErrNotExist) {
			return text, err
		}
	}
	return "", errors.New("it is not in the folders of the agent")
}

// readInside reads a file in a folder. It follows no link that leads out of the folder.
func readInside(folder, path string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	}
	file, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxPlanFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxPlanFile:
		return "", fmt.Errorf("it is longer than %d bytes", maxPlanFile)
	case !utf8.Valid(text):
		return "", errors.New("it is not text")
	case strings.TrimSpace(string(text)) == "":
		return "", errors.New("it is empty")
	}
	return string(text), nil
}
