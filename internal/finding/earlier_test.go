package finding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
)

func TestWhatStandsIsWhatWasPostedAndNobodyEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		all  []Earlier
		want []string
	}{
		"found again, and not known": {[]Earlier{{ID: "F1", Now: StillThere}, {ID: "F2"}, {}},
			[]string{"F1", "F2", ""}},
		"resolved":          {[]Earlier{{ID: "F1", Now: Resolved}, {ID: "F2", Announced: true}}, nil},
		"closed":            {[]Earlier{{ID: "F1", Closed: "maya"}}, nil},
		"dropped, and said": {[]Earlier{{Fate: WasDropped, ID: "F1"}, {Fate: WasCommented}}, nil},
		"gravest first": {[]Earlier{{ID: "F1", Severity: Nit}, {ID: "F2"}, {ID: "F3", Severity: Blocker}},
			[]string{"F3", "F1", "F2"}},
		"listed by one": {[]Earlier{{ID: "F1", Listed: true}, {ID: "F1"}, {ID: "F1", Listed: true}}, []string{"F1"}},
		"listed by one whose line is gone": {[]Earlier{{ID: "F1", Now: Resolved}, {ID: "F1", Listed: true},
			{ID: "F1", Listed: true}}, []string{"F1"}},
		"listed by one that is closed": {[]Earlier{{ID: "F1", Listed: true}, {ID: "F1", Closed: "maya"}}, nil},
		"two of one id, as after a review that could not be read": {[]Earlier{{ID: "F1"}, {ID: "F1"}},
			[]string{"F1", "F1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for i := range tc.all {
				if tc.all[i].Fate == "" {
					tc.all[i].Fate = WasPosted
				}
			}
			for _, e := range Standing(tc.all) {
				got = append(got, e.ID)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestADropEndsAllThatOneFindingLists(t *testing.T) {
	t.Parallel()
	before := []Earlier{{Fate: WasPosted, ID: "F1"}, {Fate: WasPosted, ID: "F1", Listed: true}, {Fate: WasPosted},
		{Fate: WasPosted, ID: "F2"}}
	after := MarkDropped(decision.Decision{Drop: []decision.Drop{{ID: "F1", Reason: "wrong"}}}, before, "maya")
	require.Equal(t, []Earlier{{Fate: WasDropped, ID: "F1", By: "maya"}, {Fate: WasDropped, ID: "F1", Listed: true,
		By: "maya"}, {Fate: WasPosted}, {Fate: WasPosted, ID: "F2"}}, after)
	require.Equal(t, WasPosted, before[0].Fate, "the input is as it was")
}
