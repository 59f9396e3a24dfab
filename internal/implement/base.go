package implement

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tree"
)

// Base is the commit that a change builds on, with the rules and limits of the change.
type Base struct {
	*tree.Tree
	Rules  *scope.Rules // for all modules that may change, or for the chosen ones
	Limits config.Implement
	// returns the paths of what says how to work on some files; nil for none
	Instructions func(files []string) []string
	// Broken reports what speaks against a text in the language of its path: errors that a parser
	// finds, brackets that do not match
	Broken func(ctx context.Context, path, text string) (errors, unmatched bool)
}

// Within returns the base with rules for only the modules of s.
func (b Base) Within(s change.Scope) Base {
	chosen := slices.DeleteFunc(slices.Clone(b.Rules.Modules), func(m config.Module) bool {
		return !slices.ContainsFunc(s.Modules, func(c change.Module) bool { return c.Name == m.Name })
	})
	b.Rules = &scope.Rules{Modules: chosen, Protected: b.Rules.Protected, Entries: b.Rules.Entries}
	return b
}

// Proposed is a file as a model proposes it, by new content or by edits.
type Proposed struct {
	Path        string        `json:"path"`
	Description string        `json:"description"`
	NewContent  *string       `json:"new_content"`
	Edits       []change.Edit `json:"edits"`
}

// wholeLines is the maximum length in lines of an existing file that may be replaced as a whole.
const wholeLines = 150

// Apply turns what a model proposes into files, in addition to those in before, which it may not
// change again. A file that stays as it is is left out. If anything is refused, refused lists
// every reason, with its path, and files is nil. A file that may not parse, or has more marks of
// redacted credentials, is refused unless doubts are admitted. The error is that of reading the tree.
func (b Base) Apply(ctx context.Context, all []Proposed, before []change.File, doubts bool) (files []change.File,
	refused []string, err error) {
	if n := len(all) + len(before); n > b.Limits.Files() {
		return nil, []string{fmt.Sprintf("%d files are changed, and %d may be", n, b.Limits.Files())}, nil
	}
	for _, p := range all {
		taken := scope.Rules{Entries: map[string]diff.Entry{}}
		for _, f := range slices.Concat(before, files) {
			taken.Entries[f.Path] = diff.Entry{Mode: "100644"}
		}
		why := b.Rules.Refuses(p.Path)
		if _, twice := taken.Entries[p.Path]; twice {
			why = "it is there twice, in this answer or with the change before it"
		}
		why = cmp.Or(why, taken.Ordinary(p.Path))
		var f change.File
		if why == "" {
			if f, why, err = b.applyToFile(ctx, p, doubts); err != nil {
				return nil, nil, err
			}
		}
		if f.Doubt && !doubts {
			why = "it may not parse afterwards, or it may be right: look at it again, and repeat it if it is"
		}
		if why != "" {
			refused = append(refused, fmt.Sprintf("%.300q: %s", p.Path, why))
		} else if f.Added+f.Removed > 0 || f.New() {
			files = append(files, f)
		}
	}
	if len(all) > 0 && len(files)+len(refused) == 0 {
		refused = []string{"it changes nothing"}
	}
	if refused = append(refused, b.exceededLimits(slices.Concat(before, files))...); len(refused) > 0 {
		return nil, refused, nil
	}
	return files, nil, nil
}

// applyToFile returns one file with its proposal applied, or says in why it is refused.
func (b Base) applyToFile(ctx context.Context, p Proposed, doubts bool) (f change.File, why string, err error) {
	entry, exists := b.Rules.Entries[p.Path]
	before := ""
	if exists {
		text, err := b.Read(ctx, p.Path)
		if err != nil && !tree.AboutFile(err) {
			return f, "", err
		}
		if err != nil {
			return f, err.Error(), nil
		}
		before = string(text)
	}
	if n := len(p.Edits); n > b.Limits.Lines() { // each is looked for in the whole text
		return f, fmt.Sprintf("it has %d edits, and %d lines may be changed", n, b.Limits.Lines()), nil
	}
	after, why := p.proposedText(before, exists)
	if why == "" && !doubts && secret.Marks(after) > secret.Marks(before) {
		why = "it writes <redacted …>, which stands for a credential: change the lines around it alone, by edits"
	}
	if lines := leftOut(before, after); why == "" && !doubts && lines != "" {
		why = fmt.Sprintf("%.100q seems to stand for lines that are left out: write them, or repeat it if it does not",
			lines)
	}
	if why != "" {
		return f, why, nil
	}
	if !utf8.ValidString(after) || strings.ContainsRune(after, 0) {
		return f, "it is not UTF-8 text", nil
	}
	if after, err = change.Format(p.Path, before, after); err != nil {
		return f, err.Error(), nil
	}
	broken, doubt := b.checkParses(ctx, p.Path, before, after)
	if broken {
		return f, "it does not parse afterwards", nil
	}
	f = change.Of(p.Path, cutLine(p.Description), entry.Blob, before, after)
	f.Doubt = doubt
	return f, "", nil
}

// ellipsis matches the lines that models write for code that they do not repeat, such as "// ... existing code ...",
// but not JavaScript's "...rest,".
var ellipsis = pattern.Lazy(`(?im)^[ \t]*` +
	`(?:(?://|#|--|/\*|<!--|\{/\*|;|%)[ \t]*(?:\.{3}|…)[ \t]*|(?:\.{3}|…)[ \t]+)` +
	`\(?(?:the )?(?:rest|remaining|remainder|existing|previous|other|same|unchanged|omitted|keep)\b.*$`)

// leftOut returns a line that stands for others in a text, and that the text before did not have, or "".
func leftOut(before, after string) string {
	for _, line := range ellipsis().FindAllString(after, -1) {
		if line = strings.TrimSpace(line); !strings.Contains(before, line) {
			return line
		}
	}
	return ""
}

// checkParses compares a file's texts. The one after is broken if the parser and the brackets agree
// that it is, and did not before; it is in doubt if one of them says what it did not say before.
func (b Base) checkParses(ctx context.Context, path, before, after string) (broken, doubt bool) {
	errors, unmatched := b.Broken(ctx, path, after)
	if !errors && !unmatched {
		return false, false
	}
	had, lacked := b.Broken(ctx, path, before) // an empty text, as of a new file, is whole
	return errors && unmatched && !(had && lacked), errors && !had || unmatched && !lacked
}

// proposedText returns the proposed text of a file, or says in why there is none.
func (p Proposed) proposedText(before string, exists bool) (after, why string) {
	whole := p.NewContent != nil && *p.NewContent != ""
	switch {
	case whole && len(p.Edits) > 0:
		return "", "it has edits and new_content; one of them has to be empty"
	case !exists && (p.NewContent == nil || len(p.Edits) > 0):
		return "", "there is no such file to edit, and no new_content"
	case !exists:
		return *p.NewContent, ""
	case whole && strings.Count(before, "\n") > wholeLines:
		return "", fmt.Sprintf("it has more than %d lines, so that it is changed by edits and not by new_content",
			wholeLines)
	case whole && !shownAsIs(before):
		return "", "it has characters that are shown in another form, so that it is changed by edits alone"
	case whole:
		return change.Like(before, *p.NewContent), ""
	case len(p.Edits) == 0:
		return "", "it has neither edits nor new_content"
	}
	after, err := change.Apply(before, p.Edits)
	if err != nil {
		return "", err.Error()
	}
	return after, ""
}

// shownAsIs reports whether a prompt shows a file's text as it is, byte order mark and line ends aside.
func shownAsIs(text string) bool {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	return strings.Contains(guard.Boundary(strings.Repeat("0", 32)).Wrap("file", text), text)
}

// exceededLimits returns a line for each limit that the files exceed together.
func (b Base) exceededLimits(files []change.File) (why []string) {
	size := 0
	for _, f := range files {
		size += len(f.Content)
	}
	if n := change.Lines(files); n > b.Limits.Lines() {
		why = append(why, fmt.Sprintf("%d lines are changed, and %d may be", n, b.Limits.Lines()))
	}
	if size > b.Limits.Bytes() {
		why = append(why, fmt.Sprintf("the new texts have %d bytes, and may have %d", size, b.Limits.Bytes()))
	}
	return why
}
