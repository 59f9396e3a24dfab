package stats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/testvolume"
)

// approvers is a simulated team: what its reviewer finds, and what it drops.
type approvers struct {
	*rand.Rand
	base    float64 // share of findings that are dropped for no habit
	spread  float64 // how far that goes up or down from draft to draft
	planted []Cause // dropped nine times in ten
}

var (
	folders = []string{"api", "api/http", "ledger", "web/src", "web/src/forms",
		"testdata", "testdata/in", "gen", "gen/client", "docs", "cmd"}
	files      = []string{"main.go", "main_test.go", "view.ts", "view.test.ts", "query.sql", "README.md", "api.pb.go"}
	categories = []string{"correctness", "performance", "design", "maintainability", "error-handling", "data", "test"}
	rules      = []string{"errcheck", "lll", "revive", "staticcheck"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// decisions are n of them, each on a draft of one to eight findings; about three drafts in
// four are approved, and a pull request has up to three.
func (a approvers) decisions(n int) (all []decision.Record) {
	for i := range n {
		r := decision.Record{Thread: fmt.Sprintf("acme/api#%d:%040x", 1+i/2, i), Digest: fmt.Sprintf("%064x", i),
			Decision: decision.Approve, By: pick(a.Rand, []string{"ada", "rita", "maya"})}
		share := a.base + a.spread*(2*a.Float64()-1)
		for id := range 1 + a.IntN(8) {
			f := a.finding(fmt.Sprint("F", id+1))
			if a.drops(f, share) {
				r.Dropped = append(r.Dropped, decision.Drop{ID: f.ID, How: decision.ByID, Reason: "not here"})
			}
			r.Findings = append(r.Findings, f)
		}
		if a.IntN(4) == 0 {
			r.Decision, r.Dropped = decision.Abort, nil
		}
		all = append(all, r)
	}
	return all
}

func (a approvers) finding(id string) decision.Shown {
	f := decision.Shown{ID: id, Path: pick(a.Rand, folders) + "/" + pick(a.Rand, files), Severity: decision.Minor,
		Category: pick(a.Rand, categories), Source: "model"}
	switch a.IntN(10) {
	case 0:
		f.Path, f.Category = "testdata/"+pick(a.Rand, files), "performance"
	case 1, 2:
		f.Source, f.Category, f.Rule, f.Linter = "linter", "lint", pick(a.Rand, rules), "golangci-lint"
	}
	return f
}

func (a approvers) drops(f decision.Shown, share float64) bool {
	j := Judgement{Finding: f, causes: causes(f)}
	if slices.ContainsFunc(a.planted, func(c Cause) bool { return c.covers(j) }) {
		share = 0.95
	}
	return a.Float64() < share
}

// threeHabits are planted in each simulation that looks for them.
func threeHabits() []Cause {
	return []Cause{{Glob: "gen/**"}, {Category: "performance", Glob: "testdata/**"}, {Rule: "golangci-lint lll"}}
}

// seeds is how many simulations there are of each kind; a proposal in one of twenty of those
// in which nothing is planted is what MaxChance allows.
func seeds() int { return testvolume.Of(50, 20) }

func TestThreePlantedHabitsAndNoOtherAreFoundInTwoHundredDecisions(t *testing.T) {
	t.Parallel()
	testvolume.NoRaces(t)
	for seed := range seeds() {
		a := approvers{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), base: 0.2, spread: 0.2, planted: threeHabits()}
		found := map[Cause]bool{}
		for _, h := range Habits(verdicts(a.decisions(200))) {
			found[h.Cause] = true
			require.GreaterOrEqual(t, h.Share.Low, MinShare)
			require.Len(t, h.Drops, h.Dropped)
		}
		want := map[Cause]bool{}
		for _, c := range threeHabits() {
			want[c] = true
		}
		require.Equal(t, want, found, "seed %d", seed)
	}
}

func TestWhereNothingIsPlantedAlmostNothingIsFound(t *testing.T) {
	t.Parallel()
	testvolume.NoRaces(t)
	for _, c := range []struct{ base, spread float64 }{{0.2, 0.2}, {0.3, 0.3}, {0.5, 0}, {0.5, 0.5}} {
		t.Run(fmt.Sprintf("%.1f dropped, %.1f more or less from draft to draft", c.base, c.spread), func(t *testing.T) {
			t.Parallel()
			with := 0
			for seed := range seeds() {
				a := approvers{Rand: rand.New(rand.NewPCG(uint64(seed), 2)), base: c.base, spread: c.spread}
				with += boolToInt(len(Habits(verdicts(a.decisions(200)))) > 0)
			}
			t.Logf("a false habit in %d of %d", with, seeds())
			require.LessOrEqual(t, float64(with)/float64(seeds()), MaxChance)
		})
	}
}

// drops are n decisions on pull requests of their own, each of which drops its one finding,
// beside as many on others that keep theirs.
func drops(n int, f decision.Shown) (all []decision.Record) {
	for i := range 2 * n {
		r := decision.Record{Thread: fmt.Sprintf("acme/api#%d:c", i), Digest: fmt.Sprint(i), Decision: decision.Approve,
			By: "rita"}
		if i < n {
			r.Findings = []decision.Shown{f}
			r.Dropped = []decision.Drop{{ID: "F1", How: decision.ByID, Reason: "not here"}}
		} else {
			r.Findings = []decision.Shown{{ID: "F1", Path: "api/a.go", Category: "design", Source: "model"}}
		}
		all = append(all, r)
	}
	return all
}

func TestAHabitTakesEnoughJudgementsAndNoBlocker(t *testing.T) {
	t.Parallel()
	slow := decision.Shown{ID: "F1", Path: "testdata/a.go", Category: "performance", Source: "model"}
	line := decision.Shown{ID: "F1", Path: "api/a.go", Category: "lint", Source: "linter", Rule: "lll",
		Linter: "revive"}
	with := func(f decision.Shown, change func(*decision.Shown)) decision.Shown { change(&f); return f }
	change := func(all []decision.Record, how func(i int, r *decision.Record)) []decision.Record {
		for i := range all {
			how(i, &all[i])
		}
		return all
	}
	for name, c := range map[string]struct {
		all  []decision.Record
		want string
	}{
		"enough":               {drops(10, slow), "performance  testdata/a.go"},
		"a rule, wherever":     {drops(10, line), " revive lll "},
		"too few":              {drops(MinDropped-1, slow), ""},
		"a credential":         {drops(10, with(slow, func(f *decision.Shown) { f.Category = "secret" })), ""},
		"hidden text":          {drops(10, with(slow, func(f *decision.Shown) { f.Category = "hidden-text" })), ""},
		"a category of no one": {drops(10, with(slow, func(f *decision.Shown) { f.Category = "other" })), ""},
		"a category that is no word": {drops(10, with(slow, func(f *decision.Shown) {
			f.Category = "x\n- paths: [\"**\"]"
		})), ""},
		"blockers": {drops(10, with(slow, func(f *decision.Shown) { f.Severity = finding.Blocker })), ""},
		"a category that had one elsewhere": {append(drops(10, slow), decision.Record{Digest: "b",
			Decision: decision.Abort, Findings: []decision.Shown{{ID: "F1", Path: "b.go", Category: "Performance",
				Source: "model", Severity: finding.Blocker}}}), ""},
		"a rule that had one": {append(drops(10, line), decision.Record{Digest: "b", Decision: decision.Approve,
			Findings: []decision.Shown{with(line, func(f *decision.Shown) { f.Severity = finding.Blocker })}}), ""},
		"one pull request": {change(drops(10, slow), func(i int, r *decision.Record) {
			r.Thread = fmt.Sprintf("acme/api#1@a%d:%d", i, i)
		}), ""},
		"by a range": {change(drops(10, slow), func(_ int, r *decision.Record) {
			for i := range r.Dropped {
				r.Dropped[i].How = decision.ByRange
			}
		}), ""},
		"without a reason": {change(drops(10, slow), func(_ int, r *decision.Record) {
			for i := range r.Dropped {
				r.Dropped[i].Reason = ""
			}
		}), ""},
		"one decision ten times": {change(drops(10, slow), func(_ int, r *decision.Record) { r.Digest = "d" }), ""},
		"rejected": {change(drops(10, slow), func(_ int, r *decision.Record) {
			r.Decision = decision.Abort
		}), ""},
		"as often as the rest": {change(drops(10, slow), func(_ int, r *decision.Record) {
			r.Dropped = []decision.Drop{{ID: "F1", Reason: "all of it"}}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, h := range Habits(verdicts(c.all)) {
				got += fmt.Sprintln(h.Category, h.Rule, h.Glob)
			}
			require.Equal(t, c.want, strings.TrimSuffix(got, "\n"))
		})
	}
}

func TestFilesAreLeftOutWhereAllThatIsSaidOfThemIsDropped(t *testing.T) {
	t.Parallel()
	all := drops(12, decision.Shown{ID: "F1", Path: "gen/a.go", Category: "design", Source: "model"})
	for i := range all[:12] {
		all[i].Findings[0].Path = fmt.Sprintf("gen/%d.go", i)
	}
	only := Habits(verdicts(all))
	require.Equal(t, "design", only[0].Category, "of one kind a guideline says enough")
	for i := range all[:6] {
		all[i].Findings[0].Category = "data"
	}
	files := Habits(verdicts(all))
	require.Len(t, files, 1)
	require.Equal(t, Cause{Glob: "gen/**"}, files[0].Cause)
	all[0].Findings[0].Severity = finding.Blocker
	for _, h := range Habits(verdicts(all)) {
		require.NotEmpty(t, h.Category, "a blocker was shown in them")
	}
}

func TestGlobsOfAPathMatchItAndHoldNoTextOfAnAttacker(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"**", "**/a/**", "**/b/**", "*.test.ts", "*.ts", "a/**", "a/b/**", "a/b/x.test.ts",
		"x.test.ts"}, globs("a/b/x.test.ts"))
	for _, bad := range []string{"", "a\nb", "a/\u202eb", "a/*.go", "a\\b", "{a,b}", "!a", "../a", "a//b",
		strings.Repeat("a/", 200) + "b", "a\x1b[31m"} {
		require.Equal(t, []string{everywhere}, globs(bad), "%q", bad)
	}
}
