package crash

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/llmtest"
)

// The change under review: some of its files have a defect, and about some the
// model has to be asked twice.
const (
	files     = 200
	workers   = 8 // files under review at one time
	perAnswer = 15 * time.Millisecond

	questions = files + files/5 + (files+2)/3   // those of an undisturbed run
	ideal     = questions / workers * perAnswer // the shortest time in which they can be answered
)

func path(i int) string { return fmt.Sprintf("src/part%02d/file%03d.go", i%7, i) }

func defective(i int) bool { return i%3 == 0 }

// slow reports whether the first answer about a file cannot be used: about every
// fifth.
func slow(i int) bool { return i%5 == 2 }

// change is the unified diff of all files.
func change() string {
	var b strings.Builder
	for i := range files {
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,2 +1,4 @@\n package part\n+\n",
			path(i))
		if defective(i) {
			fmt.Fprintf(&b, "+var n%d = 0 // DEFECT: number %d is never set\n", i, i)
		} else {
			fmt.Fprintf(&b, "+var n%d = %d\n", i, i)
		}
		fmt.Fprintf(&b, " // the end of %d\n", i)
	}
	return b.String()
}

// bill is a model's record of what it was asked: how often each question came.
// A file's second question differs from its first.
type bill struct {
	mu    sync.Mutex
	first map[string]string // by path, the question that came first
	asked map[string]int

	until int // questions, from which on kill is called
	kill  func()
}

func newBill() *bill { return &bill{first: map[string]string{}, asked: map[string]int{}} }

// boundary is what differs between two turns that ask the same.
var boundary = regexp.MustCompile(`[0-9a-f]{32}`)

// answer is the model's script.
func (b *bill) answer(r llmtest.Request) llmtest.Answer {
	again := b.note(r)
	a := llmtest.Honest(r)
	if i, ok := number(r.Path); ok && slow(i) && !again && r.Question == llmtest.Review {
		a = llmtest.Answer{Text: "I shall have to think about this file."}
	}
	a.Delay = perAnswer
	return a
}

// note counts a question and reports whether it is the second of its file.
func (b *bill) note(r llmtest.Request) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := boundary.ReplaceAllString(r.User, "")
	if b.first[r.Path] == "" {
		b.first[r.Path] = text
	}
	again = b.first[r.Path] != text
	switch {
	case r.Question == llmtest.Verify:
		b.asked["verify "+r.Path]++
	case again:
		b.asked["again "+r.Path]++
	default:
		b.asked["first "+r.Path]++
	}
	if b.until--; b.until == 0 {
		b.kill()
	}
	return again
}

// killAt has kill called at the n-th question from now on; 0 is never.
func (b *bill) killAt(n int, kill func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.kill = n, kill
}

// asks are the questions about a file, in their order.
func asks(path string) []string {
	all := []string{"first " + path}
	i, ok := number(path)
	if ok && slow(i) {
		all = append(all, "again "+path)
	}
	if ok && defective(i) {
		all = append(all, "verify "+path)
	}
	return all
}

// number is a file's place in the change.
func number(path string) (i int, ok bool) {
	var part int
	n, _ := fmt.Sscanf(path, "src/part%d/file%d.go", &part, &i)
	return i, n == 2
}

// calls returns how often each question was asked so far.
func (b *bill) calls() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.asked)
}

func total(calls map[string]int) (n int) {
	for _, c := range calls {
		n += c
	}
	return n
}
