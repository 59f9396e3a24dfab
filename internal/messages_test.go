package internal_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the list of messages anew")

const (
	troubleshooting = "../.github/TROUBLESHOOTING.md"
	listBegins      = "<!-- messages -->\n"
	listEnds        = "<!-- end of messages -->\n"
)

// The page lists every message that packages give to package problem, with what to do about it and an anchor.
// `go test ./internal -run TestTroubleshooting -update` rewrites the list.
func TestTroubleshootingListsEveryMessage(t *testing.T) {
	t.Parallel()
	page := read(t, troubleshooting)
	head, rest, begins := strings.Cut(page, listBegins)
	_, tail, ends := strings.Cut(rest, listEnds)
	require.True(t, begins && ends)
	list := messageList(messages(t))
	if *update {
		require.NoError(t, os.WriteFile(troubleshooting, []byte(head+listBegins+list+listEnds+tail), 0o644))
		return
	}
	const how = ": write the list anew: go test ./internal -run TestTroubleshooting -update"
	kept := strings.TrimSuffix(rest, listEnds+tail)
	for _, line := range strings.Split(list, "\n") {
		require.True(t, strings.Contains(kept, line+"\n"), "not on the page: "+line+how)
	}
	require.Equal(t, len(list), len(kept), "messages that nobody gives any more"+how)
}

// message is one of the program's, with … where a value stands.
type message struct{ kind, check, what, next string }

var notInAnchors = regexp.MustCompile(`[^a-z0-9]+`)

// messageList is the page's list: a table for each exit code.
func messageList(all []message) string {
	var b strings.Builder
	taken := map[string]int{}
	for _, part := range []struct{ kind, title string }{
		{"Misuse", "Exit 2: flags, inputs, settings"}, {"Refused", "Exit 3: refused, nothing was posted"},
		{"Spent", "Exit 4: the money"}, {"", "Exit 1, and causes behind others"},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| message | what to do |\n|---|---|\n", part.title)
		for _, m := range all {
			if m.kind != part.kind && !(part.kind == "" && m.kind == "Failed") {
				continue
			}
			slug := strings.Trim(notInAnchors.ReplaceAllString(strings.ToLower(m.what), "-"), "-")
			slug = strings.Trim(slug[:min(len(slug), 60)], "-")
			if taken[slug]++; taken[slug] > 1 {
				slug += "-" + strconv.Itoa(taken[slug])
			}
			next := m.next
			if next == "…" {
				next = "" // the message itself says it
			}
			if m.check != "" && m.check != "…" {
				next = strings.TrimSpace(next + " (check " + m.check + ")")
			}
			fmt.Fprintf(&b, "| <a id=\"%s\"></a>%s | %s |\n", slug, inert(m.what), inert(next))
		}
	}
	return b.String() + "\n"
}

var inertly = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ")

func inert(text string) string { return inertly.Replace(text) }

// TestAMessageHasTheValuesOfItsOwnFunctionsNames has names of the package that a function gives another meaning.
func TestAMessageHasTheValuesOfItsOwnFunctionsNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte(`package x

const next, other = "of the package", "by the package"

func variable() error { next := advice(); return problem.Usage("it goes wrong", next) }

func constant() error { const other = "by the function"; return problem.Usage("it fails again", other) }

func outer() error { return problem.Usage("it cannot be done", next) }
`), 0o600))
	var got []string
	readSource(t, dir).messages(nil, func(m message) { got = append(got, m.what+": "+m.next) })
	require.Equal(t, []string{"it goes wrong: …", "it fails again: by the function",
		"it cannot be done: of the package"}, got)
}
