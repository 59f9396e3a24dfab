package finding

// Reaching is the number of findings that are at least as grave as a severity;
// 0 where that is empty or unknown, which nothing reaches.
func Reaching(all []Finding, from Severity) (n int) {
	for _, f := range all {
		if from.Rank() >= 0 && f.Severity.Rank() >= from.Rank() {
			n++
		}
	}
	return n
}
