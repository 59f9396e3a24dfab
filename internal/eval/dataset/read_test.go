package dataset_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// change has lines 10 to 14 of queue.go on its new side, and removes gone.go.
const change = `diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-package queue
diff --git a/old.go b/queue.go
similarity index 90%
rename from old.go
rename to queue.go
--- a/old.go
+++ b/queue.go
@@ -10,4 +10,5 @@ func (q *Queue) Next() Job {
 	q.mu.Lock()
-	defer q.mu.Unlock()
 	job := q.jobs[0]
 	q.jobs = q.jobs[1:]
+	q.taken++
+	q.mu.Unlock()
`

type object = map[string]any

func golden() object {
	return object{"path": "queue.go", "line_start": 11, "line_end": 11, "severity": "critical", "visibility": "local",
		"issue": "An empty queue panics with the lock held."}
}

// valid is a case of a file, with changes: key, value, key, value, …; the value
// nil leaves a key out.
func valid(id string, changes ...any) object {
	c := object{"id": id, "language": "go", "kind": "bug", "title": "Count taken jobs", "diff": change,
		"golden": []object{golden()}}
	return with(c, changes...)
}

func with(o object, changes ...any) object {
	for i := 0; i < len(changes); i += 2 {
		if o[changes[i].(string)] = changes[i+1]; changes[i+1] == nil {
			delete(o, changes[i].(string))
		}
	}
	return o
}

func line(t testing.TB, o object) string {
	t.Helper()
	text, err := json.Marshal(o, json.Deterministic(true))
	require.NoError(t, err)
	return string(text)
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestACaseIsReadWithAllItsFields(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "cases.jsonl"), "\n"+line(t, valid("queue-7",
		"repo", "org/queue", "base", "b1", "head", "h1", "pr", 7, "date", "2024-02-03", "description", "as asked",
		"licence", "MIT", "source_dataset", "own", "injection", true,
		"golden", []object{with(golden(), "category", "error-handling", "source", "f1", "also",
			[]object{{"path": "queue.go", "line_start": 13, "line_end": 14}})},
	))+"\r\n \n"+line(t, valid("queue-8", "kind", "clean", "golden", []object{}, "pr", nil))+"\n"+
		line(t, valid("queue-9", "golden", []object{with(golden(), "also", []object{})})))
	cases, err := dataset.Read(file)
	require.NoError(t, err)
	require.Len(t, cases, 3)
	require.Equal(t, dataset.Case{
		ID: "queue-7", Language: "go", Kind: dataset.Bug, Repo: "org/queue", Base: "b1", Head: "h1", PR: 7,
		Date:  "2024-02-03",
		Title: "Count taken jobs", Description: "as asked", Diff: change, Licence: "MIT", SourceDataset: "own",
		Injection: true,
		Golden: []dataset.Golden{{
			Path: "queue.go", LineStart: 11, LineEnd: 11, Severity: finding.Blocker, Visibility: dataset.Local,
			Category: "error-handling",
			Issue:    "An empty queue panics with the lock held.", Source: "f1",
			Also: []dataset.Place{{Path: "queue.go", LineStart: 13, LineEnd: 14}},
		}},
	}, cases[0])
	require.Equal(t, dataset.Case{ID: "queue-8", Language: "go", Kind: dataset.Clean, Title: "Count taken jobs",
		Diff: change}, cases[1])
	require.Nil(t, cases[2].Golden[0].Also)

	c, err := cases[0].Change()
	require.NoError(t, err)
	require.Equal(t, "queue-7", c.Name)
	require.Len(t, c.Files, 2)
	require.Equal(t, []dataset.Place{{Path: "queue.go", LineStart: 11, LineEnd: 11},
		{Path: "queue.go", LineStart: 13, LineEnd: 14}}, cases[0].Golden[0].Places())
	_, err = dataset.Case{ID: "queue-9", Diff: "no diff"}.Change()
	require.ErrorContains(t, err, "case queue-9")
}

func TestAnIDCanNameAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for id, good := range map[string]bool{
		"spring-5d0f1e2": true, "org+queue#7:a": true, "..x": true, strings.Repeat("x", 200): true,
		strings.Repeat("x", 201): false, "a b": false, "a/b": false, `a\b`: false, "a\x7f": false, "a\tb": false,
		"café": false, ".": false, "..": false,
	} {
		cases, err := dataset.Read(write(t, filepath.Join(dir, "a"), line(t, valid(id))))
		if !good {
			require.ErrorContains(t, err, "a:1: -: id \"", id)
			continue
		}
		require.NoError(t, err)
		write(t, filepath.Join(dir, "out", cases[0].ID), "")
	}
}

func TestADiffFileStaysInTheFolderOfItsCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := write(t, filepath.Join(dir, "secret.diff"), change)
	in := filepath.Join(dir, "cases")
	write(t, filepath.Join(in, "go", "a.diff"), change)
	write(t, filepath.Join(in, "latin.diff"), strings.Replace(change, "taken++", "caf\xe9++", 1))
	write(t, filepath.Join(in, "empty.diff"), "")
	require.NoError(t, os.Symlink(outside, filepath.Join(in, "out.diff")))
	require.NoError(t, os.Symlink("..", filepath.Join(in, "up")))
	require.NoError(t, os.Symlink("go/a.diff", filepath.Join(in, "link.diff")))
	for name, want := range map[string]string{
		"go/a.diff": "", "./go/a.diff": "", "go/../link.diff": "",
		"../secret.diff": "not a path within", "go/../../secret.diff": "not a path within", outside: "not a path within",
		`go\a.diff`: "not a path within", "..": "not a path within",
		"out.diff": "escapes from parent", "up/secret.diff": "escapes from parent",
		"go": "is a directory", ".": "is a directory", "latin.diff": "not UTF-8", "empty.diff": "is empty",
	} {
		file := write(t, filepath.Join(in, "cases.jsonl"), line(t, valid("c", "diff", nil, "diff_file", name)))
		cases, err := dataset.Read(file)
		if want != "" {
			require.ErrorContains(t, err, want, name)
			require.Len(t, strings.Split(err.Error(), "\n"), 1, "one reason is enough")
			require.ErrorContains(t, err, "cases.jsonl:1: c: diff_file ")
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, change, cases[0].Diff)
	}
}

func TestAByteOrderMarkIsNoPartOfACase(t *testing.T) {
	t.Parallel()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	var text bytes.Buffer
	text.WriteString("\ufeff")
	require.NoError(t, dataset.Encode(&text, starter[:2]))
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
	got, err := dataset.Read(path)
	require.NoError(t, err)
	require.Len(t, got, 2)
}
