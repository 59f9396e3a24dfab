package driver

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/pull"
)

// Dispatch is the command that starts a workflow for a pull request.
func Dispatch(workflow string, ref pull.Ref, number int) string {
	return DispatchOn(workflow, ref, fmt.Sprintf("pull-request=%d", number))
}

// DraftName is what names a pull request's draft in the form of the deciding workflow.
func DraftName(number int, code string) string { return fmt.Sprintf("%d-%s", number, code) }

// DispatchOn is the command that starts a workflow with a field, such as ticket=PAY-88.
func DispatchOn(workflow string, ref pull.Ref, field string) string {
	return fmt.Sprintf("gh workflow run %s --repo %s -f %s", path.Base(workflow), ref.FullName(), field)
}

// Approval is the command that approves the deployment for which a run waits, by its
// environment's id; it is empty where one of the two is not known.
func Approval(ref pull.Ref, run, environment int64) string {
	if run == 0 || environment == 0 {
		return ""
	}
	return fmt.Sprintf("gh api -X POST repos/%s/actions/runs/%d/pending_deployments -F 'environment_ids[]=%d' "+
		"-f state=approved -f comment=", ref.FullName(), run, environment)
}

// Quoted makes one word of s for a shell, where it is none as it stands.
func Quoted(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.:#@~_-", r)
	}) < 0
	if plain && s != "" && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
