package app_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// ways returns the routes by which a draft is approved with commands, one per line.
func ways() map[string]func(*stage, string) {
	return map[string]func(*stage, string){
		"approval": func(s *stage, text string) {
			drafted := s.parked()
			s.approved(text)
			s.postJob(drafted.digest()).start().is(0, "POSTED")
		},
		"dispatch": func(s *stage, text string) {
			drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
			s.run.Finish("success")
			s.decideJob(drafted.outputs["code"], "approve").with("commands", text).start().is(0, "POSTED")
		},
		"resume by answering for the environment": func(s *stage, text string) {
			drafted := s.waits(true)
			s.cli(nil, append([]string{"resume", "octo/demo#42", "--approve"}, flagged(text)...)...).ends(0)
			s.postJob(drafted.digest()).start().is(0, "POSTED")
		},
		"resume by a dispatch": func(s *stage, text string) {
			s.shipWorkflows()
			s.waits(false)
			run := s.cli(nil, append([]string{"resume", "octo/demo#42", "--approve"}, flagged(text)...)...).ends(
				0).dispatched(s)
			s.decides(run, "maya").start().is(0, "POSTED")
		},
		"resume under one's own account": func(s *stage, text string) {
			s.waits(false)
			s.cli(nil, append([]string{"resume", "octo/demo#42", "--approve", "--post"}, flagged(text)...)...).ends(0)
		},
		"flags of review": func(s *stage, text string) {
			s.cli(nil, append([]string{"review", "octo/demo#42", "--approve"}, flagged(text)...)...).ends(0)
		},
		"flags of resume": func(s *stage, text string) {
			store := s.t.TempDir()
			s.cli(nil, "review", "octo/demo#42", "--store", store, "--no-input").ends(0)
			s.cli(nil, append([]string{"resume", "octo/demo#42:" + s.pull.HeadSHA()[:7], "--store", store, "--approve"},
				flagged(text)...)...).ends(0)
		},
		"terminal": func(s *stage, text string) {
			s.t.Log(s.typing("review", "octo/demo#42")(typed(text), "yes"))
		},
	}
}

func flagged(text string) (flags []string) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) {
		flags = append(flags, "--command", line)
	}
	return flags
}

// typing returns a function that runs the command line on a terminal, types lines
// into it, and returns what it shows.
func (s *stage) typing(args ...string) func(lines []string, last string) string {
	return func(lines []string, last string) string {
		s.t.Helper()
		cmd := s.command(map[string]string{"TERM": "xterm"}, args...)
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		require.NoError(s.t, err)
		defer screen.Close()
		for _, line := range append(lines, last) {
			if line != "" {
				_, err := io.WriteString(screen, line+"\n")
				require.NoError(s.t, err)
			}
		}
		var shown bytes.Buffer
		_, _ = io.Copy(&shown, screen) // ends with an error of its own when the program does
		require.NoError(s.t, cmd.Wait(), shown.String())
		return shown.String()
	}
}

func TestAQuestionNeedsTheDraftInSight(t *testing.T) {
	s := newStage(t, scene{})
	cmd := s.command(map[string]string{"TERM": "xterm"}, "review", "octo/demo#42")
	var file, shown bytes.Buffer
	cmd.Stdout = &file
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer screen.Close()
	_, err = io.WriteString(screen, "yes\n")
	require.NoError(t, err)
	_, _ = io.Copy(&shown, screen) // ends with an error of its own when the program does
	require.NoError(t, cmd.Wait(), shown.String())
	require.NotContains(t, shown.String(), "Post this review?")
	require.Contains(t, file.String(), "Parked. Decide with\n")
	s.untouched()
}

// typed are the lines of a decision at the prompt, where a verdict ends it.
func typed(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "/approve"
	})
}

var postedMark = regexp.MustCompile(`\n+<!-- pr-review:f=[0-9a-f]{16} -->$`)

// bytesOf is a posted review less the approval line and the markers.
func bytesOf(t *testing.T, s *stage) githubtest.Review {
	t.Helper()
	review := s.posted()
	require.Equal(t, s.pull.HeadSHA(), review.CommitID)
	body, approval := less(t, review.Body)
	require.Contains(t, approval, "approved by maya")
	out := githubtest.Review{Body: strings.ReplaceAll(body, s.pull.HeadSHA(), "HEAD")}
	for _, c := range review.Comments {
		text := postedMark.ReplaceAllString(c.Body, "")
		out.Comments = append(out.Comments, githubtest.Comment{Path: c.Path, Side: c.Side, StartLine: c.StartLine,
			Line: c.Line, Body: text})
	}
	return out
}

func TestP2_OneDecisionGivesTheSameBytesOnEveryRoute(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"as drafted": "",
		"every command": "/drop F2: awaited by the caller\n/edit F3: Return the *error*, @ada: see #7 and " +
			"`x`.\n/summary F5\n/severity F1 major",
		"regraded to nit":     "/severity F1 nit\n/severity F2 minor",
		"in another order":    "/summary F1 F2\n/drop F5\n/approve\n/drop F4",
		"everything dropped":  "/drop F1 F2 F3 F4 F5: noise",
		"edited and regraded": "/edit F1: Take `book` first.\n/severity F1 minor",
	} {
		t.Run(name, func(t *testing.T) {
			cell(t)
			t.Parallel()
			var first githubtest.Review
			for route, decide := range ways() {
				s := newStage(t, scene{})
				decide(s, text)
				got := bytesOf(t, s)
				if first.Body == "" {
					first = got
				}
				require.Equal(t, first, got, route)
			}
			shown := fmt.Sprint(first)
			require.Equal(t, strings.Contains(text, "/drop"), !strings.Contains(shown, "Says too little") ||
				!strings.Contains(shown, "not awaited"), "only dropped findings are missing:\n%s", shown)
			t.Logf("%d bytes of body and %d comments on %d routes", len(first.Body), len(first.Comments), len(ways()))
		})
	}
}

func TestCheck11_ReviseIsRefusedWhereADraftIsDecidedAndTheDraftStaysParked(t *testing.T) {
	t.Parallel()
	const dispatch = "gh workflow run pr-review.yml --repo octo/demo -f pull-request=42 -f code="
	for name, tc := range map[string]struct {
		summary  string
		feedback string
		shown    string
	}{
		"as it stands":      {"full", "F1 isn't a blocker", ` -f feedback='F1 isn'\''t a blocker'`},
		"longer than a row": {"full", strings.Repeat("long ", 100), " -f feedback='TEXT'"},
		"counts":            {"counts", "F1 moves no money", " -f feedback='TEXT'"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			code := drafted.outputs["code"]
			s.approved("/revise " + tc.feedback)
			byComment := s.postJob(drafted.digest()).with("summary", tc.summary).start()
			s.refused(byComment, "/revise needs a model", "nothing was posted", "still waits", dispatch+code+tc.shown)
			if tc.summary == "counts" {
				require.NotContains(t, byComment.log+byComment.summary, "no money")
			}
			byDispatch := s.decideJob(code, "approve").with("commands", "/revise "+tc.feedback, "summary", tc.summary)
			s.refused(byDispatch.start(), "/revise needs a model", dispatch+code+tc.shown)
			s.decideJob(code, "approve").start().is(0, "POSTED")
			s.posted()
		})
	}
}
