// Package ask asks a person at a terminal what to do with a draft: yes, no, later, changes
// line by line, or the list of findings that choose shows.
package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/choose"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
)

// Prompt asks at the terminal of a process.
type Prompt struct{ *driver.Front }

// Draft is the draft that a person is asked about.
type Draft struct {
	Question string                      // including the possible answers
	Answers  map[string]decision.Verdict // in addition to "later"; an empty verdict shows Help
	Help     string
	Items    []decision.Item // what commands can name
	Free     bool            // text that is not a command is feedback
	// returns why the draft cannot be drafted again, given the commands typed before
	Revise func(commands []string) error
	List   func(commands []string) (choose.Choice, error) // for "edit"; nil if there is no list
}

// Review asks about the draft of a review. It returns what Ask does.
func (p Prompt) Review(ctx context.Context, r driver.Report, before string) (decision.Verdict, string) {
	edit, aboutEdit := "", ""
	if p.canDrawList() {
		edit, aboutEdit = "[e]dit, ", "  edit opens the list of findings.\n"
	}
	return p.Ask(ctx, Draft{
		Question: "Post this review? [y]es, [n]o, [l]ater, " + edit + "[?] ",
		Help: "  yes posts it, no drops it for good, later keeps it parked and prints the\n" +
			"  command with your changes.\n" + aboutEdit + "  Or changes, one a line:\n" +
			"  /drop F2: reason    /edit F3: NEW TEXT    /summary F4    /severity F6 minor",
		Items: finding.Items(r.Findings, r.State.Earlier...),
		Answers: map[string]decision.Verdict{"y": decision.Approve, "yes": decision.Approve, "n": decision.Abort,
			"no": decision.Abort},
		Revise: func(commands []string) error { return checkRevisable(r, commands) },
		List:   func(commands []string) (choose.Choice, error) { return p.showList(ctx, r, commands) },
	}, before)
}

// Ask asks the person at the terminal and returns the verdict and the commands. An empty
// verdict means later, as do the end of the input and an interrupt; the commands are then
// the changes so far, beginning with before.
func (p Prompt) Ask(ctx context.Context, d Draft, before string) (decision.Verdict, string) {
	var commands []string
	if before != "" {
		commands = []string{before}
	}
	refused := false // the last command
	for {
		fmt.Fprint(p.Stderr, d.Question)
		line, ok := p.Line(ctx)
		if !ok {
			fmt.Fprintln(p.Stderr)
			return "", strings.Join(commands, "\n")
		}
		answer := strings.TrimSpace(line)
		lower := strings.ToLower(answer)
		verdict, known := d.Answers[lower]
		switch {
		case verdict == decision.Abort:
			return verdict, ""
		case verdict == decision.Approve && p.confirmAfterRefusal(&refused, answer):
			continue
		case verdict != "", slices.Contains([]string{"", "l", "later"}, lower):
			return verdict, strings.Join(commands, "\n")
		case d.List != nil && (lower == "e" || lower == "edit"):
			choice, err := d.List(commands)
			if err == nil {
				return choice.Verdict, choice.Text
			}
			fmt.Fprintln(p.Stderr, guard.Text(err.Error()))
			continue
		case known:
			fmt.Fprintln(p.Stderr, d.Help)
			continue
		case d.Free && !strings.HasPrefix(answer, "/"):
			answer = decision.ReviseCommand(answer)
		}
		verdict, err := d.check(commands, answer)
		switch {
		case err != nil:
			refused = true
			fmt.Fprintln(p.Stderr, guard.Text(driver.Explain(err)))
		case verdict == decision.Approve && p.confirmAfterRefusal(&refused, answer):
		case verdict == decision.Revise || verdict == decision.Abort:
			return verdict, answer
		case verdict == decision.Approve:
			return verdict, strings.Join(append(commands, answer), "\n")
		case strings.HasPrefix(answer, "/"):
			commands, refused = append(commands, answer), false
		default:
			fmt.Fprintln(p.Stderr, d.Help)
		}
	}
}

// confirmAfterRefusal reports whether an approval directly follows a refused command, and asks for it once more:
// pasted together they would post what the command was to change.
func (p Prompt) confirmAfterRefusal(refused *bool, answer string) bool {
	was := *refused
	if *refused = false; was {
		fmt.Fprintf(p.Stderr, "Not yet: the line before was not taken. %s again approves without it.\n", answer)
	}
	return was
}

// check checks a command together with those typed before it, so that a contradiction is
// refused before anything is lost. It returns the command's verdict.
func (d Draft) check(commands []string, answer string) (decision.Verdict, error) {
	said, err := decision.Parse(answer)
	switch {
	case err != nil || said.Verdict == decision.Abort:
		return said.Verdict, err
	case said.Verdict == decision.Revise:
		return said.Verdict, d.Revise(commands)
	}
	all := strings.Join(append(slices.Clone(commands), answer), "\n")
	_, err = gate.Decide(all, "", decision.Approve, d.Items, time.Time{})
	return said.Verdict, err
}

// checkRevisable returns an error if a review cannot be revised, or was changed before.
func checkRevisable(r driver.Report, commands []string) error {
	switch {
	case len(commands) > 0:
		return problem.Usage("/revise asks for another draft, and the changes typed before it are about this one",
			"y posts with them; l prints them as a command, and --revise TEXT of resume asks for another draft")
	case r.State.Draft.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised",
			"change single findings with commands such as /drop F2")
	}
	return gate.CheckRounds(len(r.State.Rounds))
}

// canDrawList reports whether the terminal can show the list: it must identify itself as more
// than a printer. Windows sets no TERM.
func (p Prompt) canDrawList() bool {
	kind := p.Getenv("TERM")
	return kind != "dumb" && (kind != "" || runtime.GOOS == "windows")
}

// showList shows the list of findings.
func (p Prompt) showList(ctx context.Context, r driver.Report, commands []string) (choose.Choice, error) {
	if !p.canDrawList() {
		return choose.Choice{}, errors.New("this terminal cannot show the list (TERM is dumb, or not set): type " +
			"changes such as /drop F2")
	}
	return choose.Run(ctx, choose.Options{
		In: p.Stdin, Out: p.Stderr, Review: r.State.Review(), Expires: r.Packed.Manifest.ExpiresAt,
		CanRevise: !r.State.Draft.Rules && len(r.State.Rounds) < gate.MaxRounds,
		Rounds:    gate.MaxRounds - len(r.State.Rounds),
		Color:     p.Getenv("NO_COLOR") == "", Commands: strings.Join(commands, "\n"),
		Preview: func(commands string) (string, error) {
			staged, err := Staged(r, cmp.Or(commands, "/approve"))
			return staged.Body, err
		},
	})
}

// Staged returns the draft as changed by commands. It stores nothing.
func Staged(r driver.Report, commands string) (driver.Report, error) {
	if commands == "" {
		return r, nil
	}
	d, err := gate.Decide(commands, "", decision.Approve, finding.Items(r.Findings, r.State.Earlier...),
		r.Packed.Manifest.ExpiresAt)
	r.State.Comments, r.State.Earlier = finding.Apply(d, r.State.Comments), finding.MarkDropped(d, r.State.Earlier, "")
	r.Findings = finding.Kept(r.State.Comments)
	if r.Body = render.File(r.State.Review()); r.State.Pull == nil {
		r.Body = driver.LocalBody(r.State)
	}
	return r, err
}

// Line reads one line of standard input, and not a byte more: what follows is for the list
// of findings. A read cannot be interrupted, so it has its own goroutine, which ends with
// the process. ok is false at the end of the input or of ctx.
func (p Prompt) Line(ctx context.Context) (text string, ok bool) {
	read := make(chan string, 1)
	go func() {
		defer close(read)
		var line []byte
		one := make([]byte, 1)
		for len(line) < maxAnswer {
			n, err := p.Stdin.Read(one)
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

// Yes asks a question and reports whether the answer begins with y.
func (p Prompt) Yes(ctx context.Context, question string) bool {
	fmt.Fprint(p.Stderr, question+" [y/N] ")
	line, _ := p.Line(ctx)
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
}

const maxAnswer = 64 << 10 // bytes
