package main

// limits is the one table that --check goes by. The figures are of a benchmark's largest size. Room is left for a
// shared machine: BENCHMARKS.md has what was measured. "Linear" is time per file, against that of the size before.
func limits() map[string]float64 {
	return map[string]float64{
		"compare: pause / floor":          4,
		"compare: resume / floor":         3,
		"compare: checkpoint / floor":     1.3,
		"compare: peak of pause / floor":  1.5,
		"compare: peak of resume / floor": 1.5,
		"compare: time / linear":          2,
		"fanout: graph / floor":           1.1,
		"fanout: graph / ideal":           1.2,
		"anchors: time / scan":            80,
		"search: memory / grep":           0.5,
		"memory: peak / floor":            12,
		"memory: peak / diff":             16,
		"memory: time / linear":           2,
		"start: version / floor":          8,
		"start: demo / floor":             50,
	}
}
