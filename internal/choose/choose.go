// Package choose is the interactive list in which a person decides a draft at a
// terminal: what is dropped, edited, moved or graded otherwise, and the verdict.
//
// It posts nothing and stores nothing. What was chosen leaves as the text of a
// decision, so that every choice can be given as a flag as well. Everything
// drawn passes through package guard, is cut to the terminal's width and reads
// the same without colour. Start reading at Run, then model.
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

// Run shows the list until a verdict is chosen or put off. The end of the input,
// a hang-up, ctrl-c and the end of ctx all mean later. The terminal is as it was
// afterwards, whatever happened. The error says why no list could be shown.
func Run(ctx context.Context, o Options) (Choice, error) {
	in := &input{Reader: o.In}
	options := []tea.ProgramOption{tea.WithInput(in.forProgram()), tea.WithOutput(o.Out), tea.WithAltScreen(),
		tea.WithoutSignalHandler()}
	program := tea.NewProgram(steady{model: newModel(o)}, options...)
	in.ended = func() { go program.Quit() }
	// Bubble Tea's own end of a context kills it beside its drawing, which races.
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	last, err := program.Run()
	choice := Choice{}
	if s, ok := last.(steady); ok {
		choice = s.chosen()
		if err == nil {
			err = s.failed
		}
	}
	switch {
	case err == nil:
		return choice, nil
	case errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return Choice{Text: choice.Text}, nil // ctx is over, or nobody is there any more
	}
	return Choice{}, fmt.Errorf("showing the list of findings: %w", err)
}

// steady ends the list where the model panics. Bubble Tea's own way out of a panic
// draws beside the end of its drawing, which races.
type steady struct {
	model
	failed error
}

// Update is the model's, whose panic is an error.
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

// input says when it ends, of which the library takes no notice.
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

// terminalInput is an input that is a file, whose mode the library sets.
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

// Options are what the list is made from.
type Options struct {
	In        io.Reader // the terminal's file; its end means later
	Out       io.Writer // the terminal's file: the list is not drawn elsewhere
	Review    render.Review
	Expires   time.Time // when the draft can no longer be decided; zero is not shown
	CanRevise bool      // a model is at hand
	Rounds    int       // revisions that are left
	Color     bool      // ANSI colours; the words are the same without
	Commands  string    // changes that were chosen before; text that does not parse is left out

	// Preview is the review as it would be posted after the commands, in
	// Markdown. An error is shown, and nothing is decided. May be nil.
	Preview func(commands string) (string, error)
}

// Choice is what a person chose. Text holds commands in the grammar of package
// decision, one a line; the verdict's own comes last. Without a Verdict the
// draft is decided later, and Text has what was changed until then.
type Choice struct {
	Verdict decision.Verdict
	Text    string
}

// commands are the lines for all changes, in the draft's order.
func (m model) commands() []string {
	lines := slices.Clone(m.ends)
	for i, c := range m.changes {
		lines = append(lines, c.commands(m.Review.Findings[i].ID)...)
	}
	return lines
}

// text is the decision with a verdict. An abort and a revision change nothing of
// a finding. The error is that of package decision, as for any other decision.
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

// chosen is the choice so far: without a verdict, what was changed.
func (m model) chosen() Choice {
	if m.choice.Verdict != "" {
		return m.choice
	}
	return Choice{Text: strings.Join(m.commands(), "\n")}
}
