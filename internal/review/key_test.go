package review

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
)

// named is a model that is only known by its identity.
type named string

func (named) Chat(context.Context, llm.Request) (llm.Answer, error) {
	return llm.Answer{}, llm.ErrEmpty
}

func (n named) Identity() string { return string(n) }

func options() Options {
	look := func(context.Context, struct{}) (string, error) { return "", nil }
	return Options{
		Review: named("r"), Verify: named("v"), Classify: named("c"), Limits: agent.Limits{Turns: 3, Time: time.Minute},
		Tools: tool.NewSet(tool.New("a", "Looks.", look), tool.New("b", "Looks.", look)),
		Head:  func(context.Context, string) ([]byte, error) { return nil, nil },
		Guides: Guides{
			Language: "German", Guidelines: func(string) []string { return []string{"one", "two"} },
			Instructions: []prompt.Document{{Path: "AGENTS.md", Text: "kind"}},
		},
	}
}

func TestP4_TheKeyCoversEveryOptionThatChangesAnAnswer(t *testing.T) {
	t.Parallel()
	look := func(context.Context, struct{}) (string, error) { return "", nil }
	guidelines := func(texts ...string) func(o *Options) {
		return func(o *Options) { o.Guides.Guidelines = func(string) []string { return texts } }
	}
	keys := map[string]string{NewModel(options()).Key(file): "as it is"}
	for name, change := range map[string]func(*Options){
		"review":              func(o *Options) { o.Review = named("x") },
		"verify":              func(o *Options) { o.Verify = named("x") },
		"no verify":           func(o *Options) { o.Verify = nil },
		"classify":            func(o *Options) { o.Classify = named("x") },
		"no classify":         func(o *Options) { o.Classify = nil },
		"verify for classify": func(o *Options) { o.Verify, o.Classify = o.Classify, o.Verify },
		"turns":               func(o *Options) { o.Limits.Turns++ },
		"time":                func(o *Options) { o.Limits.Time++ },
		"no tools":            func(o *Options) { o.Tools = tool.Set{} },
		"a tool less":         func(o *Options) { o.Tools = tool.NewSet(tool.New("a", "Looks.", look)) },
		"another order": func(o *Options) {
			o.Tools = tool.NewSet(tool.New("b", "Looks.", look), tool.New("a", "Looks.", look))
		},
		"another description": func(o *Options) {
			o.Tools = tool.NewSet(tool.New("a", "Sees.", look), tool.New("b", "Looks.", look))
		},
		"no file around":        func(o *Options) { o.Head = nil },
		"language":              func(o *Options) { o.Guides.Language = "French" },
		"guideline":             guidelines("one", "three"),
		"guideline less":        guidelines("one"),
		"borders of guidelines": guidelines("onet", "wo"),
		"no guidelines":         func(o *Options) { o.Guides.Guidelines = nil },
		"instruction":           func(o *Options) { o.Guides.Instructions[0].Text = "strict" },
		"instruction's place":   func(o *Options) { o.Guides.Instructions[0].Path = "CONTRIBUTING.md" },
		"instructions of its folder": func(o *Options) {
			o.Guides.Instructions = append(o.Guides.Instructions, prompt.Document{Path: "ledger/AGENTS.md", Text: "kind"})
		},
		"no instructions": func(o *Options) { o.Guides.Instructions = nil },
		"instruction as guideline": func(o *Options) {
			guidelines("one", "two", "AGENTS.md", "kind")(o)
			o.Guides.Instructions = nil
		},
	} {
		o := options()
		change(&o)
		key := NewModel(o).Key(file)
		require.Empty(t, keys[key], name)
		keys[key] = name
	}
}

func TestTheKeyLeavesOutWhatChangesNoAnswer(t *testing.T) {
	t.Parallel()
	want := NewModel(options()).Key(file)
	for name, change := range map[string]func(*Options){
		"the text around the change": func(o *Options) {
			o.Head = func(context.Context, string) ([]byte, error) { return []byte("another commit"), io.EOF }
		},
		"what was random":    func(o *Options) { o.Random = strings.NewReader("x") },
		"the clock":          func(o *Options) { o.Now = time.Now },
		"credentials":        func(o *Options) { o.Redact = secret.New("swordfish-of-this-job") },
		"the cap of a file":  func(o *Options) { o.FileCap = 1 },
		"another file's own": func(o *Options) { o.Guides.Guidelines = guidelinesOf(file.Path) },
	} {
		o := options()
		change(&o)
		require.Equal(t, want, NewModel(o).Key(file), name)
	}
}

func TestTheKeyOfTheLookAtTheWholeLeavesOutWhatWasReportedAndSaidBefore(t *testing.T) {
	t.Parallel()
	key := func(w Whole) string {
		w.Title, w.Files = "One", []diff.File{file}
		o := overview{task: &task{Model: NewModel(options())}, Whole: w}
		o.turn.Discussion = []prompt.Document{{Path: "comments", Text: w.Description}}
		o.Description = ""
		o.fillTurn()
		return o.wholeKey()
	}
	before := []finding.Finding{{Path: file.Path, Title: "It is wrong"}}
	require.Equal(t, key(Whole{}), key(Whole{Reported: before, Description: "said"}))
	require.NotEqual(t, key(Whole{}), key(Whole{Found: before}))
}

func guidelinesOf(path string) func(string) []string {
	return func(p string) []string {
		if p == path {
			return []string{"one", "two"}
		}
		return []string{"three"}
	}
}

// P11: a key is found again by any process, so nothing of its order is by chance.
func TestP11_TheKeyIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	want := NewModel(options()).Key(file)
	for range 50 {
		require.Equal(t, want, NewModel(options()).Key(file))
	}
	require.Regexp(t, `^[0-9a-f]{64}$`, want)
}

func TestT36_NothingBesideTheChangeAndTheBaseIsAskedFor(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Honest)
	_, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	for _, r := range server.Requests() {
		for label := range llmtest.Data(r.User) {
			require.Contains(t, []string{"path", "diff", "findings"}, label)
		}
	}
}
