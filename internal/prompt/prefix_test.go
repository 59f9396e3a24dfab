package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
)

// tools stand for what a client puts next to the system turn: about 2 KB.
var tools = strings.Repeat(`{"name":"read_file","parameters":{"type":"object"}}`, 40)

// conversation returns the requests of one file: each begins with all that the one
// before it held.
func conversation(file, turns int) []string {
	b := guard.Boundary(fmt.Sprintf("%032x", file))
	lines := strings.Repeat("+\tif err := step(ctx); err != nil { return err }\n", 60)
	in := Input{Path: fmt.Sprintf("pkg/f%d.go", file), Status: "modified", Patch: "@@ -0,0 +1,60 @@\n" + lines}
	request := Reviewing(false).System + tools + string(Reviewing(false).Schema) + User(b, in)
	requests := []string{request}
	for range turns - 1 {
		request += `{"calls":[{"name":"read_file"}]}` + ToolResult(b, "read_file", lines)
		requests = append(requests, request)
	}
	return requests
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// The table says of a run what share of the system turn, tools and schema is the
// same bytes as in an earlier request, what share of all input is, and what the
// input then costs where such bytes are charged a tenth.
func TestP9_RequestsOfARunBeginWithTheSameBytes(t *testing.T) {
	t.Parallel()
	table := "| files | turns | constant bytes shared | all input shared | input cost |\n|---|---|---|---|---|\n"
	constant := len(Reviewing(false).System + tools + string(Reviewing(false).Schema))
	for _, run := range [][2]int{{1, 4}, {8, 1}, {8, 4}, {100, 1}, {100, 4}} {
		var sent, shared, constantSent, constantShared int
		previous := ""
		for file := range run[0] {
			for _, request := range conversation(file, run[1]) {
				n := common(previous, request)
				sent, shared = sent+len(request), shared+n
				constantSent, constantShared = constantSent+constant, constantShared+min(n, constant)
				previous = request
			}
		}
		share := 100 * constantShared / constantSent
		table += fmt.Sprintf("| %d | %d | %d %% | %d %% | %d %% |\n", run[0], run[1], share, 100*shared/sent,
			100-90*shared/sent)
		if run[0] >= 8 {
			require.GreaterOrEqual(t, share, 80)
		}
	}
	golden(t, "prefix.md", table)
}
