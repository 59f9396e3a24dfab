package rule

import "github.com/org/pr-review-action/internal/finding"

var asyncPredicate = rule{
	name: "ts-async-predicate", category: "correctness", severity: finding.Major,
	title: "This condition is always true",
	body:  "An async function returns a promise, and a promise counts as true, so every element passes. Await the answers first, then filter.",
	find:  in{typescript: inCode(`\.(?:filter|some|every|find|findIndex)\(\s*async\b`)},
}

var asyncForEach = rule{
	name: "ts-async-foreach", category: "concurrency", severity: finding.Major,
	title: "`forEach` does not wait for its async function",
	body:  "The code behind the loop runs before any element is done, and a failure is an unhandled rejection. Use `for…of` with `await`, or `Promise.all`.",
	find:  in{typescript: inCode(`\.forEach\(\s*async\b`)},
}

var focusedTest = rule{
	name: "ts-focused-test", category: "test", severity: finding.Major,
	title:   "Only this test runs",
	body:    "The mark switches every other test of the file off, and the run stays green.",
	inTests: unchanged,
	find: in{typescript: replaced(`\b(describe|it|test|context|suite)\.only\(|\bf(describe|it)\(`, "$1$2(",
		inCode("(?:^|[\\s;])(?:(?:describe|it|test|context|suite)\\.only|fdescribe|fit)\\(\\s*[\"'`]"))},
}
