package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/choose"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
)

// ask asks the person at the terminal. An empty verdict means later, as do the
// end of the input and an interrupt.
func (a *app) ask(ctx context.Context, r report) (decision.Verdict, string) {
	ids := gate.IDs(r.Findings)
	var commands []string
	for {
		fmt.Fprint(a.Stderr, "Post this review? [y]es, [n]o, [l]ater, [e]dit, [?] ")
		line, ok := a.line(ctx)
		if !ok {
			fmt.Fprintln(a.Stderr)
			return "", ""
		}
		switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
		case "y", "yes":
			return decision.Approve, strings.Join(commands, "\n")
		case "n", "no":
			return decision.Abort, ""
		case "", "l", "later":
			return "", ""
		case "e", "edit":
			choice, err := a.choose(ctx, r, commands)
			if err == nil && choice.Verdict != "" {
				return choice.Verdict, choice.Text
			}
			if err != nil {
				fmt.Fprintln(a.Stderr, guard.Text(err.Error()))
				continue
			}
			if commands = nil; choice.Text != "" {
				commands = strings.Split(choice.Text, "\n")
				fmt.Fprintf(a.Stderr, "With these changes, unless you choose later:\n  %s\n", guard.Text(strings.Join(commands, "\n  ")))
			}
		default:
			d, err := decision.Parse(answer)
			if err == nil {
				err = d.Check(ids)
			}
			switch {
			case err != nil:
				fmt.Fprintln(a.Stderr, guard.Text(err.Error()))
			case d.Verdict == decision.Revise && len(commands) == 0:
				return d.Verdict, answer
			case strings.HasPrefix(answer, "/"):
				commands = append(commands, answer)
			default:
				fmt.Fprintln(a.Stderr, "  yes posts it, no drops it for good, later keeps it parked, edit opens the list of findings. Or changes, one a line:")
				fmt.Fprintln(a.Stderr, "  /drop F2: reason    /edit F3: NEW TEXT    /summary F4    /severity F6 minor")
			}
		}
	}
}

// choose lets the person go through the findings one by one.
func (a *app) choose(ctx context.Context, r report, commands []string) (choose.Choice, error) {
	return choose.Run(ctx, choose.Options{
		In: a.Stdin, Out: streamOf(a.Stderr), Review: r.state.Review(), Expires: r.packed.Manifest.ExpiresAt,
		CanRevise: !r.state.Draft.Rules && len(r.state.Rounds) < gate.MaxRounds, Rounds: gate.MaxRounds - len(r.state.Rounds),
		Color: a.getenv("NO_COLOR") == "", Preview: r.preview, Commands: strings.Join(commands, "\n"),
	})
}

// preview is the review as it would be posted after commands.
func (r report) preview(commands string) (string, error) {
	d, err := gate.Decide(commands, "", decision.Approve, gate.IDs(r.Findings), r.packed.Manifest.ExpiresAt)
	if err != nil {
		return "", err
	}
	s := r.state
	s.Comments = d.Apply(s.Comments)
	if s.Pull == nil {
		return localBody(s), nil
	}
	return render.File(s.Review()), nil
}

// line reads one line of standard input, and not a byte more: what follows is
// for the list of findings. Reading cannot be interrupted, so it has a goroutine
// of its own, which ends with the process.
func (a *app) line(ctx context.Context) (text string, ok bool) {
	read := make(chan string, 1)
	go func() {
		defer close(read)
		var line []byte
		one := make([]byte, 1)
		for len(line) < maxAnswer {
			n, err := a.Stdin.Read(one)
			if n == 1 && one[0] == '\n' || err != nil && len(line) > 0 {
				read <- string(line)
				return
			}
			if err != nil {
				return
			}
			line = append(line, one[:n]...)
		}
	}()
	select {
	case <-ctx.Done():
		return "", false
	case text, ok = <-read:
		return text, ok
	}
}

const maxAnswer = 64 << 10 // bytes
