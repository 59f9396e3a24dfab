package gate

import "github.com/org/pr-review-action/internal/github"

// Rejection finds the answer that rejected a draft since it parked: of an
// environment, or of any where none is named. before holds the keys of the
// answers in the manifest.
func Rejection(approvals []github.Approval, before []string, environment string) (github.Approval, bool) {
	for _, a := range since(approvals, before) {
		if a.State == "rejected" && (environment == "" || of(a, environment)) {
			return a, true
		}
	}
	return github.Approval{}, false
}
