package main

// limits returns the limits for --check. The figures are those of a benchmark's largest size. The limits leave room
// for a shared machine; BENCHMARKS.md has measured figures. "Linear" compares the time per file with the size before.
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
		"memory: peak / floor":            12,
		"memory: peak / diff":             16,
		"memory: time / linear":           2,
		"start: version / floor":          8,
		"start: demo / floor":             50,
	}
}
