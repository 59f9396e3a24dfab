// Package choose is the interactive list in which a person decides a draft at a terminal:
// which findings to drop, edit, move or regrade, and the verdict.
//
// It posts nothing and stores nothing. Its result is the text of a decision, so that every
// choice can also be given as a flag. Everything drawn passes through package guard, is cut
// to the terminal's width and reads the same without colour. Start reading at Run, then
// model.
package choose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/org/pr-review-action/internal/choose/quiet"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/render"
)

var _ = quiet.Release()

// Run shows the list until the person chooses a verdict or puts it off. The end of the
// input, a hang-up, ctrl-c and the end of ctx all mean later. It always restores the
// terminal. The error says why the list could not be shown.
func Run(ctx context.Context, o Options) (Choice, error) {
	in := &input{Reader: o.In}
	options := []tea.ProgramOption{tea.WithInput(in.forProgram()), tea.WithOutput(o.Out), tea.WithAltScreen(),
		tea.WithoutSignalHandler()}
	program := tea.NewProgram(steady{model: newModel(o)}, options...)
	in.ended = func() { go program.Quit() }
	// Bubble Tea's own handling of a context stops it while it draws, which races.
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	last, err := program.Run()
	choice := Choice{}
	if s, ok := last.(steady); ok {
		choice = s.currentChoice()
		if err == nil {
			err = s.failed
		}
	}
	switch {
	case err == nil:
		return choice, nil
	case errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return Choice{Text: choice.Text}, nil // ctx is done, or the terminal is gone
	}
	return Choice{}, fmt.Errorf("showing the list of findings: %w", err)
}

// steady quits the list if the model panics. Bubble Tea's own recovery draws while its
// drawing ends, which races.
type steady struct {
	model
	failed error
}

// Update calls the model's and turns a panic into an error.
func (s steady) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			s.failed = fmt.Errorf("a defect: %v", p)
			next, cmd = s, tea.Quit
		}
	}()
	m, cmd := s.model.Update(msg)
	s.model = m.(model)
	return s, cmd
}

// input reports its end, which the library ignores.
type input struct {
	io.Reader
	ended func()
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err != nil {
		in.ended()
	}
	return n, err
}

// terminalInput is an input from a file, whose mode the library sets.
type terminalInput struct {
	*os.File
	in *input
}

func (t terminalInput) Read(p []byte) (int, error) { return t.in.Read(p) }

func (in *input) forProgram() io.Reader {
	if f, ok := in.Reader.(*os.File); ok {
		return terminalInput{f, in}
	}
	return in
}

// Options configures the list.
type Options struct {
	In        io.Reader // the terminal's file; its end means later
	Out       io.Writer // the terminal's file: the list is not drawn elsewhere
	Review    render.Review
	Expires   time.Time // when the draft can no longer be decided; not shown if zero
	CanRevise bool      // a model is available for revisions
	Rounds    int       // revisions left
	Color     bool      // ANSI colours; the text is the same without
	Commands  string    // changes chosen before; ignored if it does not parse

	// Preview returns the review as it would be posted after the commands, in Markdown. An
	// error is shown, and nothing is decided. May be nil.
	Preview func(commands string) (string, error)
}

// Choice is what a person chose. Text holds commands in the grammar of package decision,
// one per line, the verdict last. If Verdict is empty, the draft is decided later, and Text
// has the changes made so far.
type Choice struct {
	Verdict decision.Verdict
	Text    string
}

// commands returns the commands for all changes, in the draft's order.
func (m model) commands() []string {
	lines := slices.Clone(m.ends)
	for i, c := range m.changes {
		lines = append(lines, c.commands(m.Review.Findings[i].ID)...)
	}
	return lines
}

// text returns the decision with a verdict. An abort or a revision includes no changes. The
// error is package decision's, as for any other decision.
func (m model) text(v decision.Verdict, feedback string) (string, error) {
	lines := []string{strings.TrimSpace("/" + string(v) + " " + feedback)}
	if v == decision.Approve {
		lines = slices.Concat(m.commands(), lines)
	}
	text := strings.Join(lines, "\n")
	d, err := decision.Parse(text)
	if err != nil {
		return "", err
	}
	_, err = d.Check(items(m.Review))
	return text, err
}

// currentChoice returns the choice so far: without a verdict, the changes made.
func (m model) currentChoice() Choice {
	if m.choice.Verdict != "" {
		return m.choice
	}
	return Choice{Text: strings.Join(m.commands(), "\n")}
}
