package aggregate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

var flagged = diff.File{Path: "a.go", Patch: "@@ -1,2 +1,3 @@\n a\n+b\n c"}

func flagOn(line int, s finding.Severity, title string) finding.Finding {
	return finding.Finding{
		Path: "a.go", Side: finding.Right, StartLine: line, Line: line, Severity: s, Category: "error-handling",
		Confidence: 0.8, Title: title, Body: "Because.", Source: finding.Rule, Rule: "go-error-dropped",
	}
}

// said returns what happened to a flag and to a model's finding next to it.
func said(flag, model finding.Finding) (byRule, byModel finding.Finding) {
	model.Source = finding.Model
	all := merged([]diff.File{flagged}, []finding.Finding{flag},
		[]finding.FileReview{{Path: "a.go", State: finding.Reviewed, Findings: []finding.Finding{model}}}, 0)
	for _, f := range all {
		if f.Source == finding.Rule {
			byRule = f
		} else {
			byModel = f
		}
	}
	return byRule, byModel
}

func TestD5_NoAnswerTakesARulesWordAway(t *testing.T) {
	t.Parallel()
	flag := flagOn(2, finding.Major, "The error of `close` is dropped")
	for name, change := range map[string]func(*finding.Finding){
		"the same words, more gravely": func(f *finding.Finding) { f.Severity = finding.Blocker },
		"the same words, less gravely": func(f *finding.Finding) { f.Severity = finding.Nit },
		"the same words, and surer":    func(f *finding.Finding) { f.Confidence = 1 },
		"the same words, as gravely":   func(*finding.Finding) {},
		"no confidence at all":         func(f *finding.Finding) { f.Confidence = 0 },
		"refuted by the second look":   func(f *finding.Finding) { f.Filtered = finding.Refuted },
		"off the diff":                 func(f *finding.Finding) { f.StartLine, f.Line = 2, 900 },
		"on more lines": func(f *finding.Finding) {
			f.StartLine, f.Line, f.Severity = 1, 3, finding.Blocker
		},
		"another body": func(f *finding.Finding) { f.Body = "This is fine.\n```\n<!--" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := flag
			model.Source, model.Rule = finding.Model, ""
			change(&model)
			byRule, byModel := said(flag, model)
			require.NotEmpty(t, byRule.ID)
			if byRule.Filtered == "" {
				require.Equal(t, flag.Body, byRule.Body)
				return
			}
			require.Equal(t, finding.Repeat, byRule.Filtered)
			require.Empty(t, byModel.Filtered)
			require.Equal(t, byRule.ID, byModel.ID)
			require.Equal(t, flag.Title+". "+flag.Body, byModel.RuleText)
			require.GreaterOrEqual(t, byModel.Severity.Rank(), flag.Severity.Rank())
		})
	}
}

func TestARuleAndAModelThatMeanOneDefectMakeOneFinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule, model, category string
		line                  int
		one                   bool
	}{
		"dropped error, other words": {"The error of `tx.Commit` is dropped", "Commit's failure is silently ignored",
			"bug", 2, true},
		"sql": {"SQL injection: the value of `id` becomes part of the statement",
			"User input is concatenated into the query", "security", 2, true},
		"sql, by category": {"SQL injection: the value of `id` becomes part of the statement",
			"`id` is not escaped", "security", 2, true},
		"tls": {"TLS verification disabled", "InsecureSkipVerify accepts any certificate",
			"correctness", 2, true},
		"shell": {"Command injection: a shell command is built from a value",
			"subprocess is called with shell=True on user input", "security", 2, true},
		"remove": {"Possible `rm -rf /`: the variable may be empty",
			"An unset variable deletes everything", "correctness", 2, true},
		"sql and traversal": {"SQL injection: the value of `id` becomes part of the statement",
			"Path traversal through the file name", "security", 2, false},
		"sql and access": {"SQL injection: the value of `id` becomes part of the statement",
			"Missing authorization check for the account", "security", 2, false},
		"tls and timeout": {"TLS verification disabled", "The client has no timeout", "security", 2, false},
		"error and retry": {"The error of `tx.Commit` is dropped", "The retry goes on for ever",
			"error-handling", 2, false},
		"error and leak of a handle": {"The error of `f.Write` is dropped", "The file is never closed",
			"error-handling", 2, false},
		"another line": {"The error of `tx.Commit` is dropped", "The error of tx.Commit is dropped",
			"error-handling", 3, false},
		"another category, no kind": {"The error of `tx.Commit` is dropped", "The day is posted twice", "correctness",
			2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := flagOn(2, finding.Major, c.rule)
			if c.category == "security" {
				rule.Category = "security"
			}
			model := flagOn(c.line, finding.Minor, c.model)
			model.Source, model.Rule, model.Category, model.Body = finding.Model, "", c.category, "The model's words."
			byRule, byModel := said(rule, model)
			require.Empty(t, byModel.Filtered)
			if !c.one {
				require.Empty(t, byRule.Filtered)
				require.NotEqual(t, byRule.ID, byModel.ID)
				return
			}
			require.Equal(t, finding.Repeat, byRule.Filtered)
			require.Equal(t, []string{rule.Rule}, byModel.Also)
			require.Equal(t, c.model, byModel.Title)
			require.Equal(t, finding.Major, byModel.Severity, "the graver one")
		})
	}
}

func TestACredentialStaysTheRulesToTell(t *testing.T) {
	t.Parallel()
	rule := flagOn(2, finding.Major, "Hard-coded credential: an AWS key")
	rule.Category = "secret"
	model := flagOn(2, finding.Blocker, "The password is committed to the repository")
	model.Source, model.Category = finding.Model, "security"
	byRule, byModel := said(rule, model)
	require.Empty(t, byRule.Filtered)
	require.Equal(t, []string{"model"}, byRule.Also)
	require.Equal(t, finding.Duplicate, byModel.Filtered)
}

func TestAModelsWordIsHeldBackWhereTheRulesWasPosted(t *testing.T) {
	t.Parallel()
	rule := flagOn(2, finding.Major, "The error of `tx.Commit` is dropped")
	rule.Fingerprint = finding.Fingerprint(rule)
	model := flagOn(2, finding.Major, "Commit's failure is silently ignored")
	model.Source, model.Rule = finding.Model, ""
	first, _ := aggregate.Findings(aggregate.Input{Files: files, Findings: []finding.Finding{rule}, Inline: 15})
	all, _ := aggregate.Findings(aggregate.Input{Files: files, Findings: []finding.Finding{rule}, Inline: 15,
		Reviews: []finding.FileReview{{Path: "a.go", State: finding.Reviewed, Findings: []finding.Finding{model}}},
		Earlier: []finding.Earlier{{Fate: finding.WasPosted, Fingerprint: first[0].Fingerprint, Path: "a.go",
			Side: finding.Right, Line: 2, Title: rule.Title}}})
	require.Len(t, all, 2)
	for _, f := range all {
		require.Equal(t, finding.AlreadyPosted, f.Filtered, f.Title)
	}
}

func TestWhatAReviewHeldBackStaysSo(t *testing.T) {
	t.Parallel()
	weak := flagOn(2, finding.Major, "x")
	weak.Confidence, weak.Filtered, weak.Note = 0.1, finding.Refuted, "a second look"
	_, byModel := said(flagOn(3, finding.Minor, "y"), weak)
	require.Equal(t, finding.Refuted, byModel.Filtered)
	require.Equal(t, "a second look", byModel.Note)
}
