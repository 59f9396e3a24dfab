package app

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/secret"
)

// check runs the user's command on the change, in a folder that holds it and nothing else.
// It gets no credential of this process.
func (p *proposing) check(ctx context.Context, files []change.File) (*change.Check, error) {
	dir, err := os.MkdirTemp("", "pr-review-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.base.Export(ctx, dir, files); err != nil {
		return nil, fmt.Errorf("writing the change for --check: %w", err)
	}
	limited, stop := context.WithTimeout(ctx, checkTime)
	defer stop()
	passed, output, err := ingest.Shell(limited, dir, p.o.check, p.app.withoutCredentials(p.base.Config))
	if ctx.Err() == nil && limited.Err() != nil {
		passed, output, err = false, fmt.Sprintf("it did not end within %v", checkTime), nil
	}
	output = strings.ReplaceAll(secret.Redact(paint.ReplaceAllString(output, "")), dir, ".")
	return &change.Check{Command: secret.Redact(p.o.check), Passed: passed, Output: guard.Text(output)}, err
}

// paint is what colours a terminal.
var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkTime is how long a check may take.
const checkTime = 15 * time.Minute

var credentialName = regexp.MustCompile(
	`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|^PR_REVIEW_|^INPUT_|^ACTIONS_|_KEY$`)

// withoutCredentials is the environment for code that a model wrote.
func (a *app) withoutCredentials(c config.Config) (env []string) {
	named := c.Variables()
	for _, v := range a.Environ {
		name, _, _ := strings.Cut(v, "=")
		if !credentialName.MatchString(name) && !slices.Contains(named, name) {
			env = append(env, v)
		}
	}
	return env
}
