package review

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
)

// ends is a chatter whose every call ends with an error, unpaid.
type ends struct {
	Chatter
	err error
}

func (e ends) Chat(context.Context, llm.Request) (llm.Answer, error) { return llm.Answer{}, e.err }

// claimed answers a review with these findings and a second look by a script.
func claimed(second llmtest.Script, found ...string) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer {
		if r.Question == llmtest.Verify {
			return second(r)
		}
		return llmtest.Answer{Text: `{"findings":[` + strings.Join(found, ",") + `]}`}
	}
}

func claim(severity, title, quote string) string {
	return `{"line":41,"severity":"` + severity + `","title":"` + title + `","quote":"` + quote + `","confidence":0.9}`
}

func verifyWith(t *testing.T, second llmtest.Script, found ...string) (finding.FileReview, *llmtest.Server) {
	t.Helper()
	m, server := full(t, claimed(second, found...))
	m.Classify = nil
	got, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, finding.Reviewed, got.State, "a second look does not change what was read")
	return got, server
}

func TestARefutedFindingIsHeldBackAndMarked(t *testing.T) {
	t.Parallel()
	got, server := verifyWith(t, func(r llmtest.Request) llmtest.Answer {
		return llmtest.Verdicts(r, func(c llmtest.Claim) bool { return c.Title != "wrong" })
	}, claim("minor", "small", ""), claim("major", "wrong", ""), claim("major", "right", ""),
		claim("blocker", "elsewhere", "e()"),
		claim("blocker", "invented", "no such line"))
	require.Equal(t, []string{"small", "wrong", "right", "elsewhere", "invented"}, titles(got.Findings))
	for i, want := range []finding.Filter{"", finding.Refuted, "", "", finding.Misquoted} {
		require.Equal(t, want, got.Findings[i].Filtered, got.Findings[i].Title)
	}
	require.Equal(t, "A script says so.", got.Findings[1].Note)
	require.Empty(t, got.Findings[0].Note)
	require.Empty(t, got.Findings[2].Note)
	require.Equal(t, 1, got.Moved)

	claims := llmtest.Claims(asked(server, llmtest.Verify)[0])
	require.Len(t, claims, 3, "neither minor findings nor those that are held back already")
	require.Equal(t, "wrong", claims[0].Title)
	require.Equal(t, 43, claims[2].Line, "as it was moved")
}

func TestAFindingThatWithdrawsItselfIsHeldBack(t *testing.T) {
	t.Parallel()
	for body, held := range map[string]bool{
		"The set is read once per key, so this is not a bug.": true, "All paths match. No finding here.": true,
		"It looked racy.\n\nHowever, there is no actual defect": true, "There's no issue.": true, "No finding": true,
		"The retry hides that this is not a problem of the network.": false, "Callers see no problem.": false,
		"It is not a bug of the parser, but of its caller.": false, "Users find no issue": false, "": false,
		"With one worker there is no race, no bug：但是两个工人时会崩溃。": false,
		"Expected: one issue. Actual: no issues.":              false,
	} {
		got := []finding.Finding{{Body: body}, {Body: body, Filtered: finding.Misquoted}}
		markWithdrawn(got)
		require.Equal(t, held, got[0].Filtered == finding.LowConfidence, body)
		require.Equal(t, held, got[0].Note == "its own text ends by saying that nothing is wrong", body)
		require.Equal(t, finding.Misquoted, got[1].Filtered)
	}
	got, server := verifyWith(t, nil, strings.Replace(claim("major", "racy", ""), `"title"`,
		`"body":"A lock is held. So no defect.","title"`, 1))
	require.Equal(t, finding.LowConfidence, got.Findings[0].Filtered)
	require.Empty(t, asked(server, llmtest.Verify), "and nothing is paid for it")
}

func TestASuggestionThatDoesNotMendTheDefectIsLeftOut(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]string{
		`,"suggestion_mends":false`: "", `,"suggestion_mends":true`: "e(c)", "": "e(c)",
	} {
		got, server := verifyWith(t, llmtest.Always(llmtest.Answer{
			Text: `{"verdicts":[{"id":"C1","reason":"","holds":true` + verdict + `}]}`}),
			strings.Replace(claim("major", "c leaks", ""), `"title"`, `"suggestion":"e(c)","title"`, 1))
		require.Equal(t, want, got.Findings[0].Suggestion)
		require.Equal(t, want == "", strings.Contains(got.Findings[0].Note, "its suggestion was left out"))
		require.Empty(t, got.Findings[0].Filtered, "the finding stands")
		require.Contains(t, asked(server, llmtest.Verify)[0].User, `"suggestion":"e(c)"`)
	}
	_, server := verifyWith(t, nil, strings.Replace(claim("major", "moved", "e()"), `"title"`,
		`"suggestion":"e(c)","title"`, 1))
	require.NotContains(t, asked(server, llmtest.Verify)[0].User, "suggestion\":", "nobody will be offered it")
}

func TestWithoutAVerdictAFindingStaysWithANote(t *testing.T) {
	t.Parallel()
	const none, unreadable, silent = "no answer from the second look",
		"the answer cannot be read", "the answer has no verdict on it"
	for name, c := range map[string]struct {
		answer llmtest.Answer
		note   string
	}{
		"none at all": {llmtest.Answer{Text: `{"verdicts":[]}`}, silent},
		"of another":  {llmtest.Answer{Text: `{"verdicts":[{"id":"C2","reason":"","holds":false}]}`}, silent},
		"twice": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":true},{"id":"C1"` +
			`,"reason":"","holds":false}]}`}, silent},
		"twice, true last": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":false},{"id":"C1"` +
			`,"reason":"","holds":true}]}`}, silent},
		"without holds": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":""}]}`}, silent},
		"null":          {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":null}]}`}, silent},
		"prose":         {llmtest.Answer{Text: "None of them holds."}, unreadable},
		"further key": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":false}]` +
			`,"verdict":"LGTM"}`}, unreadable},
		"wrong type": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":"no"}]}`}, unreadable},
		"cut off": {llmtest.Answer{Text: `{"verdicts":[{"id":"C1","reason":"","holds":false}]}`,
			Finish: "length"}, none},
		"refused":         {llmtest.Answer{Refusal: "no"}, none},
		"empty":           {llmtest.Answer{Text: " "}, none},
		"failing":         {llmtest.Answer{Status: 503}, none},
		"endless looking": {llmtest.Answer{Calls: []llmtest.Call{{Name: "read_file", Arguments: "{}"}}}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := verifyWith(t, llmtest.Always(c.answer), claim("major", "x", "e()"))
			require.Len(t, got.Findings, 1)
			require.Empty(t, got.Findings[0].Filtered)
			require.Equal(t, "moved from line 41 to the line that it quotes; not verified: "+c.note,
				got.Findings[0].Note)
		})
	}
}

func TestP9_WithoutMoneyForASecondLookAFindingStays(t *testing.T) {
	t.Parallel()
	for _, spent := range []error{cost.ErrSpent, cost.ErrFileSpent} {
		m, _ := full(t, claimed(nil, claim("major", "x", "")))
		m.Classify, m.Verify = nil, ends{m.Verify, spent}
		got, err := m.Review(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "not verified: the budget was spent", got.Findings[0].Note)
		require.Empty(t, got.Findings[0].Filtered)
	}
}

func TestNobodyLooksAgainWhereNothingIsGraveOrNobodyIsNamed(t *testing.T) {
	t.Parallel()
	_, server := verifyWith(t, nil, claim("minor", "small", ""), claim("nit", "smaller", ""))
	require.Equal(t, 1, server.Calls())

	m, server := full(t, claimed(nil, claim("blocker", "x", "")))
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, got.Findings[0].Note)
	require.Equal(t, 1, server.Calls())
}

func TestTheSecondLookMayLookAround(t *testing.T) {
	t.Parallel()
	got, server := verifyWith(t, llmtest.Curious(llmtest.Honest), claim("major", "c leaks", ""))
	looks := asked(server, llmtest.Verify)
	require.Len(t, looks, 2)
	require.Equal(t, asked(server, llmtest.Review)[0].Tools, looks[0].Tools)
	require.Contains(t, looks[1].Turns[1].Text, "ledger/transfer.go, read for the 1. time")
	require.Len(t, got.Calls[1].Tools, 1)
	require.NotEmpty(t, looks[0].Lines, "the code is in view")
}

func TestARunThatEndsInTheSecondLookLeavesTheFileUnreached(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, _ := full(t, claimed(func(llmtest.Request) llmtest.Answer {
		cancel()
		return llmtest.Answer{Drop: true}
	}, claim("major", "x", "")))
	m.Classify = nil
	got, err := m.Review(ctx, file)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, got.State)
	require.EqualValues(t, 1, got.Usage.Calls)
}

// T1: an order in the diff may talk the second look out of a finding. It is held
// back where the approver sees it, and never gone.
func TestT1_AFindingThatAnObedientModelRefutesIsStillThere(t *testing.T) {
	t.Parallel()
	got, _ := verifyWith(t, func(r llmtest.Request) llmtest.Answer {
		return llmtest.Verdicts(r, func(llmtest.Claim) bool { return false })
	}, claim("blocker", "x", ""))
	require.Len(t, got.Findings, 1)
	require.Equal(t, finding.Refuted, got.Findings[0].Filtered)
	require.Equal(t, finding.Blocker, got.Findings[0].Severity)
}
