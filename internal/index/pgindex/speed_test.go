package pgindex_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/index/pgindex"
	"github.com/org/pr-review-action/internal/indextest"
)

// BenchmarkLexical asks the same question of the index in memory, of the one in Postgres, of
// Postgres's own full-text search, and of all lines in turn, over 16,000 chunks.
func BenchmarkLexical(b *testing.B) {
	if server == nil {
		b.Skip("no Postgres server")
	}
	x := indextest.Build(b, repository(2_000))
	address := server.Database(b)
	s, err := pgindex.Open(b.Context(), address, "")
	require.NoError(b, err)
	defer s.Close()
	found, err := s.Write(b.Context(), index.Key{Repository: "r", Commit: "c"}, x, index.Report{})
	require.NoError(b, err)
	const question = "w1 w7 w30 w80 w120"
	terms := index.Terms(question)
	for name, source := range map[string]*index.Source{"memory": x.Source, "postgres": found} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := source.Lexical(b.Context(), terms, 40, nil)
				require.NoError(b, err)
			}
		})
	}
	c := fullText(b, address, x)
	b.Run("full text", func(b *testing.B) {
		for b.Loop() {
			_, err := c.Exec(b.Context(), `SELECT n, text FROM ft, to_tsquery('english', $1) q WHERE v @@ q
				ORDER BY ts_rank_cd(v, q) DESC LIMIT 40`, strings.ReplaceAll(question, " ", " | "))
			require.NoError(b, err)
		}
	})
	chunks, words := x.Chunks(), strings.Fields(question)
	b.Run("line grep", func(b *testing.B) {
		for b.Loop() {
			require.NotZero(b, countLines(chunks, words))
		}
	})
}

// countLines returns how many lines of the chunks have one of the words.
func countLines(chunks []chunk.Chunk, words []string) (n int) {
	for _, c := range chunks {
		for line := range strings.Lines(c.Text) {
			line = strings.ToLower(line)
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				n++
			}
		}
	}
	return n
}

// fullText stores the chunks in a table for Postgres's own full-text search.
func fullText(b *testing.B, address string, x *index.Index) *pgx.Conn {
	c, err := pgx.Connect(b.Context(), address)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.Close(context.Background())) })
	_, err = c.Exec(b.Context(), `CREATE TABLE ft (n int, text text, v tsvector)`)
	require.NoError(b, err)
	chunks := x.Chunks()
	_, err = c.CopyFrom(b.Context(), pgx.Identifier{"ft"}, []string{"n", "text"},
		pgx.CopyFromSlice(len(chunks), func(i int) ([]any, error) { return []any{i, chunks[i].Text}, nil }))
	require.NoError(b, err)
	for _, sql := range []string{`UPDATE ft SET v = to_tsvector('english', text)`,
		`CREATE INDEX ON ft USING gin (v)`, `VACUUM ANALYZE ft`} {
		_, err = c.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	return c
}
